// How many findings ended how, and how long the run took.
#pragma once

#include <optional>
#include <string>

#include "gpusonde/run.hpp"

namespace gpusonde::report {

struct OutcomeCount {
  int ok = 0;
  int inconclusive = 0;
  int failed = 0;
  int unsupported = 0;
  int skipped = 0;
};
[[nodiscard]] OutcomeCount outcome_count(const Run& run);

/// `24 findings ok, 1 inconclusive, 0 failed (2 unsupported)`
[[nodiscard]] std::string count_line(const OutcomeCount& count);

/// Between two times written as 2026-01-02T03:04:05Z; empty when either is not one.
[[nodiscard]] std::optional<long long> seconds_between(const std::string& from, const std::string& to);

}  // namespace gpusonde::report
