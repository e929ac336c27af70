// Gaussian elimination on words.
#include "inference/gf2.hpp"

#include <algorithm>
#include <cstddef>
#include <utility>

#include "core/parity_span.hpp"

namespace gpusonde {
namespace {

constexpr unsigned k_greatest_rank_to_enumerate = 16;

unsigned leading_bit(std::uint64_t row) { return 63U - static_cast<unsigned>(std::countl_zero(row)); }

bool lighter(std::uint64_t a, std::uint64_t b) {
  return std::pair(std::popcount(a), a) < std::pair(std::popcount(b), b);
}

/// Each row replaced by its sum with another while that is lighter.
std::vector<std::uint64_t> lightened_by_pairs(std::vector<std::uint64_t> rows) {
  bool changed = true;
  while (changed) {
    changed = false;
    for (auto& row : rows)
      for (const auto other : rows)
        if (other != row && lighter(row ^ other, row)) {
          row ^= other;
          changed = true;
        }
  }
  std::sort(rows.begin(), rows.end(), lighter);
  return rows;
}

}  // namespace

Gf2Span::Gf2Span(std::span<const std::uint64_t> rows) {
  for (const auto row : rows) insert(row);
}

std::uint64_t Gf2Span::remainder(std::uint64_t row) const noexcept {
  for (std::uint64_t left = row; left != 0;) {
    const auto bit = leading_bit(left);
    row ^= (row >> bit & 1U) != 0 ? m_row_by_leading_bit[bit] : 0;
    left = row & ((std::uint64_t{1} << bit) - 1);
  }
  return row;
}

bool Gf2Span::insert(std::uint64_t row) noexcept {
  row = remainder(row);
  if (row == 0) return false;
  m_row_by_leading_bit[leading_bit(row)] = row;
  ++m_rank;
  return true;
}

std::vector<std::uint64_t> Gf2Span::echelon() const {
  std::vector<std::uint64_t> rows;
  for (std::size_t bit = 64; bit-- > 0;) {
    auto row = m_row_by_leading_bit[bit];
    if (row == 0) continue;
    for (std::size_t lower = bit; lower-- > 0;)
      if ((row >> lower & 1U) != 0 && m_row_by_leading_bit[lower] != 0) row ^= m_row_by_leading_bit[lower];
    rows.push_back(row);
  }
  return rows;
}

unsigned rank(std::span<const std::uint64_t> rows) { return Gf2Span(rows).rank(); }

bool same_span(std::span<const std::uint64_t> a, std::span<const std::uint64_t> b) {
  const Gf2Span span_a(a);
  const Gf2Span span_b(b);
  const auto in_b = [&span_b](std::uint64_t row) { return span_b.contains(row); };
  return span_a.rank() == span_b.rank() && std::all_of(a.begin(), a.end(), in_b);
}

std::vector<std::uint64_t> span_members(std::span<const std::uint64_t> basis) {
  std::vector<std::uint64_t> members{0};
  members.reserve(std::size_t{1} << basis.size());
  for (const auto row : basis) {
    const auto count = members.size();
    for (std::size_t i = 0; i < count; ++i) members.push_back(members[i] ^ row);
  }
  return members;
}

std::vector<std::uint64_t> annihilator(std::span<const std::uint64_t> differences, std::uint64_t bits) {
  Gf2Span span;
  for (const auto difference : differences) span.insert(difference & bits);
  const auto rows = span.echelon();
  std::uint64_t leading = 0;
  for (const auto row : rows) leading |= std::uint64_t{1} << leading_bit(row);
  // Every bit that leads no row may be chosen freely; the leading bits then follow, one equation each.
  Gf2Span masks;
  for (std::uint64_t free = bits & ~leading; free != 0; free &= free - 1) {
    const auto bit = free & (~free + 1);
    auto mask = bit;
    for (const auto row : rows)
      if ((row & bit) != 0) mask |= std::uint64_t{1} << leading_bit(row);
    masks.insert(mask);
  }
  return masks.echelon();
}

std::vector<std::uint64_t> span_intersection(std::span<const std::uint64_t> a, std::span<const std::uint64_t> b) {
  // What annihilates the annihilators of both.
  auto masks = annihilator(a, ~std::uint64_t{0});
  const auto masks_of_b = annihilator(b, ~std::uint64_t{0});
  masks.insert(masks.end(), masks_of_b.begin(), masks_of_b.end());
  return annihilator(masks, ~std::uint64_t{0});
}

std::vector<std::uint64_t> canonical_basis(std::span<const std::uint64_t> masks) {
  auto rows = Gf2Span(masks).echelon();
  if (rows.size() > k_greatest_rank_to_enumerate) return lightened_by_pairs(std::move(rows));
  auto basis = canonical_masks(std::move(rows));
  std::sort(basis.begin(), basis.end(), lighter);
  return basis;
}

}  // namespace gpusonde
