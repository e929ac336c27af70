// Stretches of a working-set curve, seen in log2 of the size and log of the latency: there noise of a
// few per cent is even, and a slope has the same meaning at 32 KiB as at 1 GiB. Used by find_plateaus.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "inference/levels.hpp"

namespace gpusonde {

/// The curve in logarithms, with the noise of one point.
struct LogCurve {
  std::vector<double> octaves;  ///< log2 of the size
  std::vector<double> values;   ///< natural log of the latency
  double sigma = 0;             ///< of one value; a floor of 0.15 % is assumed
};
[[nodiscard]] LogCurve to_log_curve(std::span<const CurvePoint> curve);

/// Points first ... last, inclusive. `level` is the median of its values.
struct Segment {
  std::size_t first = 0;
  std::size_t last = 0;
  double level = 0;

  [[nodiscard]] std::size_t count() const noexcept { return last - first + 1; }
};
[[nodiscard]] Segment make_segment(const LogCurve& curve, std::size_t first, std::size_t last);

/// Trend of a segment by least squares, per octave, with its standard error.
struct Trend {
  double slope = 0;
  double error = 0;
};
[[nodiscard]] Trend trend(const LogCurve& curve, const Segment& segment);

/// Standard error of the difference of two levels.
[[nodiscard]] double level_difference_error(const LogCurve& curve, const Segment& a, const Segment& b);

}  // namespace gpusonde
