// The replacement policy inside one cache set, from which accesses to lines of that set hit. Each known policy is run
// over the very sequences that were measured; a name is given only when one family predicts what was seen, up to
// misreadings, and every other one does not.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "gpusonde/finding.hpp"

namespace gpusonde {

/// Accesses to lines of one set.
struct SetSequence {
  std::vector<std::uint16_t> lines;  ///< numbers of the lines in order of access
  std::vector<bool> observed;        ///< of each access, whether it is timed; empty: all are
  bool operator==(const SetSequence&) const = default;
};

/// What the set holds before a sequence.
enum class SetStart : std::uint8_t {
  empty,    ///< nothing
  foreign,  ///< every way a line, in an unknown order and used in an unknown manner, none of them the sequence's
  carried   ///< what the sequence before it in the table left; nothing used the set in between
};

struct ObservedSequence {
  SetSequence sequence;
  std::vector<bool> hit;  ///< one for each observed access
  SetStart start = SetStart::foreign;
};

/// Sequences that tell the candidates apart, each of them three times, in an order that spreads the repetitions. All
/// accesses are observed. Some 1500 accesses a way in all, 20000 where ways are few. Empty unless 2 <= ways <= 64 and
/// lines_available > ways; no more than two and a half times the ways are used.
[[nodiscard]] std::vector<SetSequence> plan_replacement_sequences(std::uint32_t ways, std::uint32_t lines_available,
                                                                  std::uint64_t seed);

struct ReplacementOptions {
  /// Most of the accesses that are misread, a hit as a miss or the other way round, anywhere.
  double misread_rate = 0.02;
  std::uint64_t seed = 1;  ///< of unknown starts and of chance
};

/// How well one family did: the variant of it that did best.
struct ReplacementAgreement {
  std::string policy;
  std::string variant;  ///< what the family's name leaves open; may be empty
  bool survives = false;
  /// Share of the predicted accesses that came out so. Of a policy by chance: share of the counts (hits at so many
  /// other lines since the last use, and the like) that lie where chance puts them.
  double agreement = 0;
  std::uint64_t predicted = 0;  ///< accesses, or counts, whatever the start was
};

struct ReplacementFit {
  Outcome outcome = Outcome::inconclusive;
  std::string policy;                            ///< only when ok
  std::string variant;                           ///< only when ok and one variant alone survives; may be empty
  std::vector<std::string> survivors;            ///< families that the table does not rule out
  std::vector<ReplacementAgreement> agreements;  ///< one a family
  std::string reason;                            ///< one sentence when not ok
};

/// Families: lru, fifo, slru (segmented: a line that was hit is protected), lru-insertion (a line comes in as the
/// oldest or in between), lru-behind-hits (a line comes in as older than the lines of the last few hits), tree-plru,
/// nru, nru-on-hit (a line that comes in does not count as used), srrip, random. Some are the same where there are few
/// ways: with two, lru, tree-plru and one nru; fifo and another nru. From foreign lines that were all hit, slru is
/// lru-insertion. A long pseudo-random sequence is random too, unless it comes out the same each time. A name needs
/// sequences that were measured three times and more, 150 observed accesses a way of such.
[[nodiscard]] ReplacementFit infer_replacement(std::uint32_t ways, std::span<const ObservedSequence> table,
                                               const ReplacementOptions& options = {});

}  // namespace gpusonde
