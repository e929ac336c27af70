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

std::uint32_t wavefronts(std::span<const std::uint64_t> lanes, std::uint32_t width) {
  constexpr std::uint64_t k_banks = 32;
  std::map<std::uint64_t, std::vector<std::uint64_t>> words;  // by bank
  for (const auto lane : lanes)
    for (std::uint64_t byte = lane; byte < lane + width; byte += 4) words[byte / 4 % k_banks].push_back(byte / 4);
  std::size_t most = 0;
  for (auto& [bank, of_bank] : words) most = std::max(most, distinct(std::move(of_bank)));
  return static_cast<std::uint32_t>(most);
}

Estimate cycles_of_each(std::span<const std::pair<double, double>> latency_by_number, double noise_cycles) {
  double x = 0, y = 0, xx = 0, xy = 0;
  for (const auto& [number, cycles] : latency_by_number) {
    x += number;
    y += cycles;
  }
  const auto n = static_cast<double>(latency_by_number.size());
  if (n < 4) return inconclusive("too few patterns were measured");
  x /= n;
  y /= n;
  for (const auto& [number, cycles] : latency_by_number) {
    xx += (number - x) * (number - x);
    xy += (number - x) * (cycles - y);
  }
  if (!(xx > 0)) return inconclusive("all patterns have as many");
  const double slope = xy / xx;
  double worst = 0;
  double squares = 0;
  for (const auto& [number, cycles] : latency_by_number) {
    const double off = std::abs(cycles - y - slope * (number - x));
    worst = std::max(worst, off);
    squares += off * off;
  }
  const double reach = std::sqrt(xx / n);
  if (slope * reach < noise_cycles)
    return inconclusive(fmt::format("{:.2f} cycles each are nothing that stands out", slope));
  if (worst > std::max(2 * noise_cycles, 0.1 * slope * reach))
    return inconclusive(fmt::format("the latency of a pattern is {:.0f} cycles off a line in their number", worst));
  const double error = 2 * std::sqrt(squares / (n - 2) / xx) + noise_cycles / (4 * reach);
  return {Outcome::ok, slope, {slope - error, slope + error}, {}};
}

HitCost what_hits_pay_for(double measured_cycles, double by_lines_cycles, double by_wavefronts_cycles) {
  constexpr double k_far_better = 0.35;
  const double lines_off = std::abs(measured_cycles - by_lines_cycles);
  const double wavefronts_off = std::abs(measured_cycles - by_wavefronts_cycles);
  if (lines_off < k_far_better * wavefronts_off) return HitCost::lines;
  if (wavefronts_off < k_far_better * lines_off) return HitCost::wavefronts;
  return HitCost::unclear;
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
