// Runs chases through constants, textures and other SMs' shared memory on a real GPU.
#pragma once

#include "target/cuda/chase_runner.hpp"

namespace gpusonde::cuda {

[[nodiscard]] Result<MemoryChaseSamples> run_memory_chase(const MemoryChaseExperiment& experiment,
                                                          const ChaseResources& resources);
[[nodiscard]] Result<StorageSharingSamples> run_storage_sharing(const StorageSharingExperiment& experiment,
                                                                const ChaseResources& resources);
[[nodiscard]] Result<ClusterSamples> run_cluster(const ClusterExperiment& experiment, const ChaseResources& resources);

}  // namespace gpusonde::cuda
