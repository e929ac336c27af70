#include "model/expression_bounds.hpp"

#include <algorithm>
#include <bit>
#include <limits>

#include "core/random.hpp"

namespace gpusonde {
namespace {

constexpr std::uint64_t k_any = std::numeric_limits<std::uint64_t>::max();

std::uint64_t capped(uint128 value) { return value > k_any ? k_any : static_cast<std::uint64_t>(value); }

/// All bits up to the highest one.
std::uint64_t filled(std::uint64_t value) { return value == 0 ? 0 : k_any >> std::countl_zero(value); }

std::uint64_t bound(const Expression& expression, const ExpressionNode& node, const std::vector<std::uint64_t>& known) {
  const bool is_constant_b = operand_count(node.op) > 1 && expression.nodes[node.b].op == Op::constant;
  const auto a = operand_count(node.op) > 0 ? known[node.a] : 0;
  const auto b = operand_count(node.op) > 1 ? known[node.b] : 0;
  switch (node.op) {
    case Op::constant: return node.value;
    case Op::address:
    case Op::bit_not:
    case Op::negate:
    case Op::subtract: return k_any;
    case Op::add: return capped(static_cast<uint128>(a) + b);
    case Op::multiply: return capped(static_cast<uint128>(a) * b);
    case Op::divide: return is_constant_b ? apply(Op::divide, a, b, 0, nullptr) : a;
    case Op::modulo: return b == 0 ? 0 : std::min(a, b - 1);
    case Op::shift_left: return is_constant_b && b < 64 ? capped(static_cast<uint128>(a) << b) : k_any;
    case Op::shift_right: return is_constant_b ? apply(Op::shift_right, a, b, 0, nullptr) : a;
    case Op::bit_and: return std::min(a, b);
    case Op::bit_xor:
    case Op::bit_or: return filled(a | b);
    case Op::choose: return std::max(b, known[node.c]);
    case Op::lookup:
      return *std::max_element(expression.tables[node.value].begin(), expression.tables[node.value].end());
    default: return 1;
  }
}

}  // namespace

std::vector<std::uint64_t> upper_bounds(const Expression& expression) {
  std::vector<std::uint64_t> known;
  known.reserve(expression.nodes.size());
  for (const auto& node : expression.nodes) known.push_back(bound(expression, node, known));
  return known;
}

}  // namespace gpusonde
