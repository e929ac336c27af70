// One quantity from equal repetitions.
#pragma once

#include <span>

#include "inference/estimate.hpp"

namespace gpusonde {

/// How far off repetitions may be beyond their own scatter, and how much they may scatter.
struct RepetitionLimits {
  double resolution = 0;       ///< of a single one, as a fraction of its value: what all have in common
  double low_bias = 0;         ///< the true value may be so much lower than what is seen, as a fraction
  double high_bias = 0;        ///< or so much higher
  double most_scatter = 0.05;  ///< standard deviation by the mean: beyond, they contradict each other
};

/// Their mean, with an interval of 99.9 % by Student's t: few of them say little about their own scatter, and
/// many quantities rest on it.
/// Inconclusive with fewer than three, with one that is not above 0, or when they contradict each other.
[[nodiscard]] Estimate mean_of_repetitions(std::span<const double> values, const RepetitionLimits& limits = {});

}  // namespace gpusonde
