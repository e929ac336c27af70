// The points that a capacity fit rests on: one transition, with what is flat on both its sides.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "gpusonde/error.hpp"
#include "inference/levels.hpp"

namespace gpusonde {

struct TransitionPoint {
  double log2_size = 0;
  double misses = 0;  ///< (latency - low) / (high - low); noise may carry it past 0 and 1
  double weight = 0;  ///< of its square: 1 at the high level, more where latency and so noise is less
};

struct TransitionWindow {
  std::vector<TransitionPoint> points;
  std::size_t inside = 0;  ///< points that are clearly on neither side
  double last_low = 0;     ///< log2 of the largest size before the rise
  double first_high = 0;   ///< log2 of the smallest size after it
  std::string why_not;     ///< one sentence when the points do not hold a transition; else empty
};

[[nodiscard]] TransitionWindow transition_window(std::span<const CurvePoint> points, double low_latency,
                                                 double high_latency);

}  // namespace gpusonde
