// A GPU simulated from a model: the same experiments, the same samples, and a truth that is known.
#pragma once

#include <cstdint>
#include <memory>

#include "gpusonde/error.hpp"
#include "model/device_model.hpp"
#include "target/target.hpp"

namespace gpusonde {

struct SimOptions {
  std::uint64_t seed = 1;           ///< page placement, slice distances, random replacement, noise
  double sm_mhz = 0;                ///< 0: the model's
  unsigned threads = 0;             ///< 0: as many as the machine has; results do not depend on it
  bool physical_addresses = false;  ///< given to those who ask, as root tools read them on real cards
  bool full_warmup = false;         ///< replay whole warm-ups, not only what can still be resident: slow, for checks
};

/// Errors: bad_input (validate), usage (sm_mhz not above 0 or above 10000).
[[nodiscard]] Result<std::unique_ptr<Target>> make_sim_target(const DeviceModel& model, const SimOptions& options = {});

}  // namespace gpusonde
