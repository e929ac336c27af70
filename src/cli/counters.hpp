// Hardware counters through Nsight Compute: this program starts `ncu` on itself.
#pragma once

#include "commands.hpp"
#include "probe/probe.hpp"

namespace gpusonde::cli {

using CounterReader = decltype(CoalesceOptions::read_counters);

/// Empty where counters were not asked for. What it returns as errors: unsupported (no ncu, a simulated device,
/// counters forbidden, another version), interrupted.
[[nodiscard]] CounterReader counter_reader(const CommandContext& context, bool asked);

}  // namespace gpusonde::cli
