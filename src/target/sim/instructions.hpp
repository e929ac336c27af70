// Pipelines, memories with instructions of their own, and clusters, on the simulated GPU.
#pragma once

#include "core/random.hpp"
#include "experiment/experiment.hpp"
#include "gpusonde/error.hpp"
#include "model/device_model.hpp"

namespace gpusonde::sim {

/// Precondition, of all: the experiment is checked.
[[nodiscard]] Result<InstructionSamples> run_instruction(const DeviceModel& model,
                                                         const InstructionExperiment& experiment, Random random);
[[nodiscard]] Result<MemoryChaseSamples> run_memory_chase(const DeviceModel& model,
                                                          const MemoryChaseExperiment& experiment, double sm_mhz,
                                                          Random random);
[[nodiscard]] Result<StorageSharingSamples> run_storage_sharing(const DeviceModel& model,
                                                                const StorageSharingExperiment& experiment,
                                                                double sm_mhz, Random random);
[[nodiscard]] Result<ClusterSamples> run_cluster(const DeviceModel& model, const ClusterExperiment& experiment,
                                                 Random random);

}  // namespace gpusonde::sim
