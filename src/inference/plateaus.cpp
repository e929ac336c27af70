// Which stretches of a working-set curve are levels. A level is flat over a range of sizes, stands out
// from the noise, and is higher than the one before; everything else is transition. When in doubt a
// stretch is not a level: a missing level is seen by its absence, an invented one is believed.
#include <algorithm>
#include <cmath>
#include <limits>

#include "inference/curve_segments.hpp"
#include "inference/levels.hpp"
#include "inference/statistics.hpp"

namespace gpusonde {
namespace {

constexpr double k_least_octaves = 0.25;      // a level extends over at least a quarter octave
constexpr double k_drift_per_octave = 0.05;   // more than this, significantly, is a slope
constexpr double k_trend_sigmas = 2.0;        // when a slope is significant
constexpr double k_distinct_sigmas = 5.5;     // when two levels are; the whole curve is one such test each point
constexpr double k_flat_part_of_step = 0.75;  // a level may drift by less than this part of its step
constexpr double k_unseen_step = 0.06;        // assumed beyond the largest size

double tolerance(const LevelOptions& options, double log_level) {
  return std::max(options.merge_fraction, options.merge_cycles / std::exp(log_level));
}

bool same_level(const LevelOptions& options, const Segment& a, const Segment& b) {
  const double allowed = tolerance(options, std::min(a.level, b.level));
  return std::abs(a.level - b.level) < allowed;
}

// Joins neighbours of the same level, nearest first, so that a drift within a level does not decide
// where it is cut.
void merge_neighbours(const LogCurve& curve, const LevelOptions& options, std::vector<Segment>& segments) {
  while (true) {
    std::size_t nearest = 0;
    double smallest = std::numeric_limits<double>::infinity();
    for (std::size_t i = 1; i < segments.size(); ++i) {
      const double distance = std::abs(segments[i].level - segments[i - 1].level);
      if (same_level(options, segments[i - 1], segments[i]) && distance < smallest) {
        smallest = distance;
        nearest = i;
      }
    }
    if (nearest == 0) return;
    segments[nearest - 1] = make_segment(curve, segments[nearest - 1].first, segments[nearest].last);
    segments.erase(segments.begin() + static_cast<std::ptrdiff_t>(nearest));
  }
}

double octaves_of(const LogCurve& curve, const Segment& segment) {
  return curve.octaves[segment.last] - curve.octaves[segment.first];
}

bool long_enough(const LogCurve& curve, const LevelOptions& options, const Segment& segment) {
  constexpr double k_rounding = 1e-9;
  return segment.count() >= options.min_points && octaves_of(curve, segment) >= k_least_octaves - k_rounding;
}

bool slopes(const LogCurve& curve, const Segment& segment) {
  const auto [slope, error] = trend(curve, segment);
  return std::abs(slope) - k_trend_sigmas * error > k_drift_per_octave;
}

// How much of a step a segment's own drift could make up, over an octave at least and as large as the
// noise allows. Near 1 the segment may be nothing but a part of the rise.
double rise_part(const LogCurve& curve, const Segment& segment, double step) {
  const auto [slope, error] = trend(curve, segment);
  return (std::abs(slope) + error) * std::max(octaves_of(curve, segment), 1.0) / std::abs(step);
}

double worst_rise_part(const LogCurve& curve, const std::vector<Segment>& levels, std::size_t i) {
  double part = 0;
  if (i > 0) part = std::max(part, rise_part(curve, levels[i], levels[i].level - levels[i - 1].level));
  // What lies beyond the largest size is not known: a small step is assumed.
  const double next = i + 1 < levels.size() ? levels[i + 1].level - levels[i].level : k_unseen_step;
  return std::max(part, rise_part(curve, levels[i], next));
}

// Joins or drops levels that are not told apart, until all rise. Of two that fall, the shorter one is
// the disturbance.
void keep_rising(const LogCurve& curve, const LevelOptions& options, std::vector<Segment>& levels) {
  for (std::size_t i = 1; i < levels.size();) {
    auto& before = levels[i - 1];
    const auto& after = levels[i];
    const double least =
        std::max(tolerance(options, before.level), k_distinct_sigmas * level_difference_error(curve, before, after));
    if (std::abs(after.level - before.level) < least) {
      before = make_segment(curve, before.first, after.last);
      levels.erase(levels.begin() + static_cast<std::ptrdiff_t>(i));
    } else if (after.level < before.level) {
      const bool drop_after = after.count() < before.count();
      levels.erase(levels.begin() + static_cast<std::ptrdiff_t>(drop_after ? i : i - 1));
    } else {
      ++i;
      continue;
    }
    i = std::max<std::size_t>(i, 2) - 1;
  }
}

// Short or noisy stretches that could as well be rising lose against the level they lead to; the one
// most like a rise goes first, since its neighbours are judged by the step towards it.
void drop_rises(const LogCurve& curve, std::vector<Segment>& levels) {
  while (levels.size() > 1) {
    std::size_t worst = 0;
    double worst_part = k_flat_part_of_step;
    for (std::size_t i = 0; i < levels.size(); ++i)
      if (const double part = worst_rise_part(curve, levels, i); part > worst_part) {
        worst_part = part;
        worst = i + 1;
      }
    if (worst == 0) return;
    levels.erase(levels.begin() + static_cast<std::ptrdiff_t>(worst - 1));
  }
}

Plateau to_plateau(std::span<const CurvePoint> curve, const Segment& segment) {
  std::vector<double> latencies;
  for (auto i = segment.first; i <= segment.last; ++i) latencies.push_back(curve[i].latency);
  return {segment.first, segment.last, median(latencies), median_interval(latencies)};
}

}  // namespace

std::vector<Plateau> find_plateaus(std::span<const CurvePoint> curve, const LevelOptions& options) {
  if (curve.size() < std::max<std::size_t>(options.min_points, 2)) return {};
  const auto logs = to_log_curve(curve);
  const double penalty = 3 * logs.sigma * logs.sigma * std::log(static_cast<double>(curve.size()));

  std::vector<Segment> segments;
  std::size_t first = 0;
  auto ends = change_points(logs.values, penalty);
  ends.push_back(curve.size());
  for (const auto end : ends) {
    segments.push_back(make_segment(logs, first, end - 1));
    first = end;
  }
  merge_neighbours(logs, options, segments);
  std::erase_if(segments, [&](const Segment& s) { return !long_enough(logs, options, s) || slopes(logs, s); });
  keep_rising(logs, options, segments);
  drop_rises(logs, segments);
  keep_rising(logs, options, segments);

  std::vector<Plateau> plateaus;
  for (const auto& segment : segments) plateaus.push_back(to_plateau(curve, segment));
  return plateaus;
}

}  // namespace gpusonde
