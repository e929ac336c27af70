#include "model/remainder_split.hpp"

#include <limits>
#include <vector>

#include "model/expression_bounds.hpp"
#include "model/word_chain.hpp"

namespace gpusonde {
namespace {

class Rewriter {
 public:
  explicit Rewriter(const Expression& from) : m_from(from), m_bounds(upper_bounds(from)) {}

  Expression run() {
    for (const auto& node : m_from.nodes) m_moved.push_back(copy(node));
    auto split = m_to.finish(m_moved[m_from.root]);
    // Remainders that were added may make a long program too long to evaluate; it then stays as it is.
    return split.nodes.size() <= k_most_expression_nodes ? split : m_from;
  }

 private:
  std::uint32_t copy(const ExpressionNode& node) {
    switch (node.op) {
      case Op::constant: return m_to.constant(node.value);
      case Op::address: return m_to.address();
      case Op::lookup: return m_to.lookup(m_from.tables[node.value], m_moved[node.a]);
      case Op::modulo: return m_to.make(Op::modulo, dividend(node), m_moved[node.b]);
      default: break;
    }
    const auto count = operand_count(node.op);
    return m_to.make(node.op, m_moved[node.a], count > 1 ? m_moved[node.b] : 0, count > 2 ? m_moved[node.c] : 0);
  }

  /// The first operand of a remainder, its large terms replaced by their remainders.
  std::uint32_t dividend(const ExpressionNode& node) {
    const auto& divisor = m_from.nodes[node.b];
    const bool is_sum = m_from.nodes[node.a].op == Op::add;
    if (divisor.op != Op::constant || divisor.value == 0 || !is_sum || WordChain::of(m_from, node.a))
      return m_moved[node.a];
    // A bound below the largest value says that no sum in here can wrap.
    if (m_bounds[node.a] == std::numeric_limits<std::uint64_t>::max()) return m_moved[node.a];
    return reduced_terms(node.a, node.b);
  }

  std::uint32_t reduced_terms(std::uint32_t term, std::uint32_t divisor) {
    const auto& node = m_from.nodes[term];
    if (node.op != Op::constant && m_bounds[term] >= m_from.nodes[divisor].value && WordChain::of(m_from, term))
      return m_to.make(Op::modulo, m_moved[term], m_moved[divisor]);
    if (node.op != Op::add) return m_moved[term];
    return m_to.make(Op::add, reduced_terms(node.a, divisor), reduced_terms(node.b, divisor));
  }

  const Expression& m_from;
  std::vector<std::uint64_t> m_bounds;
  ExpressionBuilder m_to;
  std::vector<std::uint32_t> m_moved;
};

}  // namespace

Expression split_remainders(const Expression& expression) { return Rewriter(expression).run(); }

}  // namespace gpusonde
