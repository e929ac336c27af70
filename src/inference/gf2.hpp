// Linear algebra over the field of two elements, a vector being the bits of a 64-bit word: what address hashes made
// of parities span, and which differences of addresses they cannot see.
#pragma once

#include <array>
#include <bit>
#include <cstdint>
#include <span>
#include <vector>

namespace gpusonde {

/// 1 when an odd number of bits is set.
[[nodiscard]] constexpr unsigned parity(std::uint64_t word) noexcept {
  return static_cast<unsigned>(std::popcount(word)) & 1U;
}

/// A span that grows vector by vector.
class Gf2Span {
 public:
  Gf2Span() = default;
  explicit Gf2Span(std::span<const std::uint64_t> rows);

  /// False, and no change, when the row is a sum of members.
  bool insert(std::uint64_t row) noexcept;
  [[nodiscard]] bool contains(std::uint64_t row) const noexcept { return remainder(row) == 0; }
  [[nodiscard]] unsigned rank() const noexcept { return m_rank; }
  /// The reduced row echelon form, leading bits descending: the same for every way to give the same span.
  [[nodiscard]] std::vector<std::uint64_t> echelon() const;

 private:
  [[nodiscard]] std::uint64_t remainder(std::uint64_t row) const noexcept;

  std::array<std::uint64_t, 64> m_row_by_leading_bit{};
  unsigned m_rank = 0;
};

[[nodiscard]] unsigned rank(std::span<const std::uint64_t> rows);
[[nodiscard]] bool same_span(std::span<const std::uint64_t> a, std::span<const std::uint64_t> b);

/// All 2^n sums of a basis of n rows; entry i sums the rows whose bits are set in i. Precondition: n <= 24.
[[nodiscard]] std::vector<std::uint64_t> span_members(std::span<const std::uint64_t> basis);

/// A basis of all masks m within `bits` with parity(m & d) == 0 for every difference d, in reduced row echelon form.
[[nodiscard]] std::vector<std::uint64_t> annihilator(std::span<const std::uint64_t> differences, std::uint64_t bits);

/// A basis of what both span, in reduced row echelon form.
[[nodiscard]] std::vector<std::uint64_t> span_intersection(std::span<const std::uint64_t> a,
                                                           std::span<const std::uint64_t> b);

/// The basis people write: of the members of the span, lightest first and then smallest first, each that is no sum of
/// those before. Two spans are equal exactly when these are. Above rank 16 light rows are only sought among sums of
/// two; that still depends on the span alone.
[[nodiscard]] std::vector<std::uint64_t> canonical_basis(std::span<const std::uint64_t> masks);

}  // namespace gpusonde
