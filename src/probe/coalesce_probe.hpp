// What a warp's load asks of L1 and L2, and what each further line costs.
#pragma once

#include <vector>

#include "inference/coalesce.hpp"
#include "probe/probe.hpp"

namespace gpusonde {

[[nodiscard]] Result<void> measure_coalesce(ProbeContext& context);
[[nodiscard]] Analysis analyze_coalesce(const AnalysisInput& input);

/// The patterns of `coalesce.lanes` with their latencies.
[[nodiscard]] std::vector<PatternLatency> patterns_of(const Measurements& measurements);

}  // namespace gpusonde
