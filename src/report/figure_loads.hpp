// Pictures of many loads at once.
#pragma once

#include <optional>

#include "report/report.hpp"

namespace gpusonde::report {

/// `bandwidth`: a bar for each level and what is done there, as parts of the largest.
[[nodiscard]] std::optional<Figure> bandwidth_figure(const Run& run);

/// `load.curve`: latency against bandwidth, one line a level, a ring at the knee.
[[nodiscard]] std::optional<Figure> load_figure(const Run& run);

}  // namespace gpusonde::report
