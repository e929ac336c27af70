#include "inference/recency.hpp"

#include <algorithm>
#include <cmath>

namespace gpusonde {
namespace {

constexpr std::size_t k_least_points = 8;
constexpr double k_most_left = 0.03;
constexpr double k_systematic_fraction = 0.01;

// Over every `step`-th point, the last one included.
double integral(std::span<const RecencyPoint> points, std::size_t step) {
  double sum = points.front().bytes_back * (1 + points.front().resident) / 2;
  std::size_t last = 0;
  const auto add = [&](std::size_t i) {
    sum += (points[i].bytes_back - points[last].bytes_back) * (points[i].resident + points[last].resident) / 2;
    last = i;
  };
  for (std::size_t i = step; i < points.size(); i += step) add(i);
  if (last + 1 != points.size()) add(points.size() - 1);
  return sum;
}

double mean_of_last(std::span<const RecencyPoint> points, std::size_t count) {
  double sum = 0;
  for (const auto& point : points.last(count)) sum += point.resident;
  return sum / static_cast<double>(count);
}

}  // namespace

Estimate resident_bytes(std::span<const RecencyPoint> points, double point_sigma) {
  if (points.size() < k_least_points) return inconclusive("too few points on the recency curve");
  if (mean_of_last(points, 3) > k_most_left)
    return inconclusive("lines are still resident at the end of the recency curve");
  const double value = integral(points, 1);
  double variance = 0;
  for (std::size_t i = 0; i < points.size(); ++i) {
    const double left = i == 0 ? 0 : points[i - 1].bytes_back;
    const double right = i + 1 == points.size() ? points[i].bytes_back : points[i + 1].bytes_back;
    const double weight = (right - left) / 2;
    const double share = std::clamp(points[i].resident, 0.0, 1.0);
    variance += weight * weight * (share * (1 - share) / std::max(1.0, points[i].hops) + point_sigma * point_sigma);
  }
  const double coarse = std::abs(value - integral(points, 2));
  const double half = 2 * std::sqrt(variance) + coarse + k_systematic_fraction * value;
  if (2 * half > k_widest_capacity * value)
    return inconclusive("the recency curve is too noisy: its integral is uncertain by more than 7 %");
  return {Outcome::ok, value, {value - half, value + half}, {}};
}

}  // namespace gpusonde
