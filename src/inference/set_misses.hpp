// One cache set under a chase: which part of its accesses misses when more lines than ways are visited
// again and again in the same order. Sets do not influence each other, so this and how unevenly the sets
// fill is all there is to a capacity transition.
#pragma once

#include <cstdint>

namespace gpusonde {

/// What a chase can tell apart, or nearly so. LRU, FIFO, SRRIP and tree-PLRU are the same in a cyclic
/// order that also filled the set: all hit or all miss.
enum class SetPolicy : std::uint8_t { lru_like, nru, random };

/// Miss fraction in the steady state of `lines` lines visited cyclically in a set of `ways` ways; found by
/// running the set, so it is exact for the deterministic policies and within about 1 % for random.
/// 0 while lines <= ways. Precondition: ways >= 1.
[[nodiscard]] double set_miss_fraction(SetPolicy policy, std::uint32_t ways, std::uint32_t lines);

}  // namespace gpusonde
