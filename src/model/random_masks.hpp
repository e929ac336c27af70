// Parity masks made at random that spread evenly: every aligned stretch of addresses that goes through all values of
// some window bits gives each value of the hash equally often.
#pragma once

#include <cstdint>
#include <vector>

#include "core/random.hpp"

namespace gpusonde {

/// As many masks as the window has bits. Within the window the masks are invertible: one bit each (the i-th mask the
/// i-th of them), or, half of the time, any invertible combination of that. Of `other_bits` each takes about half,
/// or, half of the time, about an eighth. Precondition: the window has at most 32 bits, none of them in `other_bits`.
[[nodiscard]] std::vector<std::uint64_t> random_even_masks(Random& random, std::uint64_t window_bits,
                                                           std::uint64_t other_bits);

/// Adds (XOR) to each mask a random sum of others' masks. Which set of a slice a line belongs to stays as even as it
/// was, since within a slice the slice's own masks are constant.
void add_random_sums(Random& random, std::vector<std::uint64_t>& masks, const std::vector<std::uint64_t>& others);

}  // namespace gpusonde
