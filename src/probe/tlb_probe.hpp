// The alias probe: one physical page under many virtual ones, so that the data stay in L2 and what a load takes
// longer is its translation. And what it measures, in tables.
#pragma once

#include <vector>

#include "inference/tlb_fit.hpp"
#include "probe/alias_places.hpp"
#include "probe/probe.hpp"

namespace gpusonde {

[[nodiscard]] Result<void> measure_tlb(ProbeContext& context);
[[nodiscard]] Analysis analyze_tlb(const AnalysisInput& input);

/// What `tlb.space` says; page_bytes 0 when it is absent.
struct AliasSpaceRow {
  std::uint64_t page_bytes = 0;
  std::uint64_t span_bytes = 0;
  std::uint64_t seed = 0;
  bool uses_own_page = false;
};
[[nodiscard]] AliasSpaceRow alias_space_row(const Measurements& measurements);
/// The loads of a list as they were timed.
[[nodiscard]] std::shared_ptr<const TlbTrace> alias_trace(std::vector<std::uint64_t> places, const AliasTiming& timing,
                                                          const AliasSpaceRow& space);
/// The curves of `tlb.alias`; with the loads that were timed where they are to be fitted.
[[nodiscard]] std::vector<TlbPoint> read_alias_curves(const Measurements& measurements, bool with_loads);

/// Pages of one scope question, and how far they lie apart.
inline constexpr std::uint64_t k_scope_pages = 8;

}  // namespace gpusonde
