// What loads of DRAM take more when translations are missing, by how many pages are used in turn.
#pragma once

#include <cstdint>
#include <span>

#include "inference/estimate.hpp"

namespace gpusonde {

/// Pages used again and again in one order, and what a load takes more than through one page.
struct PagesCost {
  std::uint64_t pages = 0;
  double more_cycles = 0;
  double low_cycles = 0;
  double high_cycles = 0;
};

/// What a miss of the first level adds: the first plateau above nothing. Ascending by pages.
[[nodiscard]] Estimate first_miss_cycles(std::span<const PagesCost> costs);

}  // namespace gpusonde
