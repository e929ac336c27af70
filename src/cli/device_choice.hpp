// From `-d` to opened devices.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "commands.hpp"
#include "model/device_model.hpp"
#include "target/target.hpp"

namespace gpusonde::cli {

struct OpenDevice {
  std::string label;  ///< as given: `0`, `sim:rtx4090`
  std::unique_ptr<Target> target;
  std::optional<DeviceModel> model;  ///< simulated devices: the truth
  double sim_mhz = 0;                ///< the simulated SM clock
  bool by_default = false;           ///< nothing was asked for and there is no driver
};

[[nodiscard]] Result<OpenDevice> open_device(const std::string& label, const GlobalOptions& global);

/// What `-d` names: one or more, `all` for every NVIDIA device; without `-d` the first NVIDIA device, or
/// the simulated RTX 4090 when there is no driver.
[[nodiscard]] Result<std::vector<std::string>> device_labels(const GlobalOptions& global, bool& by_default);

}  // namespace gpusonde::cli
