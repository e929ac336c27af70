// Geometry of one cache: lines and sectors, ways, sets and their function, replacement. What L1 and L2 have in common;
// the two differ in the load that meets them and in what can be asked at once.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "inference/set_function.hpp"
#include "probe/probe.hpp"

namespace gpusonde {

struct CacheAsked {
  std::string_view level;  ///< "l1" or "l2", as in findings and tables
  LoadPath path = LoadPath::global_ca;
  bool own = true;  ///< an SM's own: empty at the beginning of a test, and asked on all SMs at once
};
inline constexpr CacheAsked k_l1_asked{"l1", LoadPath::global_ca, true};
inline constexpr CacheAsked k_l2_asked{"l2", LoadPath::global_cg, false};

[[nodiscard]] Result<void> measure_cache(ProbeContext& context, const CacheAsked& asked);
[[nodiscard]] Analysis analyze_cache(const AnalysisInput& input, const CacheAsked& asked);

/// `cache.l1.lines`.
[[nodiscard]] std::string cache_table(const CacheAsked& asked, std::string_view part);

/// A column; empty where there is none of that name.
[[nodiscard]] const std::vector<std::uint64_t>& numbers(const Table& table, std::string_view name);

/// Groups of lines that share a set, and pairs that do not, as the table `lines` holds them.
struct SetEvidence {
  std::vector<LineGroup> groups;
  std::vector<LinePair> apart;
  std::uint64_t address_bits = 0;  ///< that differ between lines, those inside a line left out
  bool physical = false;
};
[[nodiscard]] SetEvidence read_set_evidence(const Measurements& measurements, const CacheAsked& asked);

/// Ways by the searches that ended: the number that nearly all agree on.
struct WaysEvidence {
  std::uint64_t searches = 0;
  std::uint64_t found = 0;  ///< that ended with a set
  std::uint64_t agree = 0;  ///< of these, with `ways` lines
  std::uint64_t ways = 0;
  std::uint64_t candidates = 0;  ///< lines drawn at random and tried against a set
  std::uint64_t members = 0;     ///< of them, in the set
  std::string trouble;           ///< of the last search that failed
};
[[nodiscard]] WaysEvidence read_ways(const Measurements& measurements, const CacheAsked& asked);
/// Sets from how often a random line falls into a given one: about 99.7 %.
[[nodiscard]] SetsHint sets_by_chance(const WaysEvidence& ways);

/// Nothing when the groups were not measured.
[[nodiscard]] std::optional<SetFunctionFit> fit_sets(const Measurements& measurements, const CacheAsked& asked);

}  // namespace gpusonde
