// The two halves of the capacity probe, apart.
#pragma once

#include "probe/probe.hpp"

namespace gpusonde {

[[nodiscard]] Result<void> measure_capacity(ProbeContext& context);
[[nodiscard]] Analysis analyze_capacity(const AnalysisInput& input);

}  // namespace gpusonde
