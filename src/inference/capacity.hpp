// How much stays resident: from hit/miss counts at one size, and by bisection.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string>

#include "gpusonde/error.hpp"
#include "inference/estimate.hpp"
#include "inference/levels.hpp"

namespace gpusonde {

/// Per-hop latencies of whole laps of a ring: which positions miss. A hop counts as a miss above
/// `threshold_cycles`; a position that misses in most laps is a real one, a stray one is noise.
struct LapMisses {
  std::uint64_t positions = 0;   ///< ring positions seen in at least two laps
  std::uint64_t consistent = 0;  ///< positions that miss in more than half of their laps
  double miss_fraction = 0;      ///< of all hops
  double stray_fraction = 0;     ///< hops that miss at positions which are not consistent
};
[[nodiscard]] LapMisses count_lap_misses(std::span<const std::uint32_t> hop_cycles, std::uint64_t lap_hops,
                                         double threshold_cycles);

/// Threshold between two latency populations: the emptiest gap between them, no nearer than a quarter
/// of the distance to either. Inconclusive when they overlap (fewer than 5 sigma apart).
[[nodiscard]] Estimate hit_miss_threshold(std::span<const std::uint32_t> hits, std::span<const std::uint32_t> misses);

/// Largest n in [low, high] for which `resident` holds, by bisection; resident(low) must hold and
/// resident(high) must not, both are asked first (inconclusive otherwise). Each answer is an error
/// (passed on), or true/false. The edge is confirmed: resident(n) and !resident(n+1) asked again.
[[nodiscard]] Result<Estimate> bisect_resident(std::uint64_t low, std::uint64_t high,
                                               const std::function<Result<bool>(std::uint64_t)>& resident);

}  // namespace gpusonde
