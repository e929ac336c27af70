// Which nodes of an expression are linear over GF(2): every bit of the value is the parity of some bits of the
// address, or of other words made from it, plus a constant.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <vector>

#include "model/expression.hpp"

namespace gpusonde {

/// One bit: a mask over each word it depends on, by the word's node. No mask is 0.
using BitMasks = std::map<std::uint32_t, std::uint64_t>;

struct LinearForm {
  std::array<BitMasks, 64> bits;
  std::uint64_t constant = 0;  ///< added (XOR) to the parities

  /// Bits that depend on the address.
  [[nodiscard]] std::uint64_t varying_bits() const noexcept;
};

/// For every node its form, or nothing. A word chain that is not linear itself (a / 1152, a + 8) becomes a
/// word of its own, over which further nodes are linear.
[[nodiscard]] std::vector<std::optional<LinearForm>> linear_forms(const Expression& expression);

}  // namespace gpusonde
