// Slice and set functions of an L2 made at random: parities, remainders and both together.
#pragma once

#include <cstdint>

#include "core/random.hpp"
#include "model/device_model.hpp"

namespace gpusonde {

/// For the cache's line, slices and sets. The slices take turns by units of 1 to 32 lines, in an order that may be
/// hashed: each gets one unit of every aligned period of units, as many as there are slices. Sets are chosen within
/// a slice's own lines, so that any aligned stretch of a way's size, `slices * sets` lines, fills each set of each
/// slice by one line (where sets are no power of two, if it begins with a multiple of its size).
/// `hashed_bits` may take part in parities. Precondition: lines of 128 bytes.
void give_l2_functions(Random& random, CacheModel& cache, std::uint64_t hashed_bits);

}  // namespace gpusonde
