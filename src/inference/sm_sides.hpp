// Which SMs lie on which side of an L2 cache of two halves, from how long atomics take: these are done where a line is
// at home, so every line is near to the SMs of one side and far from all others.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "gpusonde/finding.hpp"
#include "inference/line_map.hpp"

namespace gpusonde {

struct SmSides {
  Outcome outcome = Outcome::inconclusive;
  std::string reason;     ///< one sentence when not ok
  std::size_t sides = 0;  ///< 1 or 2 when ok, else 0
  /// 0 or 1, the first SM's being 0. With one side all 0; empty when not ok.
  std::vector<std::uint8_t> sm_side;
  std::vector<std::int32_t>
      line_home;               ///< side a line is near to, or k_unlabelled where late readings hide it; as sm_side
  double contrast_cycles = 0;  ///< far less near; with one side 0
  Interval contrast_interval;  ///< about 95 %, from the spread over the SMs
};

/// cycles = mean + sm + line + (sm's side == line's home ? 0 : contrast), fitted to what the additive fit leaves over:
/// its first singular vectors to begin with, then sides and homes in turn. Two sides when SMs and lines each fall into
/// two heaps with next to nothing in the middle, a heap has at least a tenth of them, and the contrast is 3 cycles and
/// four times what varies within a heap. One side when the strongest interaction is below 2 cycles, or when at least 16
/// SMs spread evenly along it. A map of loads shows where slices lie, not which half a line is at home in: SMs may
/// well fall into two heaps there too, and the sides then mean no more than places on the chip.
[[nodiscard]] SmSides split_sides(const LineMap& atomics);

}  // namespace gpusonde
