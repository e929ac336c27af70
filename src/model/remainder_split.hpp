// Rewrites remainders of sums so that the large part stands alone: ((a >> 15) + small) % 3 becomes
// ((a >> 15) % 3 + small) % 3, which depends on the address through small values only.
#pragma once

#include "model/expression.hpp"

namespace gpusonde {

/// An expression with the same value for every address.
[[nodiscard]] Expression split_remainders(const Expression& expression);

}  // namespace gpusonde
