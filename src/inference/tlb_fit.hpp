// From penalty curves of the alias probe to the translation caches behind them. A penalty is what translation
// adds to a load on average; a curve has it over the number of nodes, each node `stride` from the next, for one
// stride. Nothing is read off a knee alone: each candidate table is run over the very sequence of pages that was
// measured, and what it predicts is held against the whole curve.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "gpusonde/finding.hpp"
#include "inference/tlb_forward.hpp"

namespace gpusonde {

struct TlbPoint {
  std::uint64_t stride_bytes = 0;
  std::uint64_t nodes = 0;
  double penalty_cycles = 0;
  double sigma_cycles = 0;                  ///< standard error
  std::shared_ptr<const TlbTrace> trace;    ///< the loads that were timed
  std::shared_ptr<const TlbTrace> control;  ///< those subtracted, where they translate too; may be null
};

/// Penalty of loads that miss so many levels.
struct TlbPlateau {
  double cycles = 0;
  /// Of a walk whose cost depends on how far apart the pages are: where the curve of each stride ends. Else empty.
  std::map<std::uint64_t, double> by_stride;

  [[nodiscard]] double at(std::uint64_t stride) const {
    const auto found = by_stride.find(stride);
    return found == by_stride.end() ? cycles : found->second;
  }
};

/// Flat stretches of the curves, by value, ascending. A stretch has at least three points over half an octave; a value
/// counts when the curves of two strides have it. Above them, where at least two curves end nearly flat but each at
/// its own height, a last plateau by stride.
[[nodiscard]] std::vector<TlbPlateau> penalty_plateaus(std::span<const TlbPoint> points);

/// Where one curve steps from one plateau to the next.
struct TlbStep {
  std::uint64_t clean_nodes = 0;  ///< most nodes up to which the penalty is that of the lower plateau
  std::uint64_t first_nodes = 0;  ///< the next number of nodes measured
  std::uint64_t full_nodes = 0;   ///< fewest nodes at nine tenths of the step
  double half_nodes = 0;          ///< where half of it is done

  /// Where each node has a span of its own, a table overflows within a factor of three; with two nodes a span it
  /// takes five.
  [[nodiscard]] bool sharp() const noexcept {
    return static_cast<double>(full_nodes) < 3.6 * static_cast<double>(clean_nodes);
  }
};
/// By stride, of the curves that have both plateaus.
[[nodiscard]] std::map<std::uint64_t, TlbStep> tlb_steps(std::span<const TlbPoint> points, double lower_cycles,
                                                         const TlbPlateau& upper);

struct TlbCandidate {
  TlbShape shape;
  double penalty_cycles = 0;  ///< of a load that misses this level and hits the next
  double misfit = 0;          ///< mean square of the residuals in units of their expected size
};

struct TlbLevelFit {
  std::vector<TlbCandidate> candidates;  ///< those the curves leave standing, best first; empty: `trouble`
  std::string trouble;                   ///< one sentence when no table of any kind fits, or nothing can be told
  Interval penalty_cycles;               ///< of the best candidate, about 95 %; of a walk that varies: over the strides
  Interval reach_bytes;                  ///< where two strides agree on what the level maps; else 0 to 0
  double plateau_cycles = 0;             ///< penalty seen, whether a table fits or not
  double knee_nodes = 0;                 ///< where the step is half done, at the largest stride that shows it
  std::uint64_t knee_stride_bytes = 0;
  std::size_t points = 0;  ///< compared
};

enum class TlbFitEffort {
  best,  ///< a table that fits each level, to plan further measurements with
  all,   ///< and every other one that does
};

/// One fit a plateau, nearest level first. A level is fitted behind the best candidates of those before it, so the
/// fits end where one fails: later ones have `trouble`.
[[nodiscard]] std::vector<TlbLevelFit> fit_tlb(std::span<const TlbPoint> points,
                                               TlbFitEffort effort = TlbFitEffort::all);

/// What the levels add to the loads of a point. `penalties[i]`: of a load whose deepest miss is level i. Precondition:
/// at least one level.
[[nodiscard]] double predicted_penalty(const TlbPoint& point, std::span<const TlbShape> levels,
                                       std::span<const double> penalties);

}  // namespace gpusonde
