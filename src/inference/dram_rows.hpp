// Rows of DRAM: whether a load of an open row is cheaper by an amount that stands out, and how many lines a row has.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "inference/estimate.hpp"

namespace gpusonde {

/// What a load takes more when another row of its bank was loaded since. `more`: what a line took more than usual after
/// each of those others that seemed to matter, a median of several readings; `asked`: lines that were asked,
/// `scatter_cycles` of single readings. Inconclusive where those that close the row do not part from the rest.
[[nodiscard]] Estimate row_contrast(std::span<const double> more, double asked, double scatter_cycles);

/// A line and those of its page that are cheap after it was loaded: of its row. Offsets in the page.
struct RowMembers {
  std::uint64_t anchor = 0;
  std::vector<std::uint64_t> others;
  std::uint64_t unclear = 0;  ///< lines that are cheap only now and then
};

/// Bytes of a row. Rows may end with their page, so what most anchors have, and none more, is taken. Inconclusive where
/// they do not agree, or where a row reaches from end to end of its page and may go on in another.
[[nodiscard]] Estimate row_size(std::span<const RowMembers> rows, std::uint64_t page_bytes, std::uint64_t line_bytes);

}  // namespace gpusonde
