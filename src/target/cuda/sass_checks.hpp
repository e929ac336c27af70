// What a kernel's machine code must look like for its timing to mean what we say it means.
#pragma once

#include <string>
#include <vector>

#include "target/cuda/cuda_target.hpp"
#include "target/cuda/sass_parser.hpp"

namespace gpusonde::cuda {

/// Checks that belong to the function's name: a chase's loads, their number, the wait before the second
/// clock read; a sequence's one timed load, likewise; that a baseline loads nothing between its clock
/// reads. Empty for kernels that time nothing.
[[nodiscard]] std::vector<SassCheck> check_sass(const SassFunction& function);

/// The machine code is for the device.
[[nodiscard]] SassCheck check_architecture(const std::string& found, const std::string& device);

}  // namespace gpusonde::cuda
