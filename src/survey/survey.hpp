// Runs probes in order, keeps what each one measured, and puts the run together.
#pragma once

#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "core/cancel.hpp"
#include "gpusonde/run.hpp"
#include "probe/probe.hpp"
#include "target/target.hpp"

namespace gpusonde {

/// By finding id; see truth_of(). Empty for a real device.
using Truth = std::vector<std::pair<std::string, FindingValue>>;

struct SurveyRequest {
  ProbeOptions probe;
  std::vector<std::string> probes;  ///< names; empty: all
  RunOptions options;
  std::optional<Run> resume;  ///< goes on after its last finished probe
  Truth truth;
  const CancelToken* cancel = nullptr;
  std::function<void(const Progress&)> progress;
  std::function<Result<void>(const Run&)> save;  ///< called after each probe; may be empty
};

struct SurveyResult {
  Run run;
  std::optional<Error> error;  ///< first failed probe, or interrupted; the run holds what there is
};

[[nodiscard]] SurveyResult run_survey(Target& target, const SurveyRequest& request);

/// Inference again from the stored measurements: replaces the findings and derived tables. Truth that
/// the run already carries is joined again.
[[nodiscard]] Run analyze(const Run& run);

}  // namespace gpusonde
