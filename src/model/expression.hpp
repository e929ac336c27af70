// The expressions that hash functions are made of: a graph of operations on unsigned 64-bit values with
// one input, the address. Every operation is total, so that any program has a value everywhere:
// dividing by 0 gives 0, shifting by 64 or more gives 0, a table index is taken modulo the table's length.
#pragma once

#include <cstdint>
#include <map>
#include <tuple>
#include <vector>

namespace gpusonde {

enum class Op : std::uint8_t {
  constant,
  address,
  logical_not,
  bit_not,
  negate,
  parity,
  add,
  subtract,
  multiply,
  divide,
  modulo,
  shift_left,
  shift_right,
  less,
  less_equal,
  equal,
  not_equal,
  bit_and,
  bit_xor,
  bit_or,
  logical_and,
  logical_or,
  choose,  ///< a ? b : c
  lookup,  ///< tables[value][a]
};

/// Number of operands an operation takes.
[[nodiscard]] constexpr unsigned operand_count(Op op) noexcept {
  if (op <= Op::address) return 0;
  if (op <= Op::parity || op == Op::lookup) return 1;
  return op == Op::choose ? 3 : 2;
}

struct ExpressionNode {
  Op op = Op::constant;
  std::uint32_t a = 0;  ///< operands, as positions in Expression::nodes, always below the node's own
  std::uint32_t b = 0;
  std::uint32_t c = 0;
  std::uint64_t value = 0;  ///< the constant, or which table

  auto operator<=>(const ExpressionNode&) const = default;
};

/// Larger programs are refused, so that evaluation needs no allocation.
inline constexpr std::uint32_t k_most_expression_nodes = 1024;

/// Invariant: operands come before the operations that use them; equal nodes exist once.
struct Expression {
  std::vector<ExpressionNode> nodes;
  std::vector<std::vector<std::uint64_t>> tables;  ///< none empty
  std::uint32_t root = 0;
};

/// One operation on values. `table` is used by `lookup` alone.
[[nodiscard]] std::uint64_t apply(Op op, std::uint64_t a, std::uint64_t b, std::uint64_t c,
                                  const std::vector<std::uint64_t>* table) noexcept;

/// Precondition: at most k_most_expression_nodes nodes.
[[nodiscard]] std::uint64_t evaluate(const Expression& expression, std::uint64_t address) noexcept;

/// Makes nodes, sharing equal ones and folding constants.
class ExpressionBuilder {
 public:
  std::uint32_t constant(std::uint64_t value);
  std::uint32_t address();
  std::uint32_t make(Op op, std::uint32_t a, std::uint32_t b = 0, std::uint32_t c = 0);
  std::uint32_t lookup(std::vector<std::uint64_t> table, std::uint32_t index);

  [[nodiscard]] const ExpressionNode& node(std::uint32_t at) const { return m_expression.nodes[at]; }
  [[nodiscard]] std::size_t size() const noexcept { return m_expression.nodes.size(); }
  /// The finished graph, without the nodes that `root` does not use.
  [[nodiscard]] Expression finish(std::uint32_t root) const;

 private:
  std::uint32_t add(const ExpressionNode& node);

  Expression m_expression;
  std::map<ExpressionNode, std::uint32_t> m_known;
};

}  // namespace gpusonde
