// Masks as one writes them down. Of a set function only the span of its masks can be known, and that only up to masks
// that are constant on every line there is; here the lightest representatives are chosen, always the same ones.
#pragma once

#include <vector>

#include "inference/bit_rows.hpp"

namespace gpusonde {

/// A basis of `masks` modulo `constant` of lowest weight, by first column: exactly the lightest while both together
/// have at most 18 dimensions, beyond that as light as sums of a few reach. The same spans give the same basis.
/// Precondition: the two spans meet in 0 only.
[[nodiscard]] std::vector<BitRow> lightest_basis(const RowSpace& masks, const RowSpace& constant);

}  // namespace gpusonde
