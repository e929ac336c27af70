// Executes one sequence experiment: copies its lists, launches its tests, collects the readings.
#pragma once

#include "target/cuda/list_chase.hpp"

namespace gpusonde::cuda {

/// Precondition: `check` accepts the experiment; the buffer holds its places, if they lie there.
/// Errors: usage, measurement, unsupported, interrupted.
[[nodiscard]] Result<SequenceSamples> run_sequence(const SequenceExperiment& experiment, const ListResources& list,
                                                   const ChaseResources& resources);

}  // namespace gpusonde::cuda
