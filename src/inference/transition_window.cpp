#include "inference/transition_window.hpp"

#include <algorithm>
#include <cmath>

namespace gpusonde {
namespace {

constexpr double k_other_level = 0.3;  // a miss fraction beyond [-0.3, 1.3] belongs to another level
constexpr double k_flat_side = 0.1;    // below 0.1 and above 0.9 a point is on a plateau, or nearly
constexpr double k_least_step = 0.03;  // of the lower latency; a smaller step drowns in noise

}  // namespace

TransitionWindow transition_window(std::span<const CurvePoint> points, double low_latency, double high_latency) {
  TransitionWindow window;
  if (!(low_latency > 0) || !(high_latency > low_latency * (1 + k_least_step))) {
    window.why_not = "the two levels are too close to see the step between them";
    return window;
  }
  std::vector<TransitionPoint> all;
  for (const auto& point : points) {
    const double share = high_latency / std::max(point.latency, low_latency);
    all.push_back(
        {std::log2(point.size_bytes), (point.latency - low_latency) / (high_latency - low_latency), share * share});
  }
  // The step: where the points so far speak most for low and the rest most for high. One stray point
  // does not move it.
  double score = 0;
  double best = 0;
  std::size_t step = 0;
  for (std::size_t i = 0; i < all.size(); ++i) {
    score += std::clamp(0.5 - all[i].misses, -0.5, 0.5);
    if (score > best) {
      best = score;
      step = i + 1;
    }
  }
  if (step == 0 || step == all.size()) {
    window.why_not = "the curve does not cross from one level to the other";
    return window;
  }
  auto first = step;
  while (first > 0 && all[first - 1].misses > -k_other_level) --first;
  auto last = step;
  while (last < all.size() && all[last].misses < 1 + k_other_level) ++last;
  window.points.assign(all.begin() + static_cast<std::ptrdiff_t>(first),
                       all.begin() + static_cast<std::ptrdiff_t>(last));

  bool any_low = false;
  bool any_high = false;
  for (const auto& point : window.points) {
    if (point.misses < k_flat_side) {
      any_low = true;
      window.last_low = point.log2_size;
    } else if (point.misses > 1 - k_flat_side) {
      if (!any_high) window.first_high = point.log2_size;
      any_high = true;
    } else {
      ++window.inside;
    }
  }
  if (!any_low) window.why_not = "no point lies before the rise";
  if (!any_high) window.why_not = "no point lies after the rise";
  return window;
}

}  // namespace gpusonde
