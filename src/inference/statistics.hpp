// Order statistics and robust spread. All take values in any order; none changes its input.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "gpusonde/finding.hpp"

namespace gpusonde {

/// Precondition of all: values not empty.
[[nodiscard]] double median(std::span<const double> values);
/// Linear interpolation between order statistics, q in [0, 1].
[[nodiscard]] double quantile(std::span<const double> values, double q);
/// 1.4826 * median absolute deviation: the standard deviation, were the values normal.
[[nodiscard]] double mad_sigma(std::span<const double> values);
/// Distribution-free interval of the median from order statistics (binomial), at a confidence of at
/// least 95 % where the count allows, else the whole range.
[[nodiscard]] Interval median_interval(std::span<const double> values);
/// sigma of the noise on a curve, from the MAD of first differences (/ sqrt 2): steps do not disturb it.
[[nodiscard]] double difference_sigma(std::span<const double> values);

}  // namespace gpusonde
