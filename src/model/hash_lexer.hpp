// Splits the text of a hash function into tokens that know where they stand in the model file.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "gpusonde/error.hpp"
#include "model/address_function.hpp"

namespace gpusonde {

enum class TokenKind : std::uint8_t { number, name, symbol, line_end, text_end };

struct Token {
  TokenKind kind = TokenKind::text_end;
  std::string_view text;    ///< into the program's text; `parity`, `<<`, `0x1f`
  std::uint64_t value = 0;  ///< of a number
  std::uint32_t line = 1;
  std::uint32_t column = 1;
};

/// `file:line:col: message` as bad_input.
[[nodiscard]] tl::unexpected<Error> fail_at(const std::string& file, std::uint32_t line, std::uint32_t column,
                                            const std::string& message);

/// Ends with a text_end token. Line ends inside parentheses and brackets are left out, so that an expression
/// may go on. Errors: bad_input with position.
[[nodiscard]] Result<std::vector<Token>> split_into_tokens(std::string_view text, const SourcePosition& position);

}  // namespace gpusonde
