// Runs chases of many warps, and streams, on a real GPU.
#pragma once

#include "target/cuda/chase_runner.hpp"

namespace gpusonde::cuda {

/// One block an SM, all of which begin together. Precondition, of both: `check` accepts the experiment and the buffer
/// holds what it asks for. Errors: measurement (an SM that no block came to run on), interrupted.
[[nodiscard]] Result<LoadedChaseSamples> run_loaded_chase(const LoadedChaseExperiment& experiment,
                                                          const ChaseResources& resources);
/// Whole turns of all threads, so a few more bytes than the passes have; they are counted as they were moved.
/// Errors: unsupported too (more threads than an SM holds).
[[nodiscard]] Result<BandwidthSamples> run_bandwidth(const BandwidthExperiment& experiment,
                                                     const ChaseResources& resources);

}  // namespace gpusonde::cuda
