// Checks of experiments on operations, memories with instructions of their own, and clusters.
#include <fmt/format.h>

#include "target/target.hpp"

namespace gpusonde {

Result<void> check(const InstructionExperiment&, const Capabilities&) { return {}; }

Result<void> check(const MemoryChaseExperiment&, const Capabilities&) { return {}; }

Result<void> check(const StorageSharingExperiment&, const Capabilities&) { return {}; }

Result<void> check(const ClusterExperiment&, const Capabilities&) { return {}; }

}  // namespace gpusonde
