#include "inference/constant_levels.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <optional>

#include "core/units.hpp"
#include "inference/operation_times.hpp"
#include "inference/statistics.hpp"

namespace gpusonde {
namespace {

constexpr double k_of_l2 = 0.85;  // as slow as this, a load went to L2
constexpr double k_same_level = 0.04;
constexpr double k_missing = 0.01;  // of the loads: no longer held
constexpr double k_noise_sigmas = 4;
constexpr double k_clearest = 0.25;  // of the step that noise may take
constexpr std::size_t k_least_strides = 3;
constexpr std::size_t k_enough_points = 8;
constexpr double k_bias_cycles = 0.15;
constexpr double k_bias_fraction = 0.0025;

std::vector<double> latencies(const StrideCurve& curve, const Plateau& plateau) {
  std::vector<double> values;
  for (auto i = plateau.first; i <= plateau.last; ++i) values.push_back(curve.points[i].latency);
  return values;
}

double sigma_of(const StrideCurve& curve, const Plateau& plateau) { return mad_sigma(latencies(curve, plateau)); }

/// The largest size of the level, with the next one as the other end.
Estimate edge(const StrideCurve& curve, const Plateau& level, double next_cycles) {
  const double step = next_cycles - level.latency;
  const double tolerance = std::max(k_missing * step, k_noise_sigmas * sigma_of(curve, level));
  if (tolerance > k_clearest * step)
    return inconclusive(
        fmt::format("readings of the level scatter by {:.0f} % of the step behind it", 100 * tolerance / step));
  const auto held = [&](std::size_t i) { return curve.points[i].latency <= level.latency + tolerance; };
  std::size_t last = level.first;
  for (auto i = level.first; i < curve.points.size(); ++i)
    if (held(i)) last = i;
  for (auto i = level.first; i <= last; ++i)
    if (!held(i))
      return inconclusive(fmt::format("answers disagree: {} does not stay, {} does",
                                      format_bytes(static_cast<std::uint64_t>(curve.points[i].size_bytes)),
                                      format_bytes(static_cast<std::uint64_t>(curve.points[last].size_bytes))));
  const double bytes = curve.points[last].size_bytes;
  if (last + 1 == curve.points.size())
    return inconclusive(fmt::format("it holds all constants that a program can have, {}",
                                    format_bytes(static_cast<std::uint64_t>(bytes))));
  return {Outcome::ok, bytes, {bytes, curve.points[last + 1].size_bytes}, {}};
}

/// A plateau at one stride, and what comes after it.
struct Seen {
  const StrideCurve* curve;
  Plateau level;
  double next_cycles = 0;  ///< 0: nothing, the curve ends with the level
};
/// Those of one latency, by rising stride.
using Candidate = std::vector<Seen>;

double next_cycles(const StrideCurve& curve, const std::vector<Plateau>& plateaus, std::size_t i) {
  if (i + 1 < plateaus.size()) return plateaus[i + 1].latency;
  // Behind the last plateau a curve may still rise.
  const double last = curve.points.back().latency;
  return last > (1 + k_same_level) * plateaus[i].latency ? last : 0;
}

std::vector<Candidate> candidates(std::span<const StrideCurve> curves, double most_cycles) {
  std::vector<Seen> all;
  for (const auto& curve : curves) {
    const auto plateaus = find_plateaus(curve.points);
    for (std::size_t i = 0; i < plateaus.size(); ++i)
      if (plateaus[i].latency < most_cycles) all.push_back({&curve, plateaus[i], next_cycles(curve, plateaus, i)});
  }
  std::stable_sort(all.begin(), all.end(),
                   [](const Seen& a, const Seen& b) { return a.level.latency < b.level.latency; });
  std::vector<Candidate> found;
  for (const auto& each : all) {
    const bool same = !found.empty() && each.level.latency - found.back().front().level.latency <=
                                            std::max(1.0, k_same_level * each.level.latency);
    if (!same) found.emplace_back();
    found.back().push_back(each);
  }
  for (auto& candidate : found)
    std::stable_sort(candidate.begin(), candidate.end(),
                     [](const Seen& a, const Seen& b) { return a.curve->stride_bytes < b.curve->stride_bytes; });
  return found;
}

/// At the coarsest stride that has points enough.
Estimate latency_of(const Candidate& candidate) {
  const Seen* best = &candidate.front();
  const auto points = [](const Seen& seen) { return seen.level.last - seen.level.first + 1; };
  for (const auto& seen : candidate)
    if (points(seen) >= std::min(k_enough_points, points(*best))) best = &seen;
  const auto values = latencies(*best->curve, best->level);
  const double value = median(values);
  const double bias = std::max(k_bias_cycles, k_bias_fraction * value);
  const auto interval = sure_median_interval(values);
  return {Outcome::ok, value, {interval.low - bias, interval.high + bias}, {}};
}

std::size_t strides_of(const Candidate& candidate) {
  std::size_t strides = 0;
  for (std::size_t i = 0; i < candidate.size(); ++i)
    strides += i == 0 || candidate[i].curve != candidate[i - 1].curve ? 1 : 0;
  return strides;
}

void find_capacity(const Candidate& candidate, ConstantLevel& level) {
  std::uint64_t held_bytes = 0;
  std::optional<Estimate> least;
  for (const auto& seen : candidate) {
    if (seen.next_cycles == 0) {
      held_bytes = std::max(held_bytes, static_cast<std::uint64_t>(seen.curve->points.back().size_bytes));
      continue;
    }
    level.capacity = edge(*seen.curve, seen.level, seen.next_cycles);
    // Any stride may be the one that says it.
    if (!level.capacity.ok()) return;
    if (least && least->value <= level.capacity.value) continue;
    least = level.capacity;
    level.stride_bytes = seen.curve->stride_bytes;
  }
  if (least)
    level.capacity = *least;
  else
    level.capacity =
        inconclusive(fmt::format("it holds all constants that a program can have, {}", format_bytes(held_bytes)));
}

}  // namespace

std::vector<ConstantLevel> constant_levels(std::span<const StrideCurve> curves, double l2_cycles) {
  std::vector<ConstantLevel> levels;
  for (const auto& candidate : candidates(curves, k_of_l2 * l2_cycles)) {
    const auto strides = strides_of(candidate);
    if (strides < k_least_strides) {
      const bool finest = strides == 1 && curves.size() > 1 && candidate.front().curve <= &curves[1];
      if (finest) continue;
      break;
    }
    ConstantLevel level;
    level.latency = latency_of(candidate);
    find_capacity(candidate, level);
    levels.push_back(level);
  }
  return levels;
}

}  // namespace gpusonde
