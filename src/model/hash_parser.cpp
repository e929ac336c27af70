#include "model/hash_parser.hpp"

#include <fmt/format.h>

#include <array>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "model/hash_lexer.hpp"
#include "model/nearest_name.hpp"

namespace gpusonde {
namespace {

struct BinaryOperator {
  std::string_view symbol;
  int precedence;  ///< higher binds tighter; C's order
  Op op;
  bool is_swapped = false;  ///< `x > y` is `y < x`
};

constexpr std::array<BinaryOperator, 18> k_binary_operators{{
    {"||", 1, Op::logical_or},
    {"&&", 2, Op::logical_and},
    {"|", 3, Op::bit_or},
    {"^", 4, Op::bit_xor},
    {"&", 5, Op::bit_and},
    {"==", 6, Op::equal},
    {"!=", 6, Op::not_equal},
    {"<", 7, Op::less},
    {"<=", 7, Op::less_equal},
    {">", 7, Op::less, true},
    {">=", 7, Op::less_equal, true},
    {"<<", 8, Op::shift_left},
    {">>", 8, Op::shift_right},
    {"+", 9, Op::add},
    {"-", 9, Op::subtract},
    {"*", 10, Op::multiply},
    {"/", 10, Op::divide},
    {"%", 10, Op::modulo},
}};

constexpr int k_deepest_nesting = 100;

class Parser {
 public:
  Parser(std::vector<Token> tokens, std::string file) : m_tokens(std::move(tokens)), m_file(std::move(file)) {}

  Result<Expression> program() {
    while (true) {
      while (kind() == TokenKind::line_end) ++m_at;
      if (kind() == TokenKind::text_end) return wrong("the program ends without a value; end it with `return ...`");
      if (kind() != TokenKind::name)
        return wrong(fmt::format("{} cannot begin a line; write `name = ...` or `return ...`", shown()));
      if (text() == "return") return last_line();
      if (auto done = definition(); !done) return tl::unexpected(done.error());
    }
  }

 private:
  using Node = Result<std::uint32_t>;

  Result<Expression> last_line() {
    ++m_at;
    auto value = expression(0);
    if (!value) return tl::unexpected(value.error());
    while (kind() == TokenKind::line_end) ++m_at;
    if (kind() != TokenKind::text_end)
      return wrong(fmt::format("{} follows the value of `return`; end the program there", shown()));
    return m_builder.finish(*value);
  }

  Result<void> definition() {
    const auto name_token = m_tokens[m_at];
    const std::string name(name_token.text);
    if (name == "a" || name == "parity")
      return wrong(fmt::format("'{}' is {} and cannot be defined; choose another name", name,
                               name == "a" ? "the address" : "a function"));
    if (m_names.contains(name)) return wrong(fmt::format("'{}' is defined already; choose another name", name));
    ++m_at;
    if (!accept("=")) return wrong(fmt::format("{} follows '{}'; write `{} = ...`", shown(), name, name));
    auto value = expression(0);
    if (!value) return tl::unexpected(value.error());
    if (kind() != TokenKind::line_end && kind() != TokenKind::text_end)
      return wrong(fmt::format("{} follows the expression; begin a new line or put an operator before it", shown()));
    m_names.emplace(name, *value);
    return {};
  }

  /// c ? x : y, the loosest operator, groups from the right.
  Node expression(int depth) {
    if (depth > k_deepest_nesting) return wrong("the expression is nested too deep; give parts of it names");
    auto condition = binary(1, depth + 1);
    if (!condition || !accept("?")) return condition;
    auto yes = expression(depth + 1);
    if (!yes) return yes;
    if (!accept(":"))
      return wrong(fmt::format("{} stands where ':' and the other choice should; write c ? x : y", shown()));
    auto no = expression(depth + 1);
    if (!no) return no;
    return make(Op::choose, *condition, *yes, *no);
  }

  Node binary(int least_precedence, int depth) {
    auto left = unary(depth);
    while (left) {
      const auto* found = binary_operator();
      if (found == nullptr || found->precedence < least_precedence) break;
      ++m_at;
      const auto right_token = m_tokens[m_at];
      auto right = binary(found->precedence + 1, depth + 1);
      if (!right) return right;
      const auto& divisor = m_builder.node(*right);
      if ((found->op == Op::divide || found->op == Op::modulo) && divisor.op == Op::constant && divisor.value == 0)
        return wrong_at(right_token, "the divisor is 0; give at least 1");
      left = found->is_swapped ? make(found->op, *right, *left) : make(found->op, *left, *right);
    }
    return left;
  }

  Node unary(int depth) {
    if (depth > k_deepest_nesting) return wrong("the expression is nested too deep; give parts of it names");
    for (const auto& [symbol, op] : {std::pair{"!", Op::logical_not}, {"~", Op::bit_not}, {"-", Op::negate}}) {
      if (!accept(symbol)) continue;
      auto operand = unary(depth + 1);
      return operand ? make(op, *operand) : operand;
    }
    return primary(depth);
  }

