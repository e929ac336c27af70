// Pipelines, memories with instructions of their own, and clusters at random.
#pragma once

#include "core/random.hpp"
#include "model/device_model.hpp"

namespace gpusonde {

/// As `RandomModelOptions::any_pipelines` says. Precondition: the model has its caches.
void add_any_pipelines(Random& random, DeviceModel& model);

}  // namespace gpusonde
