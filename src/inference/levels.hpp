// Levels of a working-set curve: where latency stays flat, and where it steps. Change points by
// optimal partitioning (PELT) on the medians with penalty 3 sigma^2 log n, sigma from the MAD of first
// differences; segments that are not flat, or too short, belong to transitions, not to plateaus;
// plateaus closer than max(2 cycles, 2 %) are one. Source: Killick, Fearnhead, Eckley 2012 (PELT).
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "gpusonde/finding.hpp"
#include "inference/estimate.hpp"

namespace gpusonde {

/// One working-set size. Curves are sorted by size, ascending, sizes distinct.
struct CurvePoint {
  double size_bytes = 0;
  double latency = 0;  ///< cycles, median over repetitions
  double low = 0;      ///< smallest repetition
  double high = 0;     ///< largest repetition
};

/// Indices of the first point of each segment after the first (so k change points make k+1 segments),
/// for piecewise-constant mean. penalty <= 0: 3 sigma^2 log n from the data.
[[nodiscard]] std::vector<std::size_t> change_points(std::span<const double> values, double penalty = 0);

struct Plateau {
  std::size_t first = 0;  ///< index into the curve
  std::size_t last = 0;   ///< inclusive
  double latency = 0;     ///< cycles, median of its points
  Interval interval;      ///< of the level
};

struct LevelOptions {
  double merge_cycles = 2;
  double merge_fraction = 0.02;
  std::size_t min_points = 3;  ///< fewer flat points are no plateau
};

/// A plateau covers at least a quarter octave of sizes and does not trend by more than 5 % an octave.
/// Ascending in size. Between plateaus k and k+1 lies the transition of points last_k + 1 ... first_{k+1} - 1.
/// Latency need not rise monotonically in the input; plateaus that do not rise over their predecessor
/// are merged with it or dropped as disturbance. Pure noise around one value gives one plateau.
[[nodiscard]] std::vector<Plateau> find_plateaus(std::span<const CurvePoint> curve, const LevelOptions& options = {});

}  // namespace gpusonde
