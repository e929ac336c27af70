// Warming the caches before a chase, with only those loads replayed that can still matter at its end.
#pragma once

#include <cstdint>

#include "core/cancel.hpp"
#include "experiment/experiment.hpp"
#include "target/sim/machine.hpp"
#include "target/sim/trace.hpp"

namespace gpusonde::sim {

/// Loads of a large ring, at the end of the warm-up, after which the state of the caches on the path no
/// longer depends on what came before: so many that a set, filled at random, sees with a probability of
/// 1 - 10^-5 as many new lines as it has ways (twice as many for nru). Random replacement forgets only
/// gradually: eight times the ways leave exp(-8) of the older lines. `stride_bytes`: distance of nodes;
/// below the line size a line counts once.
[[nodiscard]] std::uint64_t settling_loads(const DeviceModel& model, LoadPath path, std::uint64_t stride_bytes);

/// Replays the warm-up of an experiment. A ring of more nodes than `settling_loads` has only the end
/// replayed, after one access to each of its last pages for the TLBs. Then the sets are looked at: while
/// more than 1 in 10,000 of those touched has an empty way, twice as much is replayed (up to 16 times), so
/// at most that share of timed loads can differ from a full replay. `full` replays everything.
/// Returns false when cancelled.
[[nodiscard]] bool warm_up(Machine& machine, Trace& trace, const DeviceModel& model, const ChaseExperiment& experiment,
                           bool full, const CancelToken* cancel);

}  // namespace gpusonde::sim
