// How large the nodes of an expression can get.
#pragma once

#include <cstdint>
#include <vector>

#include "model/expression.hpp"

namespace gpusonde {

/// For every node a value that it never exceeds; 2^64 - 1 where an operation may wrap.
[[nodiscard]] std::vector<std::uint64_t> upper_bounds(const Expression& expression);

}  // namespace gpusonde
