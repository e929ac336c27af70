// Clock domains: which part of each latency follows the SM clock, from runs at two or more clocks.
#pragma once

#include <span>

#include "gpusonde/error.hpp"
#include "gpusonde/run.hpp"

namespace gpusonde {

/// A run that holds `domain.LEVEL.sm_cycles` and `domain.LEVEL.fixed_ns` (with `_index` before the last
/// part for index chains) for every latency that the given runs found, and the table `domain.points`.
/// Its device and environment are the first run's. Errors: usage, with fewer than two runs, runs of
/// different devices, or a run without its SM clock.
[[nodiscard]] Result<Run> split_domains(std::span<const Run> runs);

}  // namespace gpusonde
