// What must hold in a model, with the place of what does not, so that a file's error can name its line.
#pragma once

#include <optional>
#include <string>

#include "model/device_model.hpp"

namespace gpusonde {

struct ModelIssue {
  std::string path;     ///< in the model file: `cache[0].ways`
  std::string message;  ///< `l1.ways is 0; give at least 1`
};

/// The first issue, in the order of the structure.
[[nodiscard]] std::optional<ModelIssue> find_issue(const DeviceModel& model);

}  // namespace gpusonde
