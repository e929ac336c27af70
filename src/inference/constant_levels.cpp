#include "inference/constant_levels.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <optional>

#include "core/units.hpp"
#include "inference/statistics.hpp"

namespace gpusonde {
namespace {

constexpr double k_of_l2 = 0.85;  // as slow as this, a load went to L2
constexpr double k_same_level = 0.04;
constexpr double k_missing = 0.01;  // of the loads: no longer held
constexpr double k_noise_sigmas = 4;
constexpr double k_clearest = 0.25;  // of the step that noise may take
constexpr double k_bias_cycles = 0.15;
constexpr double k_bias_fraction = 0.0025;

Estimate latency_of(const Plateau& plateau) {
  const double bias = std::max(k_bias_cycles, k_bias_fraction * plateau.latency);
  return {Outcome::ok, plateau.latency, {plateau.interval.low - bias, plateau.interval.high + bias}, {}};
}

double sigma_of(const StrideCurve& curve, const Plateau& plateau) {
  std::vector<double> values;
  for (auto i = plateau.first; i <= plateau.last; ++i) values.push_back(curve.points[i].latency);
  return mad_sigma(values);
}

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

/// The plateau of a level in a curve of another stride, and what comes after it.
struct Seen {
  Plateau level;
  double next_cycles = 0;  ///< 0: nothing, the curve ends with the level
};
std::optional<Seen> seen_in(const StrideCurve& curve, double cycles) {
  const auto plateaus = find_plateaus(curve.points);
  for (std::size_t i = 0; i < plateaus.size(); ++i) {
    if (std::abs(plateaus[i].latency - cycles) > std::max(1.0, k_same_level * cycles)) continue;
    double next = i + 1 < plateaus.size() ? plateaus[i + 1].latency : 0;
    // Behind the last plateau a curve may still rise.
    if (next == 0 && curve.points.back().latency > (1 + k_same_level) * plateaus[i].latency)
      next = curve.points.back().latency;
    return Seen{plateaus[i], next};
  }
  return {};
}

void find_capacity(std::span<const StrideCurve> curves, ConstantLevel& level) {
  level.capacity = inconclusive("no stride shows where it ends");
  std::uint64_t held_bytes = 0;
  for (const auto& curve : curves) {
    const auto seen = seen_in(curve, level.latency.value);
    if (!seen) continue;
    if (seen->next_cycles == 0) {
      held_bytes = std::max(held_bytes, static_cast<std::uint64_t>(curve.points.back().size_bytes));
      continue;
    }
    const auto found = edge(curve, seen->level, seen->next_cycles);
    if (!found.ok()) {
      if (!level.capacity.ok()) level.capacity = found;
      continue;
    }
    if (level.capacity.ok() && level.capacity.value <= found.value) continue;
    level.capacity = found;
    level.stride_bytes = curve.stride_bytes;
  }
  if (!level.capacity.ok() && held_bytes != 0)
    level.capacity =
        inconclusive(fmt::format("it holds all constants that a program can have, {}", format_bytes(held_bytes)));
}

}  // namespace

std::vector<ConstantLevel> constant_levels(std::span<const StrideCurve> curves, std::uint64_t level_stride_bytes,
                                           double l2_cycles) {
  std::vector<ConstantLevel> levels;
  const auto at = std::find_if(curves.begin(), curves.end(),
                               [&](const StrideCurve& curve) { return curve.stride_bytes == level_stride_bytes; });
  if (at == curves.end()) return levels;
  for (const auto& plateau : find_plateaus(at->points)) {
    if (plateau.latency >= k_of_l2 * l2_cycles) break;
    ConstantLevel level;
    level.latency = latency_of(plateau);
    find_capacity(curves, level);
    levels.push_back(level);
  }
  return levels;
}

}  // namespace gpusonde
