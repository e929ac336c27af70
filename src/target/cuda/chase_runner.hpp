// Executes one chase experiment: links the ring, launches what the plan says, collects the samples.
#pragma once

#include "core/cancel.hpp"
#include "experiment/experiment.hpp"
#include "gpusonde/device.hpp"
#include "target/cuda/grown_memory.hpp"
#include "target/cuda/kernel_launcher.hpp"

namespace gpusonde::cuda {

/// What a chase runs with; all outlive the call.
struct ChaseResources {
  const DriverTable& driver;
  const DeviceInfo& device;
  KernelLauncher& launcher;
  GrownMemory& scratch;
  DevicePointer buffer;  ///< holds the ring, unless that lies in shared memory
  const CancelToken* cancel;
};

/// Precondition: `check` accepts the experiment. Errors: usage, measurement, unsupported, interrupted.
[[nodiscard]] Result<ChaseSamples> run_chase(const ChaseExperiment& experiment, const ChaseResources& resources);

/// `chase_ca_pointer`, `chase_shared_index_timed`, ...
[[nodiscard]] std::string chase_kernel_name(LoadPath path, ChainKind chain, HopTiming timing);

}  // namespace gpusonde::cuda
