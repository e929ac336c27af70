#include "model/hash_compiler.hpp"

#include <algorithm>
#include <bit>
#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "model/linear_form.hpp"
#include "model/parity_basis.hpp"
#include "model/remainder_split.hpp"

namespace gpusonde {
namespace {

constexpr std::uint64_t k_largest_table = std::uint64_t{1} << 20;
constexpr std::uint64_t k_most_evaluations = std::uint64_t{1} << 26;  ///< of nodes; about a quarter of a second
constexpr unsigned k_most_linear_bits = 32;

/// The expression is cut at the lowest nodes that are cheap to compute: linear ones and remainders of word
/// chains. What lies above them is a finite function.
class Compiler {
 public:
  explicit Compiler(const Expression& expression)
      : m_expression(split_remainders(expression)), m_forms(linear_forms(m_expression)) {}

  std::optional<CompiledFunction> run() {
    const auto root = m_expression.root;
    if (const auto& form = m_forms[root]; form && is_narrow(*form)) return linear(*form);
    m_is_visited.resize(m_expression.nodes.size());
    if (!cut_below(root)) return std::nullopt;
    for (const auto node : m_linear_cuts)
      for (const auto& bit : m_forms[node]->bits) m_basis.add(bit);
    if (m_remainder_cuts.size() == 1 && m_remainder_cuts[0] == root) return remainder_alone();
    std::uint64_t size = m_basis.size() > 20 ? k_largest_table + 1 : std::uint64_t{1} << m_basis.size();
    for (const auto node : m_remainder_cuts) {
      const auto divisor = divisor_of(node);
      if (size > k_largest_table || divisor > k_largest_table) return std::nullopt;
      size *= divisor;
    }
    if (size > k_largest_table || size * m_expression.nodes.size() > k_most_evaluations) return std::nullopt;
    return tabulated(static_cast<std::uint32_t>(size));
  }

 private:
  static bool is_narrow(const LinearForm& form) {
    return static_cast<unsigned>(std::popcount(form.varying_bits())) <= k_most_linear_bits;
  }
  [[nodiscard]] std::uint64_t divisor_of(std::uint32_t remainder) const {
    return m_expression.nodes[m_expression.nodes[remainder].b].value;
  }

  bool cut_below(std::uint32_t at) {
    if (m_is_visited[at]) return true;
    m_is_visited[at] = true;
    const auto& node = m_expression.nodes[at];
    if (node.op == Op::constant) return true;
    if (m_forms[at] && is_narrow(*m_forms[at])) {
      m_linear_cuts.push_back(at);
      return true;
    }
    if (node.op == Op::modulo && m_expression.nodes[node.b].op == Op::constant && divisor_of(at) > 0 &&
        WordChain::of(m_expression, node.a)) {
      m_remainder_cuts.push_back(at);
      return true;
    }
    const auto count = operand_count(node.op);
    return count > 0 && cut_below(node.a) && (count < 2 || cut_below(node.b)) && (count < 3 || cut_below(node.c));
  }

  /// The whole function is parities: its low 32 bits, without a table.
  CompiledFunction linear(const LinearForm& form) const {
    CompiledFunction compiled;
    compiled.constant = form.constant << 32;
    PackedParities parities;
    for (unsigned bit = 0; bit < 32; ++bit) parities.add(form.bits[bit], std::uint64_t{1} << (32 + bit));
    compiled.parity_words = parities.words(m_expression);
    return compiled;
  }

  [[nodiscard]] CompiledFunction::Remainder remainder(std::uint32_t node, std::uint32_t stride) const {
    return {*WordChain::of(m_expression, m_expression.nodes[node].a), Divider(divisor_of(node)), stride};
  }

  [[nodiscard]] CompiledFunction remainder_alone() const {
    CompiledFunction compiled;
    compiled.remainders.push_back(remainder(m_expression.root, 1));
    return compiled;
  }

  [[nodiscard]] CompiledFunction tabulated(std::uint32_t size) const {
    CompiledFunction compiled;
    auto stride = std::uint32_t{1} << m_basis.size();
    for (const auto node : m_remainder_cuts) {
      compiled.remainders.push_back(remainder(node, stride));
      stride *= static_cast<std::uint32_t>(divisor_of(node));
    }
    compiled.table.reserve(size);
    Evaluation evaluation(*this);
    for (std::uint32_t selection = 0; selection < size; ++selection)
      compiled.table.push_back(evaluation.value(selection));
    move_linear_bits(compiled);
    return compiled;
  }

