// The two halves of the latency probe, apart.
#pragma once

#include "probe/probe.hpp"

namespace gpusonde {

[[nodiscard]] Result<void> measure_latency(ProbeContext& context);
[[nodiscard]] Analysis analyze_latency(const AnalysisInput& input);

}  // namespace gpusonde
