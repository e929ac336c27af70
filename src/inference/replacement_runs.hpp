// The table of a replacement measurement, put in order: what was carried over is joined to what it followed, and
// repetitions of one sequence lie together.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "inference/replacement.hpp"
#include "inference/set_policy.hpp"

namespace gpusonde {

struct SequenceRuns {
  std::vector<std::uint16_t> lines;
  std::vector<std::uint32_t> observed;  ///< places in `lines`
  bool starts_empty = false;
  std::vector<std::vector<bool>> runs;  ///< hits at the observed places, one entry a repetition
};

/// Empty if the table can be used, else one sentence.
[[nodiscard]] std::string trouble_with(std::span<const ObservedSequence> table);
/// Precondition: no trouble.
[[nodiscard]] std::vector<SequenceRuns> group_runs(std::span<const ObservedSequence> table);

/// A set as it may be before a sequence whose line numbers are below `line_count`: empty, or used in some way by other
/// lines.
[[nodiscard]] CacheSet possible_start(const SetCandidate& candidate, std::uint32_t ways, std::uint32_t line_count,
                                      bool starts_empty, Random random);
[[nodiscard]] std::uint32_t line_count(std::span<const std::uint16_t> lines) noexcept;

/// What the table says of one candidate.
struct CandidateVerdict {
  bool rejected = false;
  bool tried = false;  ///< enough of it was predicted, hits as well as misses; if not, nothing speaks for it
  double agreement = 0;
  std::uint64_t predicted = 0;
  /// Places that were predicted and read at least three times, and those at which most readings are otherwise.
  std::uint64_t places = 0;
  std::uint64_t wrong_places = 0;
};
/// Whether a survivor is wrong at a larger share of its places than another one is that predicts no fewer.
[[nodiscard]] bool is_beaten(const CandidateVerdict& verdict, const CandidateVerdict& by);
[[nodiscard]] CandidateVerdict judge_certain(const SetCandidate& candidate, std::uint32_t ways,
                                             std::span<const SequenceRuns> groups, const ReplacementOptions& options);
[[nodiscard]] CandidateVerdict judge_by_chance(const SetCandidate& candidate, std::uint32_t ways,
                                               std::span<const SequenceRuns> groups, const ReplacementOptions& options);

}  // namespace gpusonde
