#include "target/cuda/nvml_table.hpp"

#include <fmt/format.h>

#include "target/cuda/shared_library.hpp"

namespace gpusonde::cuda {
namespace {

Result<NvmlTable> open_nvml() {
  SharedLibrary library("libnvidia-ml.so.1");
  if (!library.opened())
    return fail(ErrorKind::no_device,
                "the NVIDIA management library (libnvidia-ml.so.1) is not on this machine; install the NVIDIA driver's "
                "utilities");
  NvmlTable table;
  library.get(table.init, "nvmlInit_v2");
  library.get(table.error_string, "nvmlErrorString");
  library.get(table.driver_version, "nvmlSystemGetDriverVersion");
  library.get(table.device_by_pci_bus_id, "nvmlDeviceGetHandleByPciBusId_v2");
  library.get(table.clock, "nvmlDeviceGetClockInfo");
  library.get(table.max_clock, "nvmlDeviceGetMaxClockInfo");
  library.get(table.throttle_reasons, "nvmlDeviceGetCurrentClocksThrottleReasons");
  library.get(table.ecc_mode, "nvmlDeviceGetEccMode");
  library.get(table.mig_mode, "nvmlDeviceGetMigMode");
  library.get(table.compute_processes, "nvmlDeviceGetComputeRunningProcesses_v3");
  if (table.compute_processes == nullptr)
    library.get(table.compute_processes, "nvmlDeviceGetComputeRunningProcesses_v2");
  library.get(table.performance_state, "nvmlDeviceGetPerformanceState");
  library.get(table.temperature, "nvmlDeviceGetTemperature");
  library.get(table.power_usage, "nvmlDeviceGetPowerUsage");
  library.get(table.power_limit, "nvmlDeviceGetEnforcedPowerLimit");
  library.get(table.utilization, "nvmlDeviceGetUtilizationRates");
  library.get(table.supported_memory_clocks, "nvmlDeviceGetSupportedMemoryClocks");
  library.get(table.supported_graphics_clocks, "nvmlDeviceGetSupportedGraphicsClocks");
  library.get(table.lock_gpu_clocks, "nvmlDeviceSetGpuLockedClocks");
  library.get(table.reset_gpu_clocks, "nvmlDeviceResetGpuLockedClocks");
  library.get(table.lock_memory_clocks, "nvmlDeviceSetMemoryLockedClocks");
  library.get(table.reset_memory_clocks, "nvmlDeviceResetMemoryLockedClocks");
  if (table.init == nullptr || table.device_by_pci_bus_id == nullptr)
    return fail(ErrorKind::no_device, "the NVIDIA management library is too old; install a driver of 384 or later");
  if (const auto result = table.init(); result != k_nvml_success)
    return fail(ErrorKind::no_device, fmt::format("the NVIDIA management library does not start ({}); check nvidia-smi",
                                                  nvml_text(table, result)));
  return table;
}

}  // namespace

Result<const NvmlTable*> load_nvml() {
  static const Result<NvmlTable> s_table = open_nvml();
  if (!s_table) return tl::unexpected(s_table.error());
  return &*s_table;
}

Result<NvmlDevice> nvml_device(const NvmlTable& nvml, const std::string& pci_bus_id) {
  NvmlDevice device = nullptr;
  const auto result = nvml.device_by_pci_bus_id(pci_bus_id.c_str(), &device);
  if (result != k_nvml_success)
    return fail(ErrorKind::no_device, fmt::format("the NVIDIA management library does not know the GPU at {} ({})",
                                                  pci_bus_id, nvml_text(nvml, result)));
  return device;
}

std::string nvml_text(const NvmlTable& nvml, NvmlResult result) {
  const char* text = nvml.error_string != nullptr ? nvml.error_string(result) : nullptr;
  return text != nullptr ? text : fmt::format("NVML error {}", result);
}

}  // namespace gpusonde::cuda
