// A class of an address (the L2 slice of a line, say) as a function: a table over parities of address bits and over
// residues of the address to small odd moduli. XOR hashes are those without residues, (a / unit) % count those whose
// parities are single bits, and the published hashes of chips with 36 or 48 slices have both.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace gpusonde {

/// ((address + addend) >> shift) % modulus, the modulus odd.
struct ResidueTerm {
  unsigned shift = 0;
  std::uint64_t addend = 0;
  std::uint32_t modulus = 3;

  [[nodiscard]] std::uint32_t operator()(std::uint64_t address) const noexcept {
    return static_cast<std::uint32_t>(((address + addend) >> shift) % modulus);
  }
  bool operator==(const ResidueTerm&) const = default;
};

/// What the table is indexed by.
struct ClassKey {
  std::vector<std::uint64_t> masks;  ///< at most 24, independent
  std::vector<ResidueTerm> terms;    ///< first is the most significant digit

  /// Bit i is the parity of address & masks[i].
  [[nodiscard]] std::uint32_t parities(std::uint64_t address) const noexcept;
  /// Mixed radix: the residues above, the parities below.
  [[nodiscard]] std::size_t operator()(std::uint64_t address) const noexcept;
  /// The same in a page that adds constants of its own. `residue_constants`: one a term.
  [[nodiscard]] std::size_t in_page(std::uint64_t offset, std::uint32_t parity_constant,
                                    std::span<const std::uint32_t> residue_constants) const noexcept;
  [[nodiscard]] std::size_t residue_count() const noexcept;
  [[nodiscard]] std::size_t size() const noexcept { return residue_count() << masks.size(); }
};

struct ClassFunction {
  static constexpr std::int32_t k_never_seen = -1;

  ClassKey key;                        ///< its masks are the canonical basis, see gf2.hpp
  std::vector<std::uint32_t> classes;  ///< the labels that occur, ascending
  std::vector<std::int32_t> table;     ///< position in `classes` by key, or k_never_seen
  std::uint64_t known_bits = 0;        ///< bits of the address that varied, and those within a line
  std::uint64_t other_bits = 0;        ///< value of all other bits in the data; what they do is unknown

  /// The label; nothing for a key never seen and for an address that differs in bits that never varied.
  [[nodiscard]] std::optional<std::uint32_t> operator()(std::uint64_t address) const noexcept;
  /// The label of an offset in a page with constants of its own, see `ClassKey::in_page`.
  [[nodiscard]] std::optional<std::uint32_t> in_page(std::uint64_t offset, std::uint32_t parity_constant,
                                                     std::span<const std::uint32_t> residue_constants) const noexcept;
  /// The classes are a vector space under the masks: no terms, 2^rank classes, each of one key.
  [[nodiscard]] bool is_linear() const;
  [[nodiscard]] std::size_t keys_never_seen() const;
  /// A program in the hash language of model files whose value is the label. Keys never seen get the first label, and
  /// a comment says so.
  [[nodiscard]] std::string text() const;

 private:
  [[nodiscard]] std::optional<std::uint32_t> label(std::size_t at) const noexcept;
  /// The labels as constants to XOR, the first for key 0, then one a mask; empty when they are no such sum.
  [[nodiscard]] std::vector<std::uint32_t> xor_constants() const;
};

}  // namespace gpusonde
