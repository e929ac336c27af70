// What each further request to DRAM takes, from how the time of several at once grows with their number.
#pragma once

#include <span>
#include <utility>
#include <vector>

#include "inference/estimate.hpp"

namespace gpusonde {

/// One series: how many requests at once, and the cycles until the last has come back.
using CostSeries = std::vector<std::pair<double, double>>;

/// Cycles a further request, over all series. The first `skip` requests of each are left out, since they may find the
/// queue empty. Inconclusive where series disagree, or where the time does not grow along a line.
[[nodiscard]] Estimate cost_of_one(std::span<const CostSeries> series, double least_count = 1);

}  // namespace gpusonde
