// Executes a map of lines by SMs, and the throughput of a set of lines.
#pragma once

#include "target/cuda/list_chase.hpp"

namespace gpusonde::cuda {

/// Precondition, as below: `check` accepts the experiment and the buffer holds its places.
/// Errors: measurement (an SM that no block came to run on), interrupted.
[[nodiscard]] Result<LineMapSamples> run_line_map(const LineMapExperiment& experiment, GrownMemory& lists,
                                                  const ChaseResources& resources);
[[nodiscard]] Result<ThroughputSamples> run_throughput(const ThroughputExperiment& experiment, GrownMemory& lists,
                                                       const ChaseResources& resources);

}  // namespace gpusonde::cuda
