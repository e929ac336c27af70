#include "inference/coalesce.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <map>

#include "core/random.hpp"
#include "inference/statistics.hpp"

namespace gpusonde {
namespace {

constexpr std::uint32_t k_lanes = 32;
constexpr std::uint64_t k_random_bytes = 1ULL << 20;
constexpr std::uint64_t k_random_line_bytes = 1024;  // far above any line, so that each lane has its own

std::size_t distinct(std::vector<std::uint64_t> values) {
  std::sort(values.begin(), values.end());
  return static_cast<std::size_t>(std::unique(values.begin(), values.end()) - values.begin());
}

/// Latencies by how many lines a load has.
std::map<std::uint32_t, std::vector<double>> by_lines(std::span<const PatternLatency> patterns,
                                                      std::uint32_t line_bytes) {
  std::map<std::uint32_t, std::vector<double>> latencies;
  for (const auto& [pattern, l1, l2] : patterns) {
    if (pattern.width != 4) continue;
    if (const auto load = coalesce(pattern.lanes, pattern.width, line_bytes); load)
      latencies[load->lines].push_back(l1);
  }
  return latencies;
}

/// Equal loads take equally long, more lines no less, and many lines longer than half as many: tags are looked up some
/// at a time, so that few lines may cost nothing.
bool depends_on_lines_alone(const std::map<std::uint32_t, std::vector<double>>& latencies, double noise_cycles) {
  constexpr std::uint32_t k_many_lines = 16;
  double before = -1e9;
  for (const auto& [lines, cycles] : latencies) {
    const auto [low, high] = std::minmax_element(cycles.begin(), cycles.end());
    if (*high - *low > noise_cycles) return false;
    if (*low < before + (lines >= k_many_lines ? noise_cycles : -noise_cycles)) return false;
    before = *high;
  }
  return latencies.size() >= 4;
}

}  // namespace

Result<CoalescedLoad> coalesce(std::span<const std::uint64_t> lanes, std::uint32_t width, std::uint32_t line_bytes,
                               std::uint32_t sector_bytes) {
  if (width == 0 || !std::has_single_bit(width))
    return fail(ErrorKind::usage, fmt::format("a load of {} B: give 4, 8 or 16", width));
  std::vector<std::uint64_t> lines;
  std::vector<std::uint64_t> sectors;
  for (std::size_t lane = 0; lane < lanes.size(); ++lane) {
    if (lanes[lane] % width != 0)
      return fail(ErrorKind::usage,
                  fmt::format("lane {} loads {} B from {}, which is no multiple of {}; the next one is {}", lane, width,
                              lanes[lane], width, lanes[lane] / width * width + width));
    for (std::uint64_t byte = lanes[lane]; byte < lanes[lane] + width;
         byte += std::min<std::uint64_t>(width, sector_bytes)) {
      lines.push_back(byte / line_bytes);
      sectors.push_back(byte / sector_bytes);
    }
  }
  return CoalescedLoad{static_cast<std::uint32_t>(distinct(std::move(lines))),
                       static_cast<std::uint32_t>(distinct(std::move(sectors)))};
}

LanePattern stride_pattern(std::uint32_t stride, std::uint32_t width) {
  LanePattern pattern{stride == 0 ? std::string("same address") : fmt::format("stride {}", stride), width, {}};
  for (std::uint64_t lane = 0; lane < k_lanes; ++lane) pattern.lanes.push_back(lane * stride * width);
  return pattern;
}

LanePattern random_pattern(std::uint32_t width, std::uint64_t seed) {
  LanePattern pattern{"random", width, {}};
  Random random(mix64(seed ^ 0xC0A1));
  std::vector<std::uint64_t> lines(k_random_bytes / k_random_line_bytes);
  for (std::size_t i = 0; i < lines.size(); ++i) lines[i] = i * k_random_line_bytes;
  for (std::uint32_t lane = 0; lane < k_lanes; ++lane) {
    std::swap(lines[lane], lines[lane + random.below(lines.size() - lane)]);
    pattern.lanes.push_back(lines[lane] + random.below(k_random_line_bytes / width) * width);
  }
  return pattern;
}

std::vector<LanePattern> standard_patterns(std::uint64_t seed) {
  std::vector<LanePattern> patterns;
  for (const std::uint32_t stride : {0U, 1U, 2U, 4U, 8U, 16U, 32U, 64U}) patterns.push_back(stride_pattern(stride, 4));
  patterns.push_back(random_pattern(4, seed));
  for (const std::uint32_t width : {8U, 16U})
    for (const std::uint32_t stride : {1U, 2U, 16U}) patterns.push_back(stride_pattern(stride, width));
  return patterns;
}

Estimate line_size_by_latency(std::span<const PatternLatency> patterns, double noise_cycles) {
  std::vector<std::uint32_t> possible;
  for (const std::uint32_t bytes : {32U, 64U, 128U, 256U, 512U})
    if (depends_on_lines_alone(by_lines(patterns, bytes), noise_cycles)) possible.push_back(bytes);
  if (possible.size() == 1) return exactly(possible.front());
  if (possible.empty())
    return inconclusive("the latency of hits does not go by the number of lines, whatever the size of a line");
  return inconclusive(
      fmt::format("the latency of hits goes with lines of {} B as well as of {} B", possible[0], possible[1]));
}

Estimate cycles_a_line(std::span<const PatternLatency> patterns, std::uint32_t line_bytes, double noise_cycles) {
  const auto latencies = by_lines(patterns, line_bytes);
  if (latencies.size() < 3) return inconclusive("too few numbers of lines were measured");
  const double fewest = latencies.begin()->first;
  const double base = median(latencies.begin()->second);
  std::vector<double> slopes;
  double most = 0;
  for (const auto& [lines, cycles] : latencies) {
    if (lines == latencies.begin()->first) continue;
    const double further = lines - fewest;
    if (further < 7) continue;  // a cycle of error matters less beyond
    slopes.push_back((median(cycles) - base) / further);
    most = std::max(most, further);
  }
  if (slopes.empty() || !(most > 0)) return inconclusive("too few numbers of lines were measured");
  const double slope = slopes.back();
  const auto [low, high] = std::minmax_element(slopes.begin(), slopes.end());
  if (slope <= 0 || *high - *low > 0.2 * slope + noise_cycles / 7)
    return inconclusive(fmt::format("a further line takes from {:.2f} to {:.2f} cycles, by their number", *low, *high));
  const double error = std::max(noise_cycles / most, (*high - *low) / 2);
  return {Outcome::ok, slope, {slope - error, slope + error}, {}};
}

Estimate sector_size(std::span<const std::pair<std::uint64_t, double>> readings, double hit_cycles,
                     double miss_cycles) {
  if (readings.empty()) return {Outcome::skipped, 0, {}, "not measured"};
  if (!(miss_cycles > 1.3 * hit_cycles))
    return inconclusive(fmt::format("loads that miss take {:.0f} cycles and those that hit {:.0f}: not apart enough",
                                    miss_cycles, hit_cycles));
  const double cut = (hit_cycles + miss_cycles) / 2;
  std::uint64_t size = 0;
  for (const auto& [distance, cycles] : readings) {
    const bool missed = cycles > cut;
    if (missed && size == 0) size = distance;
    if (!missed && size != 0)
      return inconclusive(
          fmt::format("words {} B on are not there after a load, but those {} B on are", size, distance));
  }
  if (size == 0)
    return inconclusive(fmt::format("all words up to {} B on are there after a load", readings.back().first));
  if (size <= readings.front().first) return inconclusive("not even the next word is there after a load");
  return exactly(static_cast<double>(size));
}

}  // namespace gpusonde
