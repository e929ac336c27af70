// Turns an expression into a compiled function, where it has the shape that hash functions have.
#pragma once

#include <optional>

#include "model/compiled_function.hpp"
#include "model/expression.hpp"

namespace gpusonde {

/// Nothing when the expression is not a function of parities and small remainders, or of too many of them
/// (more than 2^20 combinations); it is then evaluated as it stands.
[[nodiscard]] std::optional<CompiledFunction> compile(const Expression& expression);

}  // namespace gpusonde
