#include "inference/dram_translation.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace gpusonde {
namespace {

constexpr double k_least_step_cycles = 3;

double error_of(const PagesCost& cost) { return std::max(1.0, (cost.high_cycles - cost.low_cycles) / 2); }

}  // namespace

Estimate first_miss_cycles(std::span<const PagesCost> costs) {
  if (costs.size() < 3) return inconclusive("too few numbers of pages were tried");
  const auto& fewest = costs.front();
  if (std::abs(fewest.more_cycles) > std::max(k_least_step_cycles, 2 * error_of(fewest)))
    return inconclusive(
        fmt::format("even {} pages take {:.1f} cycles more than one", fewest.pages, fewest.more_cycles));
  for (std::size_t i = 1; i + 1 < costs.size(); ++i) {
    const auto& here = costs[i];
    if (here.more_cycles < std::max(k_least_step_cycles, 3 * error_of(here))) continue;
    const auto& next = costs[i + 1];
    const double error = error_of(here) + error_of(next);
    if (std::abs(next.more_cycles - here.more_cycles) > std::max(error, 0.1 * here.more_cycles)) continue;
    const double value = (here.more_cycles + next.more_cycles) / 2;
    return {Outcome::ok, value, {value - error, value + error}, {}};
  }
  return inconclusive(fmt::format("no level of translation shows up to {} pages", costs.back().pages));
}

}  // namespace gpusonde
