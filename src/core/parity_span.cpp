#include "core/parity_span.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>

namespace gpusonde {
namespace {

/// All members of a span are listed up to this rank: 2^16 of them.
constexpr std::size_t k_most_listed_rank = 16;

/// Masks in echelon form, one for each leading bit.
class Echelon {
 public:
  /// False when the mask is a sum of those added before.
  bool add(std::uint64_t mask) {
    while (mask != 0) {
      auto& row = m_rows[static_cast<std::size_t>(std::bit_width(mask)) - 1];
      if (row == 0) {
        row = mask;
        return true;
      }
      mask ^= row;
    }
    return false;
  }

  /// Reduced: no row has another's leading bit. Ascending, as leading bits are.
  [[nodiscard]] std::vector<std::uint64_t> reduced_rows() const {
    std::vector<std::uint64_t> rows;
    for (std::size_t bit = 0; bit < m_rows.size(); ++bit) {
      auto row = m_rows[bit];
      if (row == 0) continue;
      for (const auto below : rows)
        if ((row & std::bit_floor(below)) != 0) row ^= below;
      rows.push_back(row);
    }
    return rows;
  }

 private:
  std::array<std::uint64_t, 64> m_rows{};
};

/// Every sum of some rows but 0. Precondition: the rows are independent, and few.
std::vector<std::uint64_t> members(const std::vector<std::uint64_t>& rows) {
  std::vector<std::uint64_t> sums{0};
  for (const auto row : rows) {
    const auto known = sums.size();
    for (std::size_t i = 0; i < known; ++i) sums.push_back(sums[i] ^ row);
  }
  sums.erase(sums.begin());
  return sums;
}

bool is_lighter(std::uint64_t a, std::uint64_t b) {
  return std::popcount(a) != std::popcount(b) ? std::popcount(a) < std::popcount(b) : a < b;
}

}  // namespace

std::vector<std::uint64_t> canonical_masks(std::vector<std::uint64_t> masks) {
  Echelon span;
  for (const auto mask : masks) span.add(mask);
  auto rows = span.reduced_rows();
  if (rows.size() > k_most_listed_rank) return rows;
  auto candidates = members(rows);
  std::sort(candidates.begin(), candidates.end(), is_lighter);
  Echelon taken;
  masks.clear();
  for (const auto candidate : candidates) {
    if (masks.size() == rows.size()) break;
    if (taken.add(candidate)) masks.push_back(candidate);
  }
  std::sort(masks.begin(), masks.end());
  return masks;
}

std::string hex_mask(std::uint64_t mask) { return fmt::format("{:#x}", mask); }

}  // namespace gpusonde
