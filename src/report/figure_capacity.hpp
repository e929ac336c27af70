// L1 capacity by storage split.
#pragma once

#include <optional>

#include "report/report.hpp"

namespace gpusonde::report {

/// Nothing when fewer than two splits were measured.
[[nodiscard]] std::optional<Figure> capacity_figure(const Run& run);

}  // namespace gpusonde::report
