#include "inference/recency.hpp"

#include <algorithm>
#include <cmath>
#include <vector>

#include "inference/statistics.hpp"

namespace gpusonde {
namespace {

constexpr double k_widest_fraction = 0.15;
constexpr double k_least_separation_sigma = 4;
constexpr double k_systematic_fraction = 0.01;  // hits and misses taken for each other, lines of the tail

struct LevelOfPoints {
  double latency = 0;
  double point_sigma = 0;  ///< scatter of one point
  std::size_t count = 0;
};

template <class Wanted>
LevelOfPoints level_of(std::span<const RecencyPoint> points, const Wanted& wanted) {
  std::vector<double> latencies;
  for (const auto& point : points)
    if (wanted(point)) latencies.push_back(point.latency);
  if (latencies.empty()) return {};
  double mean = 0;
  for (const double latency : latencies) mean += latency / static_cast<double>(latencies.size());
  double squares = 0;
  for (const double latency : latencies) squares += (latency - mean) * (latency - mean);
  const auto free = static_cast<double>(std::max<std::size_t>(1, latencies.size() - 1));
  return {mean, std::sqrt(squares / free), latencies.size()};
}

double trapezoids(std::span<const double> x, std::span<const double> y, std::size_t step) {
  double sum = 0;
  std::size_t last = 0;
  for (std::size_t i = step; i < x.size(); i += step) {
    sum += (x[i] - x[last]) * (y[i] + y[last]) / 2;
    last = i;
  }
  const std::size_t end = x.size() - 1;
  return last == end ? sum : sum + (x[end] - x[last]) * (y[end] + y[last]) / 2;
}

}  // namespace

Estimate resident_bytes(std::span<const RecencyPoint> points, double hit_bytes, double miss_bytes) {
  const auto low = level_of(points, [&](const RecencyPoint& p) { return p.bytes_back <= hit_bytes; });
  const auto high = level_of(points, [&](const RecencyPoint& p) { return p.bytes_back >= miss_bytes; });
  if (low.count < 2 || high.count < 2) return inconclusive("too few points on the plateaus of the recency curve");
  const double rise = high.latency - low.latency;
  const double point_sigma = std::max(low.point_sigma, high.point_sigma);
  if (rise <= 0 || rise < k_least_separation_sigma * point_sigma)
    return inconclusive("hits and misses are too close together on the recency curve");

  std::vector<double> bytes;
  std::vector<double> resident;
  for (const auto& point : points) {
    bytes.push_back(point.bytes_back);
    resident.push_back((high.latency - point.latency) / rise);
  }
  const double value = bytes.front() + trapezoids(bytes, resident, 1);

  double variance = 0;
  for (std::size_t i = 0; i < points.size(); ++i) {
    const double left = i == 0 ? bytes[0] : bytes[i - 1];
    const double right = i + 1 == bytes.size() ? bytes[i] : bytes[i + 1];
    const double weight = (right - left) / 2;
    const double f = std::clamp(resident[i], 0.0, 1.0);
    const double noise = point_sigma / rise;
    variance += weight * weight * (f * (1 - f) / std::max(1.0, points[i].hops) + noise * noise);
  }
  // A shift of either level moves the whole integral below or above it.
  const double low_shift = low.point_sigma / std::sqrt(static_cast<double>(low.count)) / rise * value;
  const double high_shift =
      high.point_sigma / std::sqrt(static_cast<double>(high.count)) / rise * (bytes.back() - bytes.front());
  const double coarse = std::abs(trapezoids(bytes, resident, 1) - trapezoids(bytes, resident, 2));
  const double half = 2 * std::sqrt(variance + low_shift * low_shift + high_shift * high_shift) + coarse +
                      k_systematic_fraction * value;
  if (2 * half > k_widest_fraction * value)
    return inconclusive("the recency curve is too noisy: its integral is uncertain by more than 7 %");
  return {Outcome::ok, value, {value - half, value + half}, {}};
}

}  // namespace gpusonde
