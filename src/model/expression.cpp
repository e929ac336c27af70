#include "model/expression.hpp"

#include <array>
#include <bit>
#include <utility>

namespace gpusonde {

std::uint64_t apply(Op op, std::uint64_t a, std::uint64_t b, std::uint64_t c,
                    const std::vector<std::uint64_t>* table) noexcept {
  switch (op) {
    case Op::constant:
    case Op::address: return 0;
    case Op::logical_not: return a == 0 ? 1 : 0;
    case Op::bit_not: return ~a;
    case Op::negate: return 0 - a;
    case Op::parity: return static_cast<std::uint64_t>(std::popcount(a) & 1);
    case Op::add: return a + b;
    case Op::subtract: return a - b;
    case Op::multiply: return a * b;
    case Op::divide: return b == 0 ? 0 : a / b;
    case Op::modulo: return b == 0 ? 0 : a % b;
    case Op::shift_left: return b > 63 ? 0 : a << b;
    case Op::shift_right: return b > 63 ? 0 : a >> b;
    case Op::less: return a < b ? 1 : 0;
    case Op::less_equal: return a <= b ? 1 : 0;
    case Op::equal: return a == b ? 1 : 0;
    case Op::not_equal: return a != b ? 1 : 0;
    case Op::bit_and: return a & b;
    case Op::bit_xor: return a ^ b;
    case Op::bit_or: return a | b;
    case Op::logical_and: return a != 0 && b != 0 ? 1 : 0;
    case Op::logical_or: return a != 0 || b != 0 ? 1 : 0;
    case Op::choose: return a != 0 ? b : c;
    case Op::lookup: return (*table)[a % table->size()];
  }
  return 0;
}

std::uint64_t evaluate(const Expression& expression, std::uint64_t address) noexcept {
  std::array<std::uint64_t, k_most_expression_nodes> values;
  for (std::size_t i = 0; i < expression.nodes.size(); ++i) {
    const auto& node = expression.nodes[i];
    switch (operand_count(node.op)) {
      case 0: values[i] = node.op == Op::address ? address : node.value; break;
      case 1:
        values[i] =
            apply(node.op, values[node.a], 0, 0, node.op == Op::lookup ? &expression.tables[node.value] : nullptr);
        break;
      case 2: values[i] = apply(node.op, values[node.a], values[node.b], 0, nullptr); break;
      default: values[i] = apply(node.op, values[node.a], values[node.b], values[node.c], nullptr); break;
    }
  }
  return values[expression.root];
}

std::uint32_t ExpressionBuilder::add(const ExpressionNode& node) {
  const auto [at, is_new] = m_known.try_emplace(node, static_cast<std::uint32_t>(m_expression.nodes.size()));
  if (is_new) m_expression.nodes.push_back(node);
  return at->second;
}

std::uint32_t ExpressionBuilder::constant(std::uint64_t value) { return add({Op::constant, 0, 0, 0, value}); }

std::uint32_t ExpressionBuilder::address() { return add({Op::address, 0, 0, 0, 0}); }

std::uint32_t ExpressionBuilder::make(Op op, std::uint32_t a, std::uint32_t b, std::uint32_t c) {
  const unsigned count = operand_count(op);
  const auto is_constant = [&](std::uint32_t at) { return node(at).op == Op::constant; };
  if (is_constant(a) && (count < 2 || is_constant(b)) && (count < 3 || is_constant(c)))
    return constant(apply(op, node(a).value, count < 2 ? 0 : node(b).value, count < 3 ? 0 : node(c).value, nullptr));
  if (op == Op::choose && is_constant(a)) return node(a).value != 0 ? b : c;
  return add({op, a, b, c, 0});
}

std::uint32_t ExpressionBuilder::lookup(std::vector<std::uint64_t> table, std::uint32_t index) {
  if (node(index).op == Op::constant) return constant(table[node(index).value % table.size()]);
  auto& tables = m_expression.tables;
  std::size_t which = 0;
  while (which < tables.size() && tables[which] != table) ++which;
  if (which == tables.size()) tables.push_back(std::move(table));
  return add({Op::lookup, index, 0, 0, which});
}

Expression ExpressionBuilder::finish(std::uint32_t root) const {
  std::vector<bool> is_used(m_expression.nodes.size(), false);
  is_used[root] = true;
  for (std::uint32_t i = root + 1; i-- > 0;) {
    if (!is_used[i]) continue;
    const auto& each = node(i);
    const unsigned count = operand_count(each.op);
    if (count > 0) is_used[each.a] = true;
    if (count > 1) is_used[each.b] = true;
    if (count > 2) is_used[each.c] = true;
  }
  Expression kept;
  kept.tables = m_expression.tables;
  std::vector<std::uint32_t> moved(root + 1, 0);
  for (std::uint32_t i = 0; i <= root; ++i) {
    if (!is_used[i]) continue;
    moved[i] = static_cast<std::uint32_t>(kept.nodes.size());
    auto each = node(i);
    const unsigned count = operand_count(each.op);
    if (count > 0) each.a = moved[each.a];
    if (count > 1) each.b = moved[each.b];
    if (count > 2) each.c = moved[each.c];
    kept.nodes.push_back(each);
  }
  kept.root = moved[root];
  return kept;
}

}  // namespace gpusonde
