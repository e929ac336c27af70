// How many random models the recovery tests try.
#pragma once

#include <cstdint>
#include <cstdlib>

namespace gpusonde {

/// GPUSONDE_RECOVERY_MODELS, or `few`, which every commit has the time for.
inline std::uint64_t models_wanted(std::uint64_t few) {
  const char* wanted = std::getenv("GPUSONDE_RECOVERY_MODELS");
  return wanted == nullptr ? few : std::strtoull(wanted, nullptr, 10);
}

}  // namespace gpusonde
