// The embedded PTX: one module a source file, compiled by the driver when first needed.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>

namespace gpusonde::cuda {

struct KernelModule {
  std::string_view name;
  std::string_view ptx;                 ///< NUL-terminated behind its end
  std::uint32_t least_capability = 70;  ///< of the chips that take it, major * 10 + minor
};

enum class ModuleId : unsigned { base, chase, chase_timed, line_map, loads, sequence, sequence_l2, memories, cluster };
inline constexpr std::size_t k_module_count = 9;

/// In the order of ModuleId.
[[nodiscard]] std::array<KernelModule, k_module_count> kernel_modules();

/// SHA-256 over all of them, one after the other, and the kernels of operations, which are made at run time.
[[nodiscard]] std::string kernel_modules_sha256();

}  // namespace gpusonde::cuda
