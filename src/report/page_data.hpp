// What the page's script draws from, as JSON.
#pragma once

#include <string>

#include "gpusonde/run.hpp"

namespace gpusonde::report {

/// `{"plots": [{"policy", "title", "chains": [{"name", "points": [[bytes, cycles, low, high, ns|null,
/// warmup]]}], "levels", "steps", "capacities"}], "sweeps": [{"title", "added", "lines": [{"stride_bytes",
/// "named", "points": [[nodes, bytes, cycles, low, high, ns|null]], "steps": [{"last", "from_cycles",
/// "to_cycles"}], "predicted": [[nodes, cycles]]}]}]}`; one plot a drawable latency view, in its order; one
/// sweep a policy of the table tlb.sweep, and after them that of tlb.alias, whose cycles are those added.
[[nodiscard]] std::string page_data(const Run& run);

}  // namespace gpusonde::report
