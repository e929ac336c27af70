// Masks that most groups of lines agree on, though some groups have a false member: one false difference takes a mask
// away from a plain annihilator, and a second one another.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "inference/agreement.hpp"
#include "inference/bit_rows.hpp"

namespace gpusonde {

/// Groups as differences of their lines from their first one. All rows lie within `columns`, which are the pivots of
/// all lines' differences, so that every mask varies.
struct MaskConsensusInput {
  std::span<const std::vector<BitRow>> groups;
  std::size_t held_out = 0;  ///< so many at the end take no part in finding masks
  BitRow columns;
  Background background;
  std::uint64_t seed = 0;
};

enum class ConsensusState {
  found,      ///< one span, and nothing larger may be
  none,       ///< nothing that varies is common to most groups
  too_few,    ///< masks still fell away when the groups were used up
  undecided,  ///< see the reason
};

struct MaskConsensus {
  ConsensusState state = ConsensusState::none;
  std::string reason;             ///< when undecided
  RowSpace masks;                 ///< when found
  std::size_t most_agreeing = 0;  ///< held-out groups that agree with the best span of at least one mask
};

/// Random subsets of groups, each grown until eight differences in a row took no mask away, then relieved of groups
/// whose removal brings a mask back that most groups agree with. The largest span wins that four fifths of the groups
/// agree with, of which chance is ruled out on the held-out groups, and whose contradictions do not look alike.
[[nodiscard]] MaskConsensus find_mask_consensus(const MaskConsensusInput& input);

}  // namespace gpusonde
