// The devices the driver knows, and how a user names one.
#pragma once

#include <string>
#include <vector>

#include "gpusonde/device.hpp"
#include "target/cuda/driver_table.hpp"

namespace gpusonde::cuda {

/// In the driver's order: the index of an entry is its CUDA ordinal.
[[nodiscard]] Result<std::vector<DeviceInfo>> list_devices(const DriverTable& driver);

/// Ordinal of the device that `name` means: an index, a UUID or a unique beginning of one, a PCI id with
/// or without its domain. Errors: no_device, naming what there is.
[[nodiscard]] Result<int> find_device(const std::vector<DeviceInfo>& devices, const std::string& name);

}  // namespace gpusonde::cuda
