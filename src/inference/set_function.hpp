// Which set of a cache a line belongs to, from groups of lines that were seen to push each other out. A set number is
// as good as always parities of address bits, of bits of a quotient, or a remainder; parities and remainder are looked
// for, and nothing is said when neither explains what was seen.
//
//   What cannot be told: which bit of the set number a mask makes (any basis of the same span divides lines into the
//   same sets), and masks that are constant on all lines there are.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "gpusonde/finding.hpp"
#include "inference/set_features.hpp"

namespace gpusonde {

using LineGroup = std::vector<std::uint64_t>;
using LinePair = std::pair<std::uint64_t, std::uint64_t>;

/// address / unit_bytes % sets.
struct ModuloSets {
  std::uint64_t unit_bytes = 0;
  std::uint64_t sets = 0;

  bool operator==(const ModuloSets&) const = default;
};

/// Parities, a remainder, or both. With neither there is one set.
struct SetFunction {
  SetFeatures features;
  std::vector<SetMask> masks;  ///< independent on the lines there are; at most 64
  std::optional<ModuloSets> modulo;

  /// 2^masks times the remainder's sets.
  [[nodiscard]] std::uint64_t set_count() const noexcept;
  /// Bit i is the parity of mask i; the remainder stands above them. Below set_count().
  [[nodiscard]] std::uint64_t value(std::uint64_t address) const;
  /// The same as a program of a model's hash language, whose values have 32 bits.
  [[nodiscard]] std::string text() const;
};

/// An interval of the number of sets, found independently of the groups. high == 0: not known.
struct SetsHint {
  std::uint64_t low = 0;
  std::uint64_t high = 0;
};

struct SetFitOptions {
  SetsHint sets_hint;
  /// The pool of each group, such as its slice. Lines of different pools are not compared with each other, so what
  /// is constant on every pool is no part of the set function. Empty: all lines are of one pool. The two lines of a
  /// non-conflict are always taken to be of one pool.
  std::vector<std::uint32_t> group_pools;
  std::uint64_t seed = 1;
};

/// A group that the function contradicts, and its lines that are not in the set most of its lines are in (all of
/// them where no two agree).
struct Contradiction {
  std::size_t group = 0;  ///< index into the groups given
  std::vector<std::uint64_t> lines;
};

struct SetFunctionFit {
  Outcome outcome = Outcome::inconclusive;
  std::string reason;    ///< one sentence when not ok
  SetFunction function;  ///< only when ok
  /// Nothing finer divides these sets: sets_hint holds this number of sets and not twice as many, or there are so
  /// many non-conflicts that a finer division would show. Without it set_count() is a lower bound.
  bool complete = false;
  unsigned rank = 0;                 ///< independent masks, those that make up a remainder included
  std::size_t differences = 0;       ///< of lines within groups
  unsigned differences_rank = 0;     ///< rank of the differences that agree with the function
  std::size_t groups = 0;            ///< with two lines or more
  std::size_t explained_groups = 0;  ///< the function puts all their lines into one set
  std::vector<Contradiction> contradictions;
  std::size_t held_out_groups = 0;  ///< took no part in finding the function
  std::size_t held_out_explained = 0;
  std::size_t non_conflicts = 0;        ///< none takes part in finding the function
  std::size_t non_conflicts_alike = 0;  ///< pairs that the function puts into one set all the same
  double alike_if_finer = 0;            ///< about how many such pairs there were if there were twice the sets

  [[nodiscard]] bool ok() const noexcept { return outcome == Outcome::ok; }
};

/// Groups: lines known to share a set, at most about a tenth of the groups with false members. Two groups may be of
/// the same set. Non-conflicts: pairs tested not to share a set, better drawn at random; eight or more, or a hint, are
/// needed for ok. Inconclusive, with the figure of the test that failed, when masks still fall away with more groups,
/// when agreement on the held-out third of the groups may be chance, when less than four fifths of the groups agree,
/// when non-conflicts share sets, and when the number of sets lies outside the hint.
[[nodiscard]] SetFunctionFit fit_set_function(const std::vector<LineGroup>& groups,
                                              const std::vector<LinePair>& non_conflicts, const SetFeatures& features,
                                              const SetFitOptions& options);

}  // namespace gpusonde
