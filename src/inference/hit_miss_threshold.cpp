// The line between hits and misses: the emptiest gap between two populations of hop times.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "inference/capacity.hpp"
#include "inference/statistics.hpp"

namespace gpusonde {
namespace {

constexpr double k_least_separation_sigma = 5;
constexpr double k_least_sigma_cycles = 0.5;   // hop times are whole cycles
constexpr double k_largest_wrong_part = 0.25;  // of either population, on the wrong side

std::vector<double> as_doubles(std::span<const std::uint32_t> values) { return {values.begin(), values.end()}; }

struct Gap {
  double low = 0;
  double high = 0;
};

// Widest stretch without any value inside [low, high].
Gap widest_gap(const std::vector<double>& values, double low, double high) {
  std::vector<double> inside{low};
  std::copy_if(values.begin(), values.end(), std::back_inserter(inside), [&](double v) { return v > low && v < high; });
  inside.push_back(high);
  std::sort(inside.begin(), inside.end());
  Gap widest;
  for (std::size_t i = 1; i < inside.size(); ++i)
    if (inside[i] - inside[i - 1] > widest.high - widest.low) widest = {inside[i - 1], inside[i]};
  return widest;
}

}  // namespace

Estimate hit_miss_threshold(std::span<const std::uint32_t> hits, std::span<const std::uint32_t> misses) {
  if (hits.empty() || misses.empty()) return inconclusive("no hop times of hits or of misses to compare");
  const auto hit_values = as_doubles(hits);
  const auto miss_values = as_doubles(misses);
  const double hit = median(hit_values);
  const double miss = median(miss_values);
  const double distance = miss - hit;
  const double spread = std::hypot(std::max(mad_sigma(hit_values), k_least_sigma_cycles),
                                   std::max(mad_sigma(miss_values), k_least_sigma_cycles));
  if (distance < k_least_separation_sigma * spread)
    return inconclusive(
        fmt::format("hits ({:.0f} cycles) and misses ({:.0f} cycles) overlap: they are fewer than {:.0f} sigma ({:.1f} "
                    "cycles) apart",
                    hit, miss, k_least_separation_sigma, spread));

  std::vector<double> all = hit_values;
  all.insert(all.end(), miss_values.begin(), miss_values.end());
  const Gap gap = widest_gap(all, hit + distance / 4, miss - distance / 4);
  const double threshold = (gap.low + gap.high) / 2;
  const auto part = [](const std::vector<double>& values, auto wrong) {
    return static_cast<double>(std::count_if(values.begin(), values.end(), wrong)) / static_cast<double>(values.size());
  };
  const double wrong_hits = part(hit_values, [&](double v) { return v > threshold; });
  const double wrong_misses = part(miss_values, [&](double v) { return v <= threshold; });
  if (std::max(wrong_hits, wrong_misses) > k_largest_wrong_part)
    return inconclusive(fmt::format("{:.0f} % of the hits look like misses and {:.0f} % of the misses like hits",
                                    100 * wrong_hits, 100 * wrong_misses));
  return {Outcome::ok, threshold, {gap.low, gap.high}, {}};
}

}  // namespace gpusonde
