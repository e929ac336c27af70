// Vectors over GF(2) of up to 256 columns, and the spaces they span: enough for an address's bits together with the
// bits of a quotient and one-hot residues, which a 64-bit word does not hold.
#pragma once

#include <array>
#include <bit>
#include <compare>
#include <cstdint>
#include <vector>

namespace gpusonde {

inline constexpr unsigned k_bit_row_columns = 256;

/// 256 bits that add by XOR.
struct BitRow {
  std::array<std::uint64_t, 4> words{};

  [[nodiscard]] static BitRow unit(unsigned column) noexcept {
    BitRow row;
    row.set(column);
    return row;
  }
  [[nodiscard]] bool test(unsigned column) const noexcept { return (words[column / 64] >> (column % 64) & 1) != 0; }
  void set(unsigned column) noexcept { words[column / 64] |= std::uint64_t{1} << (column % 64); }
  [[nodiscard]] bool any() const noexcept { return (words[0] | words[1] | words[2] | words[3]) != 0; }
  [[nodiscard]] unsigned weight() const noexcept {
    unsigned sum = 0;
    for (const auto word : words) sum += static_cast<unsigned>(std::popcount(word));
    return sum;
  }
  /// The first column that is set. Precondition: any().
  [[nodiscard]] unsigned lowest() const noexcept {
    unsigned word = 0;
    while (words[word] == 0) ++word;
    return 64 * word + static_cast<unsigned>(std::countr_zero(words[word]));
  }
  /// Parity of the columns in common: the scalar product.
  [[nodiscard]] bool dot(const BitRow& other) const noexcept {
    std::uint64_t sum = 0;
    for (unsigned i = 0; i < 4; ++i) sum ^= words[i] & other.words[i];
    return (std::popcount(sum) & 1) != 0;
  }
  BitRow& operator^=(const BitRow& other) noexcept {
    for (unsigned i = 0; i < 4; ++i) words[i] ^= other.words[i];
    return *this;
  }
  friend BitRow operator^(BitRow a, const BitRow& b) noexcept { return a ^= b; }
  friend BitRow operator&(BitRow a, const BitRow& b) noexcept {
    for (unsigned i = 0; i < 4; ++i) a.words[i] &= b.words[i];
    return a;
  }
  auto operator<=>(const BitRow&) const = default;
};

/// A span, kept in reduced row echelon form: each row's lowest column is set in no other row. So two equal spans have
/// equal rows, whatever they were made from.
class RowSpace {
 public:
  /// True when the row was not in the span yet.
  bool add(const BitRow& row);
  [[nodiscard]] bool contains(const BitRow& row) const noexcept { return !reduced(row).any(); }
  [[nodiscard]] unsigned rank() const noexcept { return static_cast<unsigned>(m_rows.size()); }
  /// The row less everything that the span can take off its pivots.
  [[nodiscard]] BitRow reduced(BitRow row) const noexcept;
  /// By ascending pivot.
  [[nodiscard]] const std::vector<BitRow>& rows() const noexcept { return m_rows; }
  /// The lowest columns of all rows: a functional on the span is known by its columns there.
  [[nodiscard]] BitRow pivots() const noexcept { return m_pivots; }

 private:
  std::vector<BitRow> m_rows;
  BitRow m_pivots;
};

/// All masks within `columns` whose scalar product with every row of the space is 0, in reduced row echelon form.
/// Precondition: the rows lie within `columns`.
[[nodiscard]] RowSpace annihilator(const RowSpace& space, const BitRow& columns);

}  // namespace gpusonde
