// Sets by plain division: lines of one set then lie multiples of unit * sets apart, and the greatest common divisor of
// such differences is that stride. Found by consensus, since one false member spoils a divisor.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "inference/mask_consensus.hpp"

namespace gpusonde {

struct StrideConsensus {
  ConsensusState state = ConsensusState::none;
  std::string reason;              ///< when undecided
  std::uint64_t stride_bytes = 0;  ///< when found: unit_bytes times a number with an odd divisor
  std::size_t most_agreeing = 0;   ///< held-out groups whose lines lie multiples of the best stride apart
};

/// Strides that are the unit times a power of two are left to the masks. `held_out` groups at the end take no part in
/// finding the stride. Precondition: all lines lie multiples of unit_bytes apart.
[[nodiscard]] StrideConsensus find_stride_consensus(std::span<const std::vector<std::uint64_t>> groups,
                                                    std::size_t held_out, std::uint64_t unit_bytes, std::uint64_t seed);

}  // namespace gpusonde
