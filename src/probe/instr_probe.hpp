// Operations of one warp: from issue to use, and how often one begins when independent ones overlap.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "inference/operation_times.hpp"
#include "probe/probe.hpp"

namespace gpusonde {

[[nodiscard]] Result<void> measure_instr(ProbeContext& context);
[[nodiscard]] Analysis analyze_instr(const AnalysisInput& input);

/// An operation's name in findings: that of the machine, and `shared_load` for a shared load by a register.
[[nodiscard]] std::string operation_id(Operation operation);

/// Rows of `instr.chains` for an operation, by ascending number of chains.
[[nodiscard]] std::vector<ChainTimes> chain_times(const Measurements& measurements, std::string_view operation);

}  // namespace gpusonde
