// Which part of a latency follows the SM clock and which is fixed in time, from the same level at two
// or more SM clocks: cycles(f) = sm_cycles + fixed_ns * f. Source: METHODS of the RTX 5080 document.
#pragma once

#include <span>

#include "inference/estimate.hpp"

namespace gpusonde {

struct ClockPoint {
  double sm_mhz = 0;
  double latency_cycles = 0;
  double sigma_cycles = 0;  ///< standard error; at least 0.1 is assumed
};

struct ClockSplit {
  Estimate sm_cycles;
  Estimate fixed_ns;
};

/// Weighted least squares. Inconclusive with fewer than two clocks at least 5 % apart, or, with three or
/// more, when the line does not fit (chi^2). With exactly two the interval rests on the sigmas alone.
[[nodiscard]] ClockSplit split_clock_domains(std::span<const ClockPoint> points);

}  // namespace gpusonde
