// What the page's script draws from, as JSON.
#pragma once

#include <string>

#include "gpusonde/run.hpp"

namespace gpusonde::report {

/// `{"plots": [{"policy", "title", "chains": [{"name", "points": [[bytes, cycles, low, high, ns|null,
/// warmup]]}], "levels", "steps", "capacities"}]}`; one plot a drawable latency view, in its order.
[[nodiscard]] std::string page_data(const Run& run);

}  // namespace gpusonde::report
