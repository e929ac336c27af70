#include "inference/repetitions.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>

namespace gpusonde {
namespace {

/// Quantile 0.9995 of Student's t by degrees of freedom, from 1 on. Source: any table of it.
constexpr std::array k_t{636.6, 31.60, 12.92, 8.610, 6.869, 5.959, 5.408, 5.041, 4.781, 4.587, 4.437, 4.318};
constexpr double k_t_of_many = 4.3;

double student(std::size_t freedom) { return freedom <= k_t.size() ? k_t[freedom - 1] : k_t_of_many; }

}  // namespace

Estimate mean_of_repetitions(std::span<const double> values, const RepetitionLimits& limits) {
  if (values.size() < 3) return inconclusive(fmt::format("{} repetitions: too few for an interval", values.size()));
  if (!std::all_of(values.begin(), values.end(), [](double v) { return std::isfinite(v) && v > 0; }))
    return inconclusive("a repetition took no time that could be told");
  const auto count = static_cast<double>(values.size());
  const double mean = std::accumulate(values.begin(), values.end(), 0.0) / count;
  double squares = 0;
  for (const double value : values) squares += (value - mean) * (value - mean);
  const double sigma = std::sqrt(squares / (count - 1));
  if (sigma > limits.most_scatter * mean)
    return inconclusive(fmt::format("repetitions differ by {:.0f} % of their mean (standard deviation of {})",
                                    100 * sigma / mean, values.size()));
  const double error = student(values.size() - 1) * sigma / std::sqrt(count) + limits.resolution * mean;
  return {Outcome::ok, mean, {mean * (1 - limits.low_bias) - error, mean * (1 + limits.high_bias) + error}, {}};
}

}  // namespace gpusonde
