// The machine around the GPU.
#pragma once

#include "gpusonde/device.hpp"

namespace gpusonde::cuda {

/// Host name and operating system, from uname.
void fill_host(Environment& environment);

}  // namespace gpusonde::cuda
