// NVIDIA GPUs through the driver API, opened at run time. Only this room knows CUDA types.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "gpusonde/error.hpp"
#include "target/target.hpp"

namespace gpusonde {

/// All NVIDIA devices. Errors: no_device with one sentence: no driver, driver too old, none present.
[[nodiscard]] Result<std::vector<DeviceInfo>> list_cuda_devices();

/// By index (`0`), UUID (`GPU-...`, a unique prefix is enough) or PCI id. Errors: no_device.
[[nodiscard]] Result<std::unique_ptr<Target>> open_cuda_target(const std::string& device);

/// One fact about a kernel's machine code, and what was found.
struct SassCheck {
  std::string what;  ///< e.g. `load is LDG.E.64.STRONG.GPU`
  bool passed = false;
  std::string detail;  ///< what was found
};
struct KernelCode {
  std::string name;
  std::string ptx;   ///< the kernel's own part of the module
  std::string sass;  ///< empty without a disassembler
  std::vector<SassCheck> checks;
};
/// One embedded module: a file of kernels.
struct ModuleCode {
  std::string name;
  std::string ptx;
  std::vector<std::uint8_t> cubin;  ///< what the driver made of the PTX; empty without a device
};
struct SassReport {
  std::string architecture;  ///< of the device, `sm_90`; empty without one
  std::string disassembler;  ///< path, empty when there is none
  std::vector<ModuleCode> modules;
  std::vector<KernelCode> kernels;
};
/// PTX always; the cubin with a device; SASS and its checks with a disassembler on PATH.
/// `kernel`: only kernels whose name contains it; empty: all. `device` empty: no device, PTX only.
/// Errors: usage (no such kernel), no_device, unsupported (the driver cannot compile the PTX).
[[nodiscard]] Result<SassReport> inspect_kernels(const std::optional<std::string>& device, const std::string& kernel);

/// Architectures the disassembler and the embedded PTX know, for `sass --info`.
[[nodiscard]] std::string architecture_info();

/// Clock control over NVML. Never called by a measurement.
struct ClockSnapshot {
  std::uint32_t index = 0;
  std::string name, uuid, pci_bus_id, pstate;
  std::uint32_t sm_mhz = 0, graphics_mhz = 0, memory_mhz = 0;
  std::uint32_t sm_max_mhz = 0, graphics_max_mhz = 0, memory_max_mhz = 0;
  std::uint32_t temperature_c = 0;
  double power_w = 0, power_limit_w = 0;
  std::uint32_t gpu_utilization_percent = 0, memory_utilization_percent = 0;
  std::vector<std::string> throttle_reasons;
};
struct ClockChange {
  std::vector<std::string> steps;     ///< what was (or, with dry_run, would be) done, one sentence each
  std::vector<std::string> warnings;  ///< a refused memory clock, for one
};
[[nodiscard]] Result<ClockSnapshot> clock_snapshot(const std::string& device);
/// Needs root, unless dry_run. memory_mhz 0: left alone. Errors: usage (not root; a clock the card does
/// not have, naming the nearest), unsupported, no_device.
[[nodiscard]] Result<ClockChange> lock_clocks(const std::string& device, std::uint32_t sm_mhz, std::uint32_t memory_mhz,
                                              bool dry_run);
[[nodiscard]] Result<ClockChange> unlock_clocks(const std::string& device, bool dry_run);

}  // namespace gpusonde
