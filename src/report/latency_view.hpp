// What there is to draw of the latency study: per load path, its curves and what was inferred of them.
#pragma once

#include <string>
#include <vector>

#include "gpusonde/run.hpp"

namespace gpusonde::report {

struct Point {
  double bytes = 0;
  double cycles = 0;
  double low = 0;
  double high = 0;
  double ns = 0;  ///< NaN when the clock is not known
  std::string warmup;
};

struct Chain {
  std::string name;           ///< pointer, index
  std::vector<Point> points;  ///< ascending in size, each size once
};

struct LevelMark {
  std::string name;   ///< l1, l2, l2.far, dram; empty when it has none
  std::string title;  ///< `L2 near` where there is an `L2 far`
  double cycles = 0;
  double ns = 0;
  double first_bytes = 0;
  double last_bytes = 0;
};

/// A rise that is no level of its own.
struct StepMark {
  double from_bytes = 0;
  double to_bytes = 0;
  double rise_cycles = 0;
  bool translation = false;  ///< a control says that translations ran out; else not attributed
  std::string note;
};

struct CapacityMark {
  std::string id;  ///< of the finding
  double bytes = 0;
};

struct LatencyView {
  std::string policy;  ///< ca, cg, ...
  std::vector<Chain> chains;
  std::vector<LevelMark> levels;  ///< of the pointer chain where it was measured, else of the first
  std::vector<StepMark> steps;    ///< likewise
  std::vector<CapacityMark> capacities;
};

/// One view a policy, in the order measured.
[[nodiscard]] std::vector<LatencyView> latency_views(const Run& run);

/// Whether a chain has at least two sizes, so that there is a curve.
[[nodiscard]] bool drawable(const LatencyView& view);

/// Whether loads of this kind are kept in L1.
[[nodiscard]] bool uses_first_level(const std::string& policy);

/// Steps of all views, each once: the same step is seen by every policy.
[[nodiscard]] std::vector<std::pair<std::string, StepMark>> distinct_steps(const Run& run);

}  // namespace gpusonde::report
