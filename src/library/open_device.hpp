// From a device's label to an opened target, simulated or real.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "gpusonde/error.hpp"
#include "model/device_model.hpp"
#include "target/target.hpp"

namespace gpusonde {

struct OpenDevice {
  std::string label;  ///< as given: `0`, `sim:rtx4090`
  std::unique_ptr<Target> target;
  std::optional<DeviceModel> model;  ///< simulated devices: the truth
  double sim_sm_mhz = 0;             ///< the simulated SM clock
};

[[nodiscard]] inline bool is_simulated(const std::string& label) { return label.starts_with("sim:"); }

/// `sim_sm_mhz` 0: the model's clock; for a real device it must be 0. Errors: usage, bad_input, no_device.
[[nodiscard]] Result<OpenDevice> open_device(const std::string& label, std::uint64_t seed, double sim_sm_mhz);

}  // namespace gpusonde
