// Working sets that lie well inside L2, and far beyond it.
#pragma once

#include <cstdint>
#include <string>

#include "gpusonde/device.hpp"
#include "target/target.hpp"

namespace gpusonde {

struct LoadSet {
  std::uint64_t bytes = 0;  ///< a multiple of 32 KiB; 0: there is none
  std::string why_not;      ///< one sentence then
};

/// A quarter of what L2 is stated to hold, so that half of it near an SM holds it, up to `most`.
[[nodiscard]] LoadSet l2_set(const Target& target, std::uint64_t most);
/// Memory of which L2 holds an eighth at most, up to `most`.
[[nodiscard]] LoadSet dram_set(const Target& target, std::uint64_t most);

}  // namespace gpusonde
