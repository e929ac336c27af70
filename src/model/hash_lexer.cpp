#include "model/hash_lexer.hpp"

#include <fmt/format.h>

#include <array>
#include <charconv>
#include <optional>

namespace gpusonde {
namespace {

constexpr bool is_digit(char c) { return c >= '0' && c <= '9'; }
constexpr bool is_name_start(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; }
constexpr bool is_name_part(char c) { return is_name_start(c) || is_digit(c); }

/// Longest first, so that `<<` is not read as `<` `<`.
constexpr std::array<std::string_view, 29> k_symbols{"<<", ">>", "<=", ">=", "==", "!=", "&&", "||", "<", ">",
                                                     "=",  "+",  "-",  "*",  "/",  "%",  "&",  "|",  "^", "~",
                                                     "!",  "?",  ":",  "(",  ")",  "[",  "]",  ",",  ";"};

std::string_view symbol_at(std::string_view rest) {
  for (const auto symbol : k_symbols)
    if (rest.substr(0, symbol.size()) == symbol) return symbol;
  return {};
}

std::optional<std::uint64_t> number_value(std::string_view text) {
  const bool is_hex = text.size() > 2 && text[0] == '0' && (text[1] == 'x' || text[1] == 'X');
  const auto digits = is_hex ? text.substr(2) : text;
  std::uint64_t value = 0;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), value, is_hex ? 16 : 10);
  if (error != std::errc{} || end != digits.data() + digits.size()) return std::nullopt;
  return value;
}

}  // namespace

tl::unexpected<Error> fail_at(const std::string& file, std::uint32_t line, std::uint32_t column,
                              const std::string& message) {
  return fail(ErrorKind::bad_input, fmt::format("{}:{}:{}: {}", file, line, column, message));
}

Result<std::vector<Token>> split_into_tokens(std::string_view text, const SourcePosition& position) {
  std::vector<Token> tokens;
  std::uint32_t line = position.line;
  std::uint32_t column = position.column;
  int depth = 0;
  std::size_t at = 0;
  const auto take = [&](TokenKind kind, std::size_t size, std::uint64_t value = 0) {
    tokens.push_back({kind, text.substr(at, size), value, line, column});
    at += size;
    column += static_cast<std::uint32_t>(size);
  };
  while (at < text.size()) {
    const char c = text[at];
    if (c == '\n') {
      if (depth == 0) tokens.push_back({TokenKind::line_end, "end of line", 0, line, column});
      ++at;
      ++line;
      column = 1;
    } else if (c == ' ' || c == '\t' || c == '\r') {
      ++at;
      ++column;
    } else if (c == '#') {
      while (at < text.size() && text[at] != '\n') ++at;
    } else if (is_digit(c)) {
      std::size_t size = 1;
      while (at + size < text.size() && is_name_part(text[at + size])) ++size;
      const auto value = number_value(text.substr(at, size));
      if (!value)
        return fail_at(
            position.file, line, column,
            fmt::format("'{}' is not a number; write a decimal or 0x number below 2^64", text.substr(at, size)));
      take(TokenKind::number, size, *value);
    } else if (is_name_start(c)) {
      std::size_t size = 1;
      while (at + size < text.size() && is_name_part(text[at + size])) ++size;
      take(TokenKind::name, size);
    } else if (const auto symbol = symbol_at(text.substr(at)); !symbol.empty()) {
      if (symbol == "(" || symbol == "[") ++depth;
      if ((symbol == ")" || symbol == "]") && depth > 0) --depth;
      take(TokenKind::symbol, symbol.size());
    } else {
      const auto shown =
          c >= ' ' && c <= '~' ? std::string(1, c) : fmt::format("\\x{:02x}", static_cast<unsigned char>(c));
      return fail_at(
          position.file, line, column,
          fmt::format("'{}' has no meaning here; the language has names, numbers and the operators of C", shown));
    }
  }
  tokens.push_back({TokenKind::text_end, "end of the program", 0, line, column});
  return tokens;
}

}  // namespace gpusonde
