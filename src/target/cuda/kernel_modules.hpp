// The embedded PTX: one module a source file, compiled by the driver when first needed.
#pragma once

#include <array>
#include <string>
#include <string_view>

namespace gpusonde::cuda {

struct KernelModule {
  std::string_view name;
  std::string_view ptx;  ///< NUL-terminated behind its end
};

enum class ModuleId : unsigned { base, chase, chase_timed };

/// In the order of ModuleId.
[[nodiscard]] std::array<KernelModule, 3> kernel_modules();

/// SHA-256 over all of them, one after the other.
[[nodiscard]] std::string kernel_modules_sha256();

}  // namespace gpusonde::cuda
