// What NVML says about a device right now. Whatever it does not say stays 0 or empty.
#pragma once

#include <string>
#include <vector>

#include "gpusonde/device.hpp"
#include "target/cuda/cuda_target.hpp"
#include "target/cuda/nvml_table.hpp"

namespace gpusonde::cuda {

[[nodiscard]] ClockState clock_state(const NvmlTable& nvml, NvmlDevice device);

/// Driver version, ECC, MIG, other compute processes and clocks, into `environment`.
void fill_environment(const NvmlTable& nvml, NvmlDevice device, Environment& environment);

/// Everything `clocks status` shows, except index, name, UUID and PCI id.
void fill_snapshot(const NvmlTable& nvml, NvmlDevice device, ClockSnapshot& snapshot);

/// Names of the bits that are set: `sw_power_cap`, ... Unknown bits by number.
[[nodiscard]] std::vector<std::string> throttle_reason_names(unsigned long long bits);

}  // namespace gpusonde::cuda
