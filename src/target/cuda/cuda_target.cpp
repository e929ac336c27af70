// The room's public functions: real tables, real machine.
#include "target/cuda/cuda_target.hpp"

#include <unistd.h>

#include "target/cuda/clock_control.hpp"
#include "target/cuda/cuda_gpu.hpp"
#include "target/cuda/device_list.hpp"
#include "target/cuda/nvml_state.hpp"

namespace gpusonde {
namespace {

struct ManagedDevice {
  const cuda::NvmlTable& nvml;
  cuda::NvmlDevice handle;
  int ordinal;
  DeviceInfo info;
};

// NVML orders devices otherwise than CUDA, so a device is named to CUDA and found by its PCI id.
Result<ManagedDevice> managed_device(const std::string& device) {
  const auto devices = list_cuda_devices();
  if (!devices) return tl::unexpected(devices.error());
  const auto ordinal = cuda::find_device(*devices, device);
  if (!ordinal) return tl::unexpected(ordinal.error());
  const auto nvml = cuda::load_nvml();
  if (!nvml) return tl::unexpected(nvml.error());
  const auto& info = (*devices)[static_cast<std::size_t>(*ordinal)];
  const auto handle = cuda::nvml_device(**nvml, info.pci_bus_id);
  if (!handle) return tl::unexpected(handle.error());
  return ManagedDevice{**nvml, *handle, *ordinal, info};
}

}  // namespace

Result<std::vector<DeviceInfo>> list_cuda_devices() {
  const auto driver = cuda::load_driver();
  if (!driver) return tl::unexpected(driver.error());
  return cuda::list_devices(**driver);
}

Result<std::unique_ptr<Target>> open_cuda_target(const std::string& device) {
  const auto driver = cuda::load_driver();
  if (!driver) return tl::unexpected(driver.error());
  const auto devices = cuda::list_devices(**driver);
  if (!devices) return tl::unexpected(devices.error());
  const auto ordinal = cuda::find_device(*devices, device);
  if (!ordinal) return tl::unexpected(ordinal.error());
  const auto nvml = cuda::load_nvml();  // without it a run knows less of its surroundings, no more
  return cuda::CudaGpu::open(**driver, nvml ? *nvml : nullptr, *ordinal,
                             (*devices)[static_cast<std::size_t>(*ordinal)]);
}

Result<ClockSnapshot> clock_snapshot(const std::string& device) {
  const auto managed = managed_device(device);
  if (!managed) return tl::unexpected(managed.error());
  ClockSnapshot snapshot;
  snapshot.index = static_cast<std::uint32_t>(managed->ordinal);
  snapshot.name = managed->info.name;
  snapshot.uuid = managed->info.uuid;
  snapshot.pci_bus_id = managed->info.pci_bus_id;
  cuda::fill_snapshot(managed->nvml, managed->handle, snapshot);
  return snapshot;
}

Result<ClockChange> lock_clocks(const std::string& device, std::uint32_t sm_mhz, std::uint32_t memory_mhz,
                                bool dry_run) {
  const auto managed = managed_device(device);
  if (!managed) return tl::unexpected(managed.error());
  return cuda::lock_clocks(managed->nvml, managed->handle,
                           {.sm_mhz = sm_mhz, .memory_mhz = memory_mhz, .dry_run = dry_run, .is_root = geteuid() == 0});
}

Result<ClockChange> unlock_clocks(const std::string& device, bool dry_run) {
  const auto managed = managed_device(device);
  if (!managed) return tl::unexpected(managed.error());
  return cuda::unlock_clocks(managed->nvml, managed->handle, dry_run, geteuid() == 0);
}

}  // namespace gpusonde
