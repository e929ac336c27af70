// DRAM in pictures: readings of single loads with what each heap is, and what further requests cost.
#pragma once

#include <optional>

#include "report/report.hpp"

namespace gpusonde::report {

/// Nothing where no single loads were read.
[[nodiscard]] std::optional<Figure> dram_latency_figure(const Run& run);
/// Cycles until the last of several requests at once has come back, by how many there are.
[[nodiscard]] std::optional<Figure> dram_costs_figure(const Run& run);

}  // namespace gpusonde::report
