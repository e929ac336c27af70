// Constants of pages by consensus: each group has one set, each page one constant, and what is seen is their XOR.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "inference/set_function_pages.hpp"

namespace gpusonde {

/// Value of the offsets of a group's lines in a page: the group's set XOR the page's constant, unless it is false.
struct PageSighting {
  std::size_t group = 0;
  std::uint64_t page = 0;
  std::uint64_t value = 0;
};

/// Pages whose constant at least two groups tell, and twice as many as tell another one; by ascending page.
[[nodiscard]] std::vector<PageConstant> page_constants(std::span<const PageSighting> sightings);

}  // namespace gpusonde
