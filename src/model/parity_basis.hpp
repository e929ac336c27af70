// Sets of parities: which of them are independent, and how they are computed together.
#pragma once

#include <cstdint>
#include <vector>

#include "model/compiled_function.hpp"
#include "model/expression.hpp"
#include "model/linear_form.hpp"

namespace gpusonde {

/// Parities none of which is a sum (XOR) of others.
class ParityBasis {
 public:
  /// Does nothing when the parity is empty or a sum of members, or when there are 32 members.
  void add(const BitMasks& parity);
  [[nodiscard]] unsigned size() const noexcept { return static_cast<unsigned>(m_members.size()); }
  [[nodiscard]] const BitMasks& member(unsigned i) const { return m_members[i]; }
  /// Which members the parity is the sum of, as bits. Precondition: it was added.
  [[nodiscard]] std::uint32_t members(const BitMasks& parity) const;

 private:
  struct Row {
    BitMasks masks;         ///< its leading bit occurs in no later row
    std::uint32_t members;  ///< whose sum it is
  };
  /// The parity with all rows' leading bits removed, and the members removed with them.
  [[nodiscard]] Row reduced(const BitMasks& parity) const;

  std::vector<BitMasks> m_members;
  std::vector<Row> m_rows;
};

/// Parities that each flip some bits of a packed word.
class PackedParities {
 public:
  void add(const BitMasks& parity, std::uint64_t flips);
  /// Byte-indexed tables, one set for each word that a parity depends on.
  [[nodiscard]] std::vector<CompiledFunction::ParityWord> words(const Expression& expression) const;

 private:
  std::vector<std::pair<BitMasks, std::uint64_t>> m_parities;
};

}  // namespace gpusonde
