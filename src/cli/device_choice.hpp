// From `-d` to device labels.
#pragma once

#include <string>
#include <vector>

#include "commands.hpp"
#include "library/open_device.hpp"

namespace gpusonde::cli {

/// What `-d` names: one or more, `all` for every NVIDIA device; without `-d` the first NVIDIA device, or
/// the simulated RTX 4090 when there is no driver (`by_default` is then set).
[[nodiscard]] Result<std::vector<std::string>> device_labels(const GlobalOptions& global, bool& by_default);

/// What the options ask of a simulated device.
[[nodiscard]] SimChoices sim_choices(const GlobalOptions& global);

}  // namespace gpusonde::cli
