// Two cache levels of any geometry, for tests that recover ways, sets, slices and their hash functions.
#pragma once

#include "core/random.hpp"
#include "model/device_model.hpp"

namespace gpusonde {

/// Gives the model an L1 and an L2, as RandomModelOptions::any_geometry promises, and its number of SMs.
/// Precondition: the model has its clocks and 4 GiB of memory.
void add_any_geometry(Random& random, DeviceModel& model);

}  // namespace gpusonde
