// The hierarchy as a table, one row a level, put together from the findings.
#pragma once

#include <string>
#include <vector>

#include "gpusonde/run.hpp"

namespace gpusonde::report {

struct HierarchyRow {
  std::string prefix;  ///< of the level's finding ids: `l1`
  std::string title;
  std::string cycles;  ///< `40.0 cyc`; for a TLB the miss cost, with a plus sign
  std::string ns;
  std::string interval;
  std::string size;
  std::string stated;  ///< what the driver or the model says, not measured
  std::string geometry;  ///< `4 ways × 256 sets × 128 B / 32 B`; of slices: `36 slices × 1024 × 16 × …`, sets, ways
  std::string trouble;           ///< the level's latency could not be told: outcome and reason
  std::vector<std::string> ids;  ///< findings that the row shows
};

[[nodiscard]] std::vector<HierarchyRow> hierarchy_rows(const Run& run);

/// How the findings whose ids begin with one of `prefixes` compare with the model.
struct TruthCount {
  int known = 0;     ///< findings with a truth
  int agreeing = 0;  ///< of those
  int wrong = 0;     ///< ok, and the truth lies outside
};
[[nodiscard]] TruthCount truth_count(const Run& run, const std::string& prefix);

}  // namespace gpusonde::report
