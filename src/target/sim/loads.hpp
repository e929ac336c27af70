// Many loads under way at once, on the simulated GPU: chases of many warps, and streams for bandwidth.
#pragma once

#include "core/cancel.hpp"
#include "core/random.hpp"
#include "experiment/experiment.hpp"
#include "gpusonde/error.hpp"
#include "model/device_model.hpp"
#include "target/sim/chase.hpp"
#include "target/sim/machine.hpp"

namespace gpusonde::sim {

/// Loads queue at their SM's way into the crossbar and back, at their slice, and in DRAM at their bank and their
/// channel's pins. Of many loads only some rounds are followed, and their mean counts for all. Writes are as reads;
/// the level that answers is decided once (see LoadsAnswer). Precondition, of both: the experiment is checked. Errors:
/// interrupted.
[[nodiscard]] Result<LoadedChaseSamples> run_loaded_chase(Machine& machine, const DeviceModel& model,
                                                          const LoadedChaseExperiment& experiment,
                                                          const ChaseSettings& settings, Random random,
                                                          const CancelToken* cancel);

[[nodiscard]] Result<BandwidthSamples> run_bandwidth(Machine& machine, const DeviceModel& model,
                                                     const BandwidthExperiment& experiment,
                                                     const ChaseSettings& settings, Random random,
                                                     const CancelToken* cancel);

}  // namespace gpusonde::sim
