// The NVIDIA management library, as far as it is used, opened at run time. Source: NVML API reference.
// Any function may be absent (an old driver): callers check for null.
#pragma once

#include <cstdint>

#include "gpusonde/error.hpp"

namespace gpusonde::cuda {

using NvmlResult = int;
struct NvmlDeviceTag;
using NvmlDevice = NvmlDeviceTag*;
enum class NvmlClock : int { graphics = 0, sm = 1, memory = 2 };

inline constexpr NvmlResult k_nvml_success = 0;
inline constexpr NvmlResult k_nvml_not_supported = 3;
inline constexpr NvmlResult k_nvml_no_permission = 4;
inline constexpr NvmlResult k_nvml_insufficient_size = 7;

/// nvmlProcessInfo_t of nvmlDeviceGetComputeRunningProcesses_v2 and _v3.
struct NvmlProcess {
  unsigned pid = 0;
  unsigned long long used_memory_bytes = 0;
  unsigned gpu_instance = 0;
  unsigned compute_instance = 0;
};
struct NvmlUtilization {
  unsigned gpu_percent = 0;
  unsigned memory_percent = 0;
};

struct NvmlTable {
  NvmlResult (*init)() = nullptr;
  const char* (*error_string)(NvmlResult) = nullptr;
  NvmlResult (*driver_version)(char* text, unsigned length) = nullptr;
  NvmlResult (*device_by_pci_bus_id)(const char* id, NvmlDevice*) = nullptr;
  NvmlResult (*clock)(NvmlDevice, NvmlClock, unsigned* mhz) = nullptr;
  NvmlResult (*max_clock)(NvmlDevice, NvmlClock, unsigned* mhz) = nullptr;
  NvmlResult (*throttle_reasons)(NvmlDevice, unsigned long long* bits) = nullptr;
  NvmlResult (*ecc_mode)(NvmlDevice, unsigned* current, unsigned* pending) = nullptr;
  NvmlResult (*mig_mode)(NvmlDevice, unsigned* current, unsigned* pending) = nullptr;
  NvmlResult (*compute_processes)(NvmlDevice, unsigned* count, NvmlProcess* processes) = nullptr;
  NvmlResult (*performance_state)(NvmlDevice, unsigned* state) = nullptr;
  NvmlResult (*temperature)(NvmlDevice, int sensor, unsigned* celsius) = nullptr;
  NvmlResult (*power_usage)(NvmlDevice, unsigned* milliwatts) = nullptr;
  NvmlResult (*power_limit)(NvmlDevice, unsigned* milliwatts) = nullptr;
  NvmlResult (*utilization)(NvmlDevice, NvmlUtilization*) = nullptr;
  NvmlResult (*supported_memory_clocks)(NvmlDevice, unsigned* count, unsigned* mhz) = nullptr;
  NvmlResult (*supported_graphics_clocks)(NvmlDevice, unsigned memory_mhz, unsigned* count, unsigned* mhz) = nullptr;
  NvmlResult (*lock_gpu_clocks)(NvmlDevice, unsigned low_mhz, unsigned high_mhz) = nullptr;
  NvmlResult (*reset_gpu_clocks)(NvmlDevice) = nullptr;
  NvmlResult (*lock_memory_clocks)(NvmlDevice, unsigned low_mhz, unsigned high_mhz) = nullptr;
  NvmlResult (*reset_memory_clocks)(NvmlDevice) = nullptr;
};

/// The table of `libnvidia-ml.so.1`, opened and initialised once a process. Errors: no_device.
[[nodiscard]] Result<const NvmlTable*> load_nvml();

/// Handle of the device at a PCI id. Errors: no_device.
[[nodiscard]] Result<NvmlDevice> nvml_device(const NvmlTable& nvml, const std::string& pci_bus_id);

/// A result in NVML's words.
[[nodiscard]] std::string nvml_text(const NvmlTable& nvml, NvmlResult result);

}  // namespace gpusonde::cuda
