#include "inference/dram_costs.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <optional>

#include "inference/statistics.hpp"

namespace gpusonde {
namespace {

constexpr std::size_t k_least_points = 3;
constexpr double k_reading_cycles = 1;    // readings are whole cycles
constexpr double k_most_off_line = 0.12;  // of what all requests take
constexpr double k_most_spread = 0.2;     // of the median over series
constexpr double k_least_cycles = 0.5;
constexpr double k_sigmas = 3;

struct Line {
  double slope = 0;
  double reach = 0;  ///< from the first count to the last
  double worst = 0;  ///< farthest point, cycles
  double error = 0;  ///< of the slope, a standard deviation
};

std::optional<Line> fit(const CostSeries& points) {
  if (points.size() < k_least_points) return {};
  double x = 0, y = 0, xx = 0, xy = 0;
  for (const auto& [count, cycles] : points) {
    x += count;
    y += cycles;
  }
  const auto n = static_cast<double>(points.size());
  x /= n;
  y /= n;
  for (const auto& [count, cycles] : points) {
    xx += (count - x) * (count - x);
    xy += (count - x) * (cycles - y);
  }
  if (!(xx > 0)) return {};
  Line line{xy / xx, points.back().first - points.front().first, 0, 0};
  double squares = 0;
  for (const auto& [count, cycles] : points) {
    const double off = cycles - y - line.slope * (count - x);
    line.worst = std::max(line.worst, std::abs(off));
    squares += off * off;
  }
  line.error = std::sqrt(squares / (n - 2) / xx);
  return line;
}

}  // namespace

Estimate cost_of_one(std::span<const CostSeries> series, double least_count) {
  std::vector<double> slopes;
  double reach = 0;
  double worst = 0;
  double variance = 0;
  for (auto points : series) {
    std::erase_if(points, [&](const auto& point) { return point.first < least_count; });
    std::sort(points.begin(), points.end());
    const auto line = fit(points);
    if (!line) continue;
    slopes.push_back(line->slope);
    reach = std::max(reach, line->reach);
    worst = std::max(worst, line->worst);
    variance += line->error * line->error;
  }
  if (slopes.empty()) return inconclusive("too few requests at once were found to see what one more takes");
  const double slope = median(slopes);
  const auto [low, high] = std::minmax_element(slopes.begin(), slopes.end());
  if (slope < k_least_cycles)
    return inconclusive(fmt::format("one more request takes {:.1f} cycles: nothing that stands out", slope));
  if (worst > k_most_off_line * slope * reach + 2 * k_reading_cycles)
    return inconclusive(
        fmt::format("times do not grow evenly with the number of requests: one is {:.0f} cycles off a line", worst));
  if (*high - *low > k_most_spread * slope + 4 * k_reading_cycles / reach)
    return inconclusive(fmt::format("one more request takes from {:.1f} to {:.1f} cycles", *low, *high));
  // Of the mean over series; their median is somewhat less certain.
  const double chance = k_sigmas * 1.25 * std::sqrt(variance) / static_cast<double>(slopes.size());
  const double error = std::max({(*high - *low) / 2, chance, k_reading_cycles / reach, 0.01 * slope});
  return {Outcome::ok, slope, {slope - error, slope + error}, {}};
}

}  // namespace gpusonde
