#include "inference/curve_segments.hpp"

#include <algorithm>
#include <cmath>

#include "inference/statistics.hpp"

namespace gpusonde {
namespace {

constexpr double k_sigma_floor = 0.0015;
constexpr double k_least_latency = 1e-3;      // keeps the logarithm finite
constexpr double k_median_widening = 1.2533;  // sqrt(pi / 2): a median's error over a mean's

}  // namespace

LogCurve to_log_curve(std::span<const CurvePoint> curve) {
  LogCurve result;
  result.octaves.reserve(curve.size());
  result.values.reserve(curve.size());
  for (const auto& point : curve) {
    result.octaves.push_back(std::log2(point.size_bytes));
    result.values.push_back(std::log(std::max(point.latency, k_least_latency)));
  }
  result.sigma = std::max(difference_sigma(result.values), k_sigma_floor);
  return result;
}

Segment make_segment(const LogCurve& curve, std::size_t first, std::size_t last) {
  return {first, last, median(std::span(curve.values).subspan(first, last - first + 1))};
}

Trend trend(const LogCurve& curve, const Segment& segment) {
  const auto count = static_cast<double>(segment.count());
  double mean_x = 0;
  double mean_y = 0;
  for (auto i = segment.first; i <= segment.last; ++i) {
    mean_x += curve.octaves[i] / count;
    mean_y += curve.values[i] / count;
  }
  double spread = 0;
  double product = 0;
  for (auto i = segment.first; i <= segment.last; ++i) {
    spread += (curve.octaves[i] - mean_x) * (curve.octaves[i] - mean_x);
    product += (curve.octaves[i] - mean_x) * (curve.values[i] - mean_y);
  }
  if (spread <= 0) return {};
  return {product / spread, curve.sigma / std::sqrt(spread)};
}

double level_difference_error(const LogCurve& curve, const Segment& a, const Segment& b) {
  const double parts = 1 / static_cast<double>(a.count()) + 1 / static_cast<double>(b.count());
  return k_median_widening * curve.sigma * std::sqrt(parts);
}

}  // namespace gpusonde
