// The mean reading of a chase that was timed in many parts.
#pragma once

#include "experiment/experiment.hpp"

namespace gpusonde {

/// Cycles a hop over all repetitions; one that stands alone far above the others, as when an interrupt met it, does not
/// count. Precondition: at least one repetition.
[[nodiscard]] double mean_hop_cycles(const ChaseSamples& samples);

}  // namespace gpusonde
