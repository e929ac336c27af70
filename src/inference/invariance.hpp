// Differences of addresses that no class depends on. Under a hypothesis of which residues matter, two addresses of
// one window whose residues agree are a pair; a difference all of whose pairs agree in class is one that the masks
// of the function do not see.
#pragma once

#include <array>
#include <cstddef>
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

/// Finds the invariant differences of one group of windows under many hypotheses.
class PairCounter {
 public:
  /// Of each block of eight successive addresses of a window eight copies are kept, one for each difference within
  /// the block, so that pairs of any difference are compared a block at a time.
  static constexpr std::size_t k_lanes = 8;
  /// For each difference within a block, the window's values in the order of that difference.
  using Lanes = std::array<std::vector<std::uint16_t>, k_lanes>;

  /// Keeps a reference to the group. Precondition: fewer than 65535 classes.
  explicit PairCounter(const WindowGroup& group);
  /// A basis of the differences that can be accepted when the residues are these, as address bits.
  [[nodiscard]] std::vector<std::uint64_t> invariant_differences(std::span<const ResidueTerm> terms,
                                                                 double label_error_rate) const;
  /// Whether differences that should be invariant, sums included, are clearly not. Differences of other bits than the
  /// windows' are passed over.
  [[nodiscard]] bool refutes(std::span<const std::uint64_t> invariant, std::span<const ResidueTerm> terms,
                             double label_error_rate) const;

 private:
  const WindowGroup* m_group;
  std::vector<Lanes> m_classes;  ///< one a window
};

}  // namespace gpusonde
