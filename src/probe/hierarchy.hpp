// From curves and controls to named levels. A step is a level only when a control says that lines, not
// translations, ran out.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "gpusonde/device.hpp"
#include "gpusonde/run.hpp"
#include "inference/capacity.hpp"
#include "inference/levels.hpp"
#include "probe/curve.hpp"

namespace gpusonde {

/// Why latency steps up between two plateaus.
enum class StepCause { capacity, translation, unattributed };

/// Control measurements at one size inside the upper plateau of a step.
struct StepControls {
  double size_bytes = 0;
  std::optional<double> random_cycles;        ///< the curve's own order, measured again
  std::optional<double> page_grouped_cycles;  ///< the same lines, page after page: few translations at a time
  std::optional<double> sparse_cycles;        ///< the same pages, a fraction of the lines
};

struct Attribution {
  StepCause cause = StepCause::unattributed;
  std::string note;  ///< the figures it rests on
};

/// The page-grouped control keeps every line and its reuse distance, so a capacity step stays and a
/// translation step goes; the sparse control keeps the pages and fits the lower level, so it is the other
/// way round. Where both speak they must agree. What they cannot tell: a capacity and a translation step
/// at the same size count as capacity.
[[nodiscard]] Attribution attribute_step(double lower_cycles, double upper_cycles, const StepControls& controls);

struct Step {
  double from_bytes = 0;  ///< last size of the lower plateau
  double to_bytes = 0;    ///< first size of the upper one
  double rise_cycles = 0;
  StepCause cause = StepCause::unattributed;
  std::string note;
};

struct Level {
  std::string name;  ///< l1, l2, l2.far, l3 ..., dram; empty when it cannot be named
  Plateau plateau;   ///< the first segment: before any translation step
  double first_bytes = 0;
  double last_bytes = 0;   ///< of the last segment
  double last_cycles = 0;  ///< latency of the last segment, the one next to the following level
};

struct Hierarchy {
  CurveKey key;
  std::vector<CurvePoint> curve;
  std::vector<Level> levels;
  std::vector<Step> steps;  ///< those that are no levels
  bool reaches_memory = false;
  std::string why_not_memory;  ///< one sentence when it does not

  [[nodiscard]] const Level* level(const std::string& name) const;
  /// Index of a level by name; levels.size() when absent.
  [[nodiscard]] std::size_t index_of(const std::string& name) const;
};

/// One hierarchy per curve of `latency.curve`, in its order.
[[nodiscard]] std::vector<Hierarchy> infer_hierarchies(const Measurements& measurements, const DeviceInfo& device);

/// The hierarchy for first-level questions (a path that uses L1), and the one for what lies behind (a
/// path that bypasses it where measured). nullptr when there is none for that chain.
[[nodiscard]] const Hierarchy* first_level_view(const std::vector<Hierarchy>& all, const std::string& chain);
[[nodiscard]] const Hierarchy* deep_view(const std::vector<Hierarchy>& all, const std::string& chain);
/// Of the pointer chain where measured, else of the index chain.
[[nodiscard]] const Hierarchy* deep_view(const std::vector<Hierarchy>& all);

/// A level whose interval is wider than this share of its latency is not known: its points scatter, or it is no
/// plateau but the slope of a cache that loses lines gradually.
inline constexpr double k_widest_level = 0.06;

/// What translation adds to a load at most, from the controls of a curve: random less page by page. 0 when not
/// measured.
[[nodiscard]] double translation_cost(const Measurements& measurements, const CurveKey& key);

/// Largest share of hops that lie well between the L2's latency and memory's, from `capacity.recency`; above
/// k_hidden_level_share a level whose plateau the sweep does not show may lie there (one with random replacement,
/// for one, has hardly a plateau). 0 when the table is absent.
inline constexpr double k_hidden_level_share = 0.06;
[[nodiscard]] double hidden_level_share(const Table& recency);

/// A size in the middle of a level's first segment, not further than 1.1 times its beginning for memory,
/// since a serial warm-up takes the longer the larger it is.
[[nodiscard]] std::uint64_t representative_bytes(const Hierarchy& hierarchy, const Level& level);

}  // namespace gpusonde
