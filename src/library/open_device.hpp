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

/// What is asked of a simulated device; none of it goes with a real one.
struct SimChoices {
  double sm_mhz = 0;                ///< 0: the model's clock
  bool physical_addresses = false;  ///< the device tells them
};

/// Errors: usage, bad_input, no_device.
[[nodiscard]] Result<OpenDevice> open_device(const std::string& label, std::uint64_t seed, const SimChoices& choices);

}  // namespace gpusonde
