// Order statistics and robust spread.
#include "inference/statistics.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <numbers>

namespace gpusonde {
namespace {

// A normal value's median absolute deviation is sigma / 1.4826.
constexpr double k_mad_to_sigma = 1.4826;

std::vector<double> sorted(std::span<const double> values) {
  std::vector<double> copy(values.begin(), values.end());
  std::sort(copy.begin(), copy.end());
  return copy;
}

double quantile_of_sorted(const std::vector<double>& values, double q) {
  const double position = std::clamp(q, 0.0, 1.0) * static_cast<double>(values.size() - 1);
  const auto below = static_cast<std::size_t>(position);
  const auto above = std::min(below + 1, values.size() - 1);
  const double fraction = position - static_cast<double>(below);
  return values[below] + fraction * (values[above] - values[below]);
}

// Largest k such that the order statistics k and n - 1 - k (from 0) enclose the median with at least
// 95 %: P(X <= k) <= 2.5 % for X binomial(n, 1/2). Negative when even the whole range does not.
std::ptrdiff_t enclosing_rank(std::size_t count) {
  const auto n = static_cast<double>(count);
  double tail = 0;
  std::ptrdiff_t rank = -1;
  for (std::size_t k = 0; 2 * k < count; ++k) {
    const auto x = static_cast<double>(k);
    tail += std::exp(std::lgamma(n + 1) - std::lgamma(x + 1) - std::lgamma(n - x + 1) - n * std::numbers::ln2);
    if (tail > 0.025) break;
    rank = static_cast<std::ptrdiff_t>(k);
  }
  return rank;
}

}  // namespace

double median(std::span<const double> values) { return quantile_of_sorted(sorted(values), 0.5); }

double quantile(std::span<const double> values, double q) { return quantile_of_sorted(sorted(values), q); }

double mad_sigma(std::span<const double> values) {
  const double centre = median(values);
  std::vector<double> deviations;
  deviations.reserve(values.size());
  for (const double value : values) deviations.push_back(std::abs(value - centre));
  return k_mad_to_sigma * median(deviations);
}

Interval median_interval(std::span<const double> values) {
  const auto ordered = sorted(values);
  const auto rank = static_cast<std::size_t>(std::max<std::ptrdiff_t>(enclosing_rank(ordered.size()), 0));
  return {ordered[rank], ordered[ordered.size() - 1 - rank]};
}

double difference_sigma(std::span<const double> values) {
  if (values.size() < 2) return 0;
  std::vector<double> differences;
  differences.reserve(values.size() - 1);
  for (std::size_t i = 1; i < values.size(); ++i) differences.push_back(values[i] - values[i - 1]);
  return mad_sigma(differences) / std::numbers::sqrt2;
}

}  // namespace gpusonde
