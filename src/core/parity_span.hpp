// Parity masks as text that can be compared: one canonical basis for all masks that select the same bits.
//
// Which set a line belongs to is known only up to renaming the sets, so of the masks of a hash only their span over
// GF(2) is real. Inference and truth both put that span into the form given here.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace gpusonde {

/// The same basis for every list of masks with the same span, ascending; as many as the masks' rank.
/// Up to rank 16 the lightest one: of all members of the span, by weight and then by value, each that is no sum (XOR)
/// of those taken. Above, the reduced row echelon form with the highest bit leading. Masks of 0 count for nothing.
[[nodiscard]] std::vector<std::uint64_t> canonical_masks(std::vector<std::uint64_t> masks);

/// `0x2ab000`
[[nodiscard]] std::string hex_mask(std::uint64_t mask);

}  // namespace gpusonde
