// What there is to draw of the TLB study: latency by working set, a line a stride, and what translation
// adds by the number of nodes.
#pragma once

#include <span>
#include <string>
#include <utility>
#include <vector>

#include "gpusonde/run.hpp"

namespace gpusonde::report {

/// Of a sweep: the latency of an access. Of the alias table: the penalty, from -sigma to +sigma.
struct SweepPoint {
  double nodes = 0;
  double bytes = 0;
  double cycles = 0;
  double low = 0;
  double high = 0;
  double ns = 0;  ///< NaN when the clock is not known
};

/// A rise between two plateaus that follow each other.
struct SweepStep {
  std::size_t last = 0;   ///< of the line's points, the last one on the lower plateau
  std::size_t first = 0;  ///< the first one on the upper plateau
  double from_cycles = 0;
  double to_cycles = 0;
};

struct SweepLine {
  double stride_bytes = 0;
  std::vector<SweepPoint> points;  ///< ascending in nodes, each number once
  std::vector<SweepStep> steps;
  std::vector<std::pair<double, double>> predicted;  ///< nodes and penalty, ascending; may be empty
};

struct SweepView {
  std::string policy;  ///< ca, cg
  double sm_mhz = 0;   ///< of the first point that has one; 0: not known
  std::vector<SweepLine> lines;
};

/// Steps of a line by its plateaus (inference/levels.hpp), ascending; the abscissa is the number of nodes,
/// so that the size of an entry plays no part. Points ascend in nodes.
[[nodiscard]] std::vector<SweepStep> sweep_steps(std::span<const SweepPoint> points);

/// One view a policy of the table tlb.sweep, in the order measured, each with lines of ascending stride.
/// Of a point measured more than once the last row counts.
[[nodiscard]] std::vector<SweepView> sweep_views(const Measurements& measurements);

/// Lines of the table tlb.alias, with the prediction of derived.tlb.fit where there is one.
[[nodiscard]] std::vector<SweepLine> alias_lines(const Measurements& measurements);

/// More lines than this are drawn thin, and only some of them are named.
inline constexpr std::size_t k_most_named_lines = 10;

/// Which lines are named: all while they are few, else the first, the last, and those where the steps are
/// not those of the line before.
[[nodiscard]] std::vector<bool> named_lines(const std::vector<SweepLine>& lines);

}  // namespace gpusonde::report
