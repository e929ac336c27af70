// Reads the text of a hash function into an expression.
#pragma once

#include <string_view>

#include "gpusonde/error.hpp"
#include "model/address_function.hpp"
#include "model/expression.hpp"

namespace gpusonde {

/// Errors: bad_input `file:line:col: what is wrong; what would be right`.
[[nodiscard]] Result<Expression> parse_hash_program(std::string_view text, const SourcePosition& position);

}  // namespace gpusonde
