// Sequences of loads, the latency of single lines from single SMs, and the throughput of a set of lines, on the
// simulated GPU.
#pragma once

#include "core/cancel.hpp"
#include "core/random.hpp"
#include "experiment/experiment.hpp"
#include "gpusonde/error.hpp"
#include "model/device_model.hpp"
#include "target/sim/chase.hpp"
#include "target/sim/machine.hpp"

namespace gpusonde::sim {

/// Caches are empty before the first test. `touch` loads in the list's order: a real GPU has none.
/// Precondition, of all: the experiment is checked. Errors: interrupted.
[[nodiscard]] Result<SequenceSamples> run_sequence(Machine& machine, const DeviceModel& model,
                                                   const SequenceExperiment& experiment, const ChaseSettings& settings,
                                                   Random random, const CancelToken* cancel);

/// Every line is in L2, and in the translation caches, by the time that counts; so no state is kept.
[[nodiscard]] Result<LineMapSamples> run_line_map(Machine& machine, const DeviceModel& model,
                                                  const LineMapExperiment& experiment, const ChaseSettings& settings,
                                                  Random random, const CancelToken* cancel);

/// Loads under way queue at the slice of their line, which serves one after the other, and at their SM's way into
/// the crossbar; a lane sends the next ones when all four have come back.
[[nodiscard]] Result<ThroughputSamples> run_throughput(Machine& machine, const DeviceModel& model,
                                                       const ThroughputExperiment& experiment,
                                                       const ChaseSettings& settings, Random random,
                                                       const CancelToken* cancel);

}  // namespace gpusonde::sim