  /// The expression's value for given parities and remainders.
  class Evaluation {
   public:
    explicit Evaluation(const Compiler& compiler) : m_compiler(compiler), m_values(nodes().size()) {
      for (const auto node : compiler.m_linear_cuts) add_linear(node);
      std::vector<bool> is_cut(nodes().size(), false);
      for (const auto node : compiler.m_linear_cuts) is_cut[node] = true;
      for (const auto node : compiler.m_remainder_cuts) is_cut[node] = true;
      for (std::uint32_t i = 0; i < nodes().size(); ++i) {
        if (nodes()[i].op == Op::constant)
          m_values[i] = nodes()[i].value;
        else if (compiler.m_is_visited[i] && !is_cut[i])
          m_order.push_back(i);
      }
    }

    std::uint32_t value(std::uint32_t selection) {
      const auto basis_size = m_compiler.m_basis.size();
      const auto parities = selection & ((std::uint32_t{1} << basis_size) - 1);
      for (const auto& cut : m_linear) {
        std::uint64_t value = cut.constant;
        for (const auto& [bit, members] : cut.bits)
          value ^= static_cast<std::uint64_t>(std::popcount(members & parities) & 1) << bit;
        m_values[cut.node] = value;
      }
      auto rest = selection >> basis_size;
      for (const auto node : m_compiler.m_remainder_cuts) {
        const auto divisor = static_cast<std::uint32_t>(m_compiler.divisor_of(node));
        m_values[node] = rest % divisor;
        rest /= divisor;
      }
      for (const auto at : m_order) {
        const auto& node = nodes()[at];
        m_values[at] = apply(node.op, m_values[node.a], m_values[node.b], m_values[node.c],
                             node.op == Op::lookup ? &m_compiler.m_expression.tables[node.value] : nullptr);
      }
      return static_cast<std::uint32_t>(m_values[m_compiler.m_expression.root]);
    }

   private:
    struct LinearCut {
      std::uint32_t node;
      std::uint64_t constant;
      std::vector<std::pair<unsigned, std::uint32_t>> bits;  ///< position, and the basis members it is the sum of
    };
    [[nodiscard]] const std::vector<ExpressionNode>& nodes() const { return m_compiler.m_expression.nodes; }
    void add_linear(std::uint32_t node) {
      const auto& form = *m_compiler.m_forms[node];
      LinearCut cut{node, form.constant, {}};
      for (unsigned bit = 0; bit < 64; ++bit)
        if (!form.bits[bit].empty()) cut.bits.emplace_back(bit, m_compiler.m_basis.members(form.bits[bit]));
      m_linear.push_back(std::move(cut));
    }

    const Compiler& m_compiler;
    std::vector<std::uint64_t> m_values;
    std::vector<LinearCut> m_linear;
    std::vector<std::uint32_t> m_order;
  };

  /// A parity that flips the same bits of the value wherever it occurs needs no place in the table: it is
  /// added to the value directly. What is left is often a handful of entries.
  void move_linear_bits(CompiledFunction& compiled) const {
    PackedParities parities;
    unsigned kept = 0;
    for (unsigned i = 0; i < m_basis.size(); ++i) {
      auto& table = compiled.table;
      const std::uint32_t bit = std::uint32_t{1} << kept;
      const auto flips = table[0] ^ table[bit];
      bool is_linear = true;
      for (std::uint32_t at = 0; at < table.size() && is_linear; ++at)
        if ((at & bit) == 0) is_linear = (table[at] ^ table[at | bit]) == flips;
      if (!is_linear) {
        parities.add(m_basis.member(i), bit);
        ++kept;
        continue;
      }
      parities.add(m_basis.member(i), std::uint64_t{flips} << 32);
      std::vector<std::uint32_t> halved;
      halved.reserve(table.size() / 2);
      for (std::uint32_t at = 0; at < table.size(); ++at)
        if ((at & bit) == 0) halved.push_back(table[at]);
      table = std::move(halved);
      for (auto& each : compiled.remainders) each.stride /= 2;
    }
    compiled.parity_words = parities.words(m_expression);
    bool is_identity = true;
    for (std::uint32_t at = 0; at < compiled.table.size() && is_identity; ++at) is_identity = compiled.table[at] == at;
    if (is_identity) compiled.table.clear();
  }

  Expression m_expression;
  std::vector<std::optional<LinearForm>> m_forms;
  std::vector<bool> m_is_visited;
  std::vector<std::uint32_t> m_linear_cuts;
  std::vector<std::uint32_t> m_remainder_cuts;
  ParityBasis m_basis;
};

}  // namespace

std::optional<CompiledFunction> compile(const Expression& expression) { return Compiler(expression).run(); }

}  // namespace gpusonde
