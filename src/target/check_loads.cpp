// Checks of experiments in which many warps load at once.
#include <fmt/format.h>

#include "target/target.hpp"

namespace gpusonde {

Result<void> check(const LoadedChaseExperiment&, const Capabilities&, std::uint32_t) { return {}; }

Result<void> check(const BandwidthExperiment&, const Capabilities&, std::uint32_t) { return {}; }

}  // namespace gpusonde
