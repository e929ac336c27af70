// Executes one chase experiment: links the ring, launches what the plan says, collects the samples.
#pragma once

#include "target/cuda/chase_session.hpp"

namespace gpusonde::cuda {

/// Precondition: `check` accepts the experiment. Errors: usage, measurement, unsupported, interrupted.
[[nodiscard]] Result<ChaseSamples> run_chase(const ChaseExperiment& experiment, const ChaseResources& resources);

}  // namespace gpusonde::cuda
