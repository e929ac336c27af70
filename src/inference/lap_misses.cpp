// Which ring positions miss, lap after lap.
#include <algorithm>
#include <vector>

#include "inference/capacity.hpp"

namespace gpusonde {

LapMisses count_lap_misses(std::span<const std::uint32_t> hop_cycles, std::uint64_t lap_hops, double threshold_cycles) {
  LapMisses result;
  if (hop_cycles.empty() || lap_hops == 0) return result;
  const std::uint64_t hops = hop_cycles.size();
  const std::uint64_t positions = std::min(lap_hops, hops);
  std::vector<std::uint32_t> misses(positions, 0);
  std::uint64_t all_misses = 0;
  for (std::uint64_t hop = 0; hop < hops; ++hop)
    if (static_cast<double>(hop_cycles[hop]) > threshold_cycles) {
      ++misses[hop % lap_hops];
      ++all_misses;
    }

  std::uint64_t stray = 0;
  for (std::uint64_t position = 0; position < positions; ++position) {
    const std::uint64_t laps = (hops - position + lap_hops - 1) / lap_hops;
    const bool seen_again = laps >= 2;
    const bool consistent = seen_again && 2 * std::uint64_t{misses[position]} > laps;
    result.positions += seen_again ? 1 : 0;
    result.consistent += consistent ? 1 : 0;
    if (!consistent) stray += misses[position];
  }
  result.miss_fraction = static_cast<double>(all_misses) / static_cast<double>(hops);
  result.stray_fraction = static_cast<double>(stray) / static_cast<double>(hops);
  return result;
}

}  // namespace gpusonde