  Node primary(int depth) {
    const auto token = m_tokens[m_at];
    if (token.kind == TokenKind::number) {
      ++m_at;
      return limited(m_builder.constant(token.value));
    }
    if (token.kind == TokenKind::name) return named(depth);
    if (accept("(")) {
      auto inner = expression(depth + 1);
      if (!inner) return inner;
      return closed(")", token) ? inner : unclosed(")", token);
    }
    if (accept("[")) return table_lookup(token, depth);
    return wrong(
        fmt::format("{} stands where a value should; write a, a name, a number, parity(...) or (...)", shown()));
  }

  Node named(int depth) {
    const auto token = m_tokens[m_at];
    const std::string name(token.text);
    ++m_at;
    if (name == "a") return limited(m_builder.address());
    if (name == "parity") {
      const auto open = m_tokens[m_at];
      if (!accept("(")) return wrong(fmt::format("{} follows 'parity'; write parity(...)", shown()));
      auto operand = expression(depth + 1);
      if (!operand) return operand;
      return closed(")", open) ? make(Op::parity, *operand) : unclosed(")", open);
    }
    if (const auto found = m_names.find(name); found != m_names.end()) return found->second;
    std::vector<std::string> known{"a", "parity"};
    for (const auto& [each, node] : m_names) known.push_back(each);
    const auto nearest = nearest_name(name, known);
    return wrong_at(token, nearest.empty() ? fmt::format("'{}' is not defined; define it on a line above", name)
                                           : fmt::format("'{}' is not defined; did you mean '{}'?", name, nearest));
  }

  Node table_lookup(const Token& open, int depth) {
    std::vector<std::uint64_t> table;
    do {
      const auto token = m_tokens[m_at];
      auto value = expression(depth + 1);
      if (!value) return value;
      if (m_builder.node(*value).op != Op::constant)
        return wrong_at(token, "a table's entry depends on the address; tables hold constants");
      table.push_back(m_builder.node(*value).value);
    } while (accept(","));
    if (!closed("]", open)) return unclosed("]", open);
    const auto index_open = m_tokens[m_at];
    if (!accept("[")) return wrong(fmt::format("{} follows the table; say which entry: [...][i]", shown()));
    auto index = expression(depth + 1);
    if (!index) return index;
    if (!closed("]", index_open)) return unclosed("]", index_open);
    return limited(m_builder.lookup(std::move(table), *index));
  }

  [[nodiscard]] const BinaryOperator* binary_operator() const {
    if (kind() != TokenKind::symbol) return nullptr;
    for (const auto& each : k_binary_operators)
      if (each.symbol == text()) return &each;
    return nullptr;
  }

  Node make(Op op, std::uint32_t a, std::uint32_t b = 0, std::uint32_t c = 0) {
    return limited(m_builder.make(op, a, b, c));
  }

  Node limited(std::uint32_t node) {
    if (m_builder.size() > k_most_expression_nodes)
      return wrong(fmt::format("the program has more than {} operations; shorten it", k_most_expression_nodes));
    return node;
  }

  bool closed(std::string_view symbol, const Token& /*open*/) { return accept(symbol); }
  [[nodiscard]] tl::unexpected<Error> unclosed(std::string_view symbol, const Token& open) const {
    return wrong(
        fmt::format("{} stands where '{}' should close the '{}' of line {}", shown(), symbol, open.text, open.line));
  }

  bool accept(std::string_view symbol) {
    if (kind() != TokenKind::symbol || text() != symbol) return false;
    ++m_at;
    return true;
  }
  [[nodiscard]] TokenKind kind() const { return m_tokens[m_at].kind; }
  [[nodiscard]] std::string_view text() const { return m_tokens[m_at].text; }
  [[nodiscard]] std::string shown() const {
    const bool is_end = kind() == TokenKind::line_end || kind() == TokenKind::text_end;
    return is_end ? fmt::format("the {}", text()) : fmt::format("'{}'", text());
  }
  [[nodiscard]] tl::unexpected<Error> wrong(const std::string& message) const {
    return wrong_at(m_tokens[m_at], message);
  }
  [[nodiscard]] tl::unexpected<Error> wrong_at(const Token& token, const std::string& message) const {
    return fail_at(m_file, token.line, token.column, message);
  }

  std::vector<Token> m_tokens;
  std::string m_file;
  std::size_t m_at = 0;
  ExpressionBuilder m_builder;
  std::map<std::string, std::uint32_t> m_names;
};

}  // namespace

Result<Expression> parse_hash_program(std::string_view text, const SourcePosition& position) {
  auto tokens = split_into_tokens(text, position);
  if (!tokens) return tl::unexpected(tokens.error());
  return Parser(std::move(*tokens), position.file).program();
}

}  // namespace gpusonde
