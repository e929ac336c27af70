// A pointer chase on the simulated GPU.
#pragma once

#include <cstdint>

#include "core/cancel.hpp"
#include "core/random.hpp"
#include "experiment/experiment.hpp"
#include "gpusonde/error.hpp"
#include "model/device_model.hpp"
#include "target/sim/machine.hpp"

namespace gpusonde::sim {

struct ChaseSettings {
  double sm_mhz = 0;
  bool full_warmup = false;  ///< replay every load of the warm-up: to check what the short one leaves out
};

/// Every chase begins with empty caches: linking the ring anew overwrites whatever was there, from all SMs.
/// So a chase does not depend on the ones before it, except for its stream of random numbers.
/// Serial and parallel warm-up touch the same lines in the same order, so here they are the same.
/// Precondition: the experiment is checked. Errors: interrupted.
[[nodiscard]] Result<ChaseSamples> run_chase(Machine& machine, const DeviceModel& model,
                                             const ChaseExperiment& experiment, const ChaseSettings& settings,
                                             Random random, const CancelToken* cancel);

/// Likewise over a list of places; the whole warm-up is walked.
[[nodiscard]] Result<ChaseSamples> run_chase(Machine& machine, const DeviceModel& model,
                                             const ListChaseExperiment& experiment, const ChaseSettings& settings,
                                             Random random, const CancelToken* cancel);

}  // namespace gpusonde::sim
