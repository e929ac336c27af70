#include "model/word_chain.hpp"

#include <algorithm>
#include <utility>

namespace gpusonde {
namespace {

bool is_commutative(Op op) { return op == Op::add || op == Op::multiply || op == Op::bit_and || op == Op::bit_xor; }

bool can_be_step(Op op, std::uint64_t operand) {
  switch (op) {
    case Op::shift_left:
    case Op::shift_right: return operand < 64;
    case Op::divide:
    case Op::modulo: return operand > 0;
    case Op::subtract: return true;
    default: return is_commutative(op);
  }
}

}  // namespace

std::optional<WordChain> WordChain::of(const Expression& expression, std::uint32_t node) {
  WordChain chain;
  const auto& nodes = expression.nodes;
  for (std::uint32_t at = node; nodes[at].op != Op::address;) {
    const auto& each = nodes[at];
    if (operand_count(each.op) != 2) return std::nullopt;
    auto [input, constant] = std::pair{each.a, each.b};
    if (is_commutative(each.op) && nodes[input].op == Op::constant) std::swap(input, constant);
    if (nodes[constant].op != Op::constant || !can_be_step(each.op, nodes[constant].value)) return std::nullopt;
    const auto operand = nodes[constant].value;
    if (each.op == Op::subtract)
      chain.m_steps.push_back({Op::add, 0 - operand, Divider(1)});
    else
      chain.m_steps.push_back({each.op, operand, Divider(std::max<std::uint64_t>(operand, 1))});
    at = input;
  }
  std::reverse(chain.m_steps.begin(), chain.m_steps.end());
  return chain;
}

}  // namespace gpusonde
