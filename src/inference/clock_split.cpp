// The line cycles(f) = sm_cycles + fixed_ns * f through a level's latencies at several SM clocks.
#include "inference/clock_split.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace gpusonde {
namespace {

constexpr double k_least_sigma_cycles = 0.1;
constexpr double k_least_clock_ratio = 1.05;
constexpr double k_two_sided_95 = 1.96;

// 99.9 % quantile of chi^2 by Wilson and Hilferty's cube; within 1 % from 1 degree of freedom on up.
double chi_squared_limit(double degrees) {
  const double a = 2.0 / (9.0 * degrees);
  return degrees * std::pow(1 - a + 3.0902 * std::sqrt(a), 3);
}

ClockSplit both_inconclusive(const std::string& reason) { return {inconclusive(reason), inconclusive(reason)}; }

Estimate with_error(double value, double error) {
  return {Outcome::ok, value, {value - k_two_sided_95 * error, value + k_two_sided_95 * error}, {}};
}

struct Line {
  double offset = 0;
  double slope = 0;
  double offset_error = 0;
  double slope_error = 0;
  double chi_squared = 0;
};

Line fit_line(std::span<const ClockPoint> points) {
  double weights = 0;
  double mean_ghz = 0;
  double mean_cycles = 0;
  const auto weight = [](const ClockPoint& point) {
    const double sigma = std::max(point.sigma_cycles, k_least_sigma_cycles);
    return 1 / (sigma * sigma);
  };
  for (const auto& point : points) {
    weights += weight(point);
    mean_ghz += weight(point) * point.sm_mhz / 1000;
    mean_cycles += weight(point) * point.latency_cycles;
  }
  mean_ghz /= weights;
  mean_cycles /= weights;
  double spread = 0;
  double product = 0;
  for (const auto& point : points) {
    const double x = point.sm_mhz / 1000 - mean_ghz;
    spread += weight(point) * x * x;
    product += weight(point) * x * (point.latency_cycles - mean_cycles);
  }
  Line line;
  line.slope = product / spread;
  line.offset = mean_cycles - line.slope * mean_ghz;
  line.slope_error = 1 / std::sqrt(spread);
  line.offset_error = std::sqrt(1 / weights + mean_ghz * mean_ghz / spread);
  for (const auto& point : points) {
    const double misfit = point.latency_cycles - line.offset - line.slope * point.sm_mhz / 1000;
    line.chi_squared += weight(point) * misfit * misfit;
  }
  return line;
}

}  // namespace

ClockSplit split_clock_domains(std::span<const ClockPoint> points) {
  const auto usable = [](const ClockPoint& point) {
    return std::isfinite(point.sm_mhz) && point.sm_mhz > 0 && std::isfinite(point.latency_cycles) &&
           std::isfinite(point.sigma_cycles);
  };
  if (!std::all_of(points.begin(), points.end(), usable))
    return both_inconclusive("a point has no clock or no latency");
  if (points.size() < 2) return both_inconclusive("one SM clock is not enough; measure at two that differ by 5 %");
  const auto [slowest, fastest] = std::minmax_element(
      points.begin(), points.end(), [](const ClockPoint& a, const ClockPoint& b) { return a.sm_mhz < b.sm_mhz; });
  if (fastest->sm_mhz < k_least_clock_ratio * slowest->sm_mhz)
    return both_inconclusive(
        fmt::format("SM clocks of {:.0f} and {:.0f} MHz are too close; measure at two that differ by 5 %",
                    slowest->sm_mhz, fastest->sm_mhz));

  const Line line = fit_line(points);
  double widening = 1;
  if (points.size() > 2) {
    const auto degrees = static_cast<double>(points.size() - 2);
    if (line.chi_squared > chi_squared_limit(degrees))
      return both_inconclusive(
          fmt::format("latency does not follow a line in the SM clock (chi^2 {:.1f} with {:.0f} degrees of freedom)",
                      line.chi_squared, degrees));
    widening = std::max(1.0, std::sqrt(line.chi_squared / degrees));
  }
  const auto sm_cycles = with_error(line.offset, widening * line.offset_error);
  const auto fixed_ns = with_error(line.slope, widening * line.slope_error);
  if (sm_cycles.interval.high < 0 || fixed_ns.interval.high < 0)
    return both_inconclusive("one part of the latency comes out below zero, so it is not one level at all clocks");
  return {sm_cycles, fixed_ns};
}

}  // namespace gpusonde
