// Two means in one dimension, and power iteration.
#include "inference/two_heaps.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>
#include <utility>

namespace gpusonde {
namespace {

constexpr int k_power_steps = 24;
constexpr std::size_t k_lanes = 8;

// Lanes of their own let the compiler add several at a time without changing the order of any one sum.
float product(const float* a, const float* b, std::size_t count) {
  std::array<float, k_lanes> sums{};
  std::size_t i = 0;
  for (; i + k_lanes <= count; i += k_lanes)
    for (std::size_t lane = 0; lane < k_lanes; ++lane) sums[lane] += a[i + lane] * b[i + lane];
  for (; i < count; ++i) sums[0] += a[i] * b[i];
  return std::accumulate(sums.begin(), sums.end(), 0.0F);
}

}  // namespace

TwoHeaps two_heaps(std::span<const double> values) {
  std::vector<double> sorted(values.begin(), values.end());
  std::sort(sorted.begin(), sorted.end());
  const double total = std::accumulate(sorted.begin(), sorted.end(), 0.0);
  const double centre = total / static_cast<double>(sorted.size());
  TwoHeaps heaps;
  double below = 0;
  double best = -1;
  for (std::size_t i = 1; i < sorted.size(); ++i) {
    below += sorted[i - 1] - centre;
    const auto n = static_cast<double>(i);
    const double gain = below * below / n + below * below / static_cast<double>(sorted.size() - i);
    if (gain <= best) continue;
    best = gain;
    heaps.lower_count = i;
  }
  const auto middle = sorted.begin() + static_cast<std::ptrdiff_t>(heaps.lower_count);
  heaps.cut = *middle;
  heaps.low = std::accumulate(sorted.begin(), middle, 0.0) / static_cast<double>(middle - sorted.begin());
  heaps.high = std::accumulate(middle, sorted.end(), 0.0) / static_cast<double>(sorted.end() - middle);
  const double step = (heaps.high - heaps.low) / 10;
  const auto between = std::count_if(sorted.begin(), sorted.end(),
                                     [&](double x) { return x > heaps.low + 4 * step && x < heaps.high - 4 * step; });
  heaps.share_between = static_cast<double>(between) / static_cast<double>(sorted.size());
  return heaps;
}

LeadingPair leading_pair(std::span<const float> cells, std::size_t rows, std::size_t columns) {
  // A start that no regular pattern is orthogonal to.
  std::vector<float> direction(columns);
  for (std::size_t j = 0; j < columns; ++j) direction[j] = 1 + 0.5F * std::sin(static_cast<float>(j * j % 1000 + 1));
  LeadingPair pair;
  pair.rows.assign(rows, 0.0);
  for (int step = 0; step < k_power_steps; ++step) {
    const float norm = std::sqrt(product(direction.data(), direction.data(), columns));
    if (!(norm > 0)) return {0, std::vector<double>(rows, 0.0), std::vector<double>(columns, 0.0)};
    for (float& x : direction) x /= norm;
    pair.columns.assign(direction.begin(), direction.end());
    std::vector<float> next(columns, 0.0F);
    double square = 0;
    for (std::size_t i = 0; i < rows; ++i) {
      const float* row = cells.data() + i * columns;
      const float score = product(direction.data(), row, columns);
      pair.rows[i] = score;
      square += static_cast<double>(score) * score;
      for (std::size_t j = 0; j < columns; ++j) next[j] += score * row[j];
    }
    pair.value = std::sqrt(square);
    direction = std::move(next);
  }
  if (pair.value > 0)
    for (double& x : pair.rows) x /= pair.value;
  return pair;
}

}  // namespace gpusonde
