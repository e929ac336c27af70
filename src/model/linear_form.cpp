#include "model/linear_form.hpp"

#include <bit>
#include <limits>

#include "model/expression_bounds.hpp"
#include "model/word_chain.hpp"

namespace gpusonde {
namespace {

void add_to(BitMasks& sum, const BitMasks& masks) {
  for (const auto& [word, mask] : masks) {
    auto& mine = sum[word];
    mine ^= mask;
    if (mine == 0) sum.erase(word);
  }
}

/// Bits that are not always 0.
std::uint64_t possible_bits(const LinearForm& form) { return form.varying_bits() | form.constant; }

LinearForm word_itself(std::uint32_t node, std::uint64_t bound) {
  LinearForm form;
  const auto width = static_cast<std::size_t>(std::bit_width(bound));
  for (std::size_t bit = 0; bit < width; ++bit) form.bits[bit] = {{node, std::uint64_t{1} << bit}};
  return form;
}

LinearForm sum(const LinearForm& a, const LinearForm& b) {
  LinearForm form = a;
  for (std::size_t bit = 0; bit < 64; ++bit) add_to(form.bits[bit], b.bits[bit]);
  form.constant ^= b.constant;
  return form;
}

LinearForm masked(const LinearForm& a, std::uint64_t mask) {
  LinearForm form;
  form.constant = a.constant & mask;
  for (std::size_t bit = 0; bit < 64; ++bit)
    if ((mask >> bit & 1) != 0) form.bits[bit] = a.bits[bit];
  return form;
}

/// To the left when `by` is above 0.
LinearForm shifted(const LinearForm& a, int by) {
  LinearForm form;
  form.constant = by >= 0 ? a.constant << by : a.constant >> -by;
  for (int bit = 0; bit < 64; ++bit)
    if (bit - by >= 0 && bit - by < 64)
      form.bits[static_cast<std::size_t>(bit)] = a.bits[static_cast<std::size_t>(bit - by)];
  return form;
}

LinearForm parity(const LinearForm& a) {
  LinearForm form;
  for (const auto& bit : a.bits) add_to(form.bits[0], bit);
  form.constant = static_cast<std::uint64_t>(std::popcount(a.constant) & 1);
  return form;
}

LinearForm with_constant(LinearForm form, std::uint64_t constant) {
  form.constant ^= constant;
  return form;
}

/// Operations of one linear operand and a constant.
std::optional<LinearForm> with_constant_operand(Op op, const LinearForm& a, std::uint64_t b) {
  const bool is_power = std::has_single_bit(b);
  switch (op) {
    case Op::bit_and: return masked(a, b);
    case Op::bit_or: return with_constant(masked(a, ~b), b);
    case Op::shift_left: return b > 63 ? LinearForm{} : shifted(a, static_cast<int>(b));
    case Op::shift_right: return b > 63 ? LinearForm{} : shifted(a, -static_cast<int>(b));
    case Op::multiply: return is_power ? std::optional(shifted(a, std::countr_zero(b))) : std::nullopt;
    case Op::divide: return is_power ? std::optional(shifted(a, -std::countr_zero(b))) : std::nullopt;
    case Op::modulo: return is_power ? std::optional(masked(a, b - 1)) : std::nullopt;
    default: return std::nullopt;
  }
}

std::optional<LinearForm> combined(const ExpressionNode& node, const LinearForm& a, const LinearForm& b) {
  const auto both = possible_bits(a) | possible_bits(b);
  if (node.op == Op::bit_xor) return sum(a, b);
  if (node.op == Op::not_equal && both <= 1) return sum(a, b);
  if (node.op == Op::equal && both <= 1) return with_constant(sum(a, b), 1);
  const bool is_disjoint = (possible_bits(a) & possible_bits(b)) == 0;
  if ((node.op == Op::bit_or || node.op == Op::add) && is_disjoint) return sum(a, b);
  if (b.varying_bits() == 0) return with_constant_operand(node.op, a, b.constant);
  const bool is_commutative = node.op == Op::bit_and || node.op == Op::bit_or || node.op == Op::multiply;
  if (a.varying_bits() == 0 && is_commutative) return with_constant_operand(node.op, b, a.constant);
  return std::nullopt;
}

}  // namespace

std::uint64_t LinearForm::varying_bits() const noexcept {
  std::uint64_t varying = 0;
  for (std::size_t bit = 0; bit < 64; ++bit)
    if (!bits[bit].empty()) varying |= std::uint64_t{1} << bit;
  return varying;
}

std::vector<std::optional<LinearForm>> linear_forms(const Expression& expression) {
  const auto bounds = upper_bounds(expression);
  std::vector<std::optional<LinearForm>> forms;
  for (std::uint32_t i = 0; i < expression.nodes.size(); ++i) {
    const auto& node = expression.nodes[i];
    const auto count = operand_count(node.op);
    std::optional<LinearForm> form;
    if (node.op == Op::address) form = word_itself(i, std::numeric_limits<std::uint64_t>::max());
    if (node.op == Op::constant) form = with_constant({}, node.value);
    if (count == 1 && forms[node.a]) {
      const auto& a = *forms[node.a];
      if (node.op == Op::parity) form = parity(a);
      if (node.op == Op::bit_not) form = with_constant(a, std::numeric_limits<std::uint64_t>::max());
      if (node.op == Op::logical_not && possible_bits(a) <= 1) form = with_constant(a, 1);
    }
    if (count == 2 && forms[node.a] && forms[node.b]) form = combined(node, *forms[node.a], *forms[node.b]);
    // A remainder is left to the compiler, which has a cheaper way for it than its bits.
    if (!form && node.op != Op::modulo && WordChain::of(expression, i)) form = word_itself(i, bounds[i]);
    forms.push_back(std::move(form));
  }
  return forms;
}

}  // namespace gpusonde
