// Runs chases of many warps, and streams, on a real GPU.
#pragma once

#include "target/cuda/chase_runner.hpp"

namespace gpusonde::cuda {

[[nodiscard]] Result<LoadedChaseSamples> run_loaded_chase(const LoadedChaseExperiment& experiment,
                                                          const ChaseResources& resources);
[[nodiscard]] Result<BandwidthSamples> run_bandwidth(const BandwidthExperiment& experiment,
                                                     const ChaseResources& resources);

}  // namespace gpusonde::cuda
