// Is a cache indexed and tagged by virtual or by physical addresses? Two questions that do not share a measurement:
// does a line that was loaded through one address hit through another, and does a hit wait for a translation?
#pragma once

#include <algorithm>

#include "probe/probe.hpp"

namespace gpusonde {

[[nodiscard]] Result<void> measure_addressing(ProbeContext& context);
[[nodiscard]] Analysis analyze_addressing(const AnalysisInput& input);

/// What a load of `base_cycles` must come to cost more for the rise to be a step.
[[nodiscard]] inline double least_step_cycles(double base_cycles) { return std::max(4.0, 0.02 * base_cycles); }

/// What one probe says of a cache.
enum class AliasAnswer { unknown, none_hit, some_hit, all_hit };
enum class SweepAnswer { unknown, no_step, step };

/// One cache, with the figures that its verdict rests on.
struct AddressingEvidence {
  AliasAnswer alias = AliasAnswer::unknown;
  std::uint64_t hits = 0;
  std::uint64_t tested = 0;
  double first_cycles = 0;  ///< through the other address, the first time
  double again_cycles = 0;  ///< through it again
  SweepAnswer sweep = SweepAnswer::unknown;
  double translation_cycles = 0;  ///< what the sweep's pages cost a load that goes past L1
  double hit_cycles = 0;          ///< and what they cost a load that hits here; L2: of the same loads
  std::uint64_t sweep_nodes = 0;
  std::uint64_t sweep_stride_bytes = 0;
  bool over_aliases = false;  ///< memory did not reach, so that the sweep went over aliases
  /// Whether lines at one offset of many pages crowd into one set, from the index question.
  bool crowds_known = false;
  bool crowds = false;
  double same_offset_cycles = 0;
  double spread_cycles = 0;
  std::string sweep_note;  ///< why the sweep says nothing, where it does not
};

/// `policy`: ca for L1, cg for L2.
[[nodiscard]] AddressingEvidence addressing_evidence(const Measurements& measurements, const std::string& policy);

struct AddressingVerdict {
  std::string name;    ///< VIVT, VIPT or PIPT; empty when not known
  std::string reason;  ///< one sentence, either way
};
[[nodiscard]] AddressingVerdict addressing_verdict(const AddressingEvidence& evidence);

}  // namespace gpusonde
