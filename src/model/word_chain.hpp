// A value computed from the address by operations with constants, one after the other:
// `(a + 0x10000) >> 17`, `a / 1152`.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "model/divider.hpp"
#include "model/expression.hpp"

namespace gpusonde {

class WordChain {
 public:
  /// Nothing when the node is not such a chain.
  [[nodiscard]] static std::optional<WordChain> of(const Expression& expression, std::uint32_t node);

  [[nodiscard]] std::uint64_t operator()(std::uint64_t address) const noexcept {
    std::uint64_t value = address;
    for (const auto& step : m_steps) {
      switch (step.op) {
        case Op::shift_right: value >>= step.operand; break;
        case Op::shift_left: value <<= step.operand; break;
        case Op::add: value += step.operand; break;
        case Op::multiply: value *= step.operand; break;
        case Op::bit_and: value &= step.operand; break;
        case Op::bit_xor: value ^= step.operand; break;
        case Op::divide: value = step.divider.quotient(value); break;
        default: value = step.divider.remainder(value); break;
      }
    }
    return value;
  }

 private:
  struct Step {
    Op op;
    std::uint64_t operand;
    Divider divider;
  };
  std::vector<Step> m_steps;
};

}  // namespace gpusonde
