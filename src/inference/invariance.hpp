// Differences of addresses that no class depends on. Under a hypothesis of which residues matter, two addresses of
// one window whose residues agree are a pair; a difference all of whose pairs agree in class is one that the masks
// of the function do not see.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "inference/address_windows.hpp"
#include "inference/class_function.hpp"

namespace gpusonde {

/// What was seen of one difference.
struct DifferenceEvidence {
  std::uint32_t pairs = 0;
  std::uint32_t disagreeing = 0;
};

/// Of so many pairs that should agree, how many may disagree when up to this share of the labels is wrong (three
/// sigmas).
[[nodiscard]] std::uint32_t tolerated_disagreeing(std::uint32_t pairs, double label_error_rate) noexcept;

/// Whether counting can stop: the pairs seen disagree too often for the difference ever to be accepted.
[[nodiscard]] bool clearly_seen(const DifferenceEvidence& evidence, double label_error_rate) noexcept;

/// A basis of the subspace of differences that can be accepted: those with enough pairs and few that disagree, as far
/// as their sums were accepted too wherever seen. `by_difference`: 2^n entries; entry 0 is not used.
[[nodiscard]] std::vector<std::uint64_t> invariant_subspace(std::span<const DifferenceEvidence> by_difference,
                                                            double label_error_rate);

/// The same for the differences of a group of windows, as address bits.
[[nodiscard]] std::vector<std::uint64_t> invariant_differences(const WindowGroup& group,
                                                               std::span<const ResidueTerm> terms,
                                                               double label_error_rate);

}  // namespace gpusonde
