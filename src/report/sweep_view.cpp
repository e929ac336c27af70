#include "report/sweep_view.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>

#include "inference/levels.hpp"
#include "report/columns.hpp"

namespace gpusonde::report {
namespace {

constexpr double k_missing = std::numeric_limits<double>::quiet_NaN();
/// No latency is beyond; what a file claims beyond it would leave nothing else to see.
constexpr double k_most_cycles = 1e9;

double at(const std::vector<double>& values, std::size_t row) { return row < values.size() ? values[row] : k_missing; }

double finite_or(double value, double otherwise) { return std::isfinite(value) ? value : otherwise; }

using LinesByStride = std::map<double, std::map<double, SweepPoint>>;

std::vector<SweepLine> to_lines(const LinesByStride& by_stride) {
  std::vector<SweepLine> lines;
  for (const auto& [stride, points] : by_stride) {
    auto& line = lines.emplace_back();
    line.stride_bytes = stride;
    for (const auto& [nodes, point] : points) line.points.push_back(point);
  }
  return lines;
}

bool same_steps(const SweepLine& a, const SweepLine& b) {
  constexpr double k_same_octaves = 0.25;
  return std::equal(a.steps.begin(), a.steps.end(), b.steps.begin(), b.steps.end(),
                    [&](const SweepStep& one, const SweepStep& other) {
                      const double ratio = a.points[one.last].nodes / b.points[other.last].nodes;
                      return std::abs(std::log2(ratio)) < k_same_octaves;
                    });
}

}  // namespace

std::vector<SweepStep> sweep_steps(std::span<const SweepPoint> points) {
  std::vector<CurvePoint> curve;
  for (const auto& point : points) curve.push_back({point.nodes, point.cycles, point.low, point.high});
  const auto plateaus = find_plateaus(curve);
  std::vector<SweepStep> steps;
  for (std::size_t i = 1; i < plateaus.size(); ++i)
    steps.push_back({plateaus[i - 1].last, plateaus[i].first, plateaus[i - 1].latency, plateaus[i].latency});
  return steps;
}

std::vector<SweepView> sweep_views(const Measurements& measurements) {
  const auto* table = measurements.find("tlb.sweep");
  if (table == nullptr) return {};
  const auto policy = texts(*table, "policy");
  const auto stride = numbers(*table, "stride_bytes");
  const auto bytes = numbers(*table, "bytes");
  const auto nodes = numbers(*table, "nodes");
  const auto cycles = numbers(*table, "cycles_per_access");
  const auto low = numbers(*table, "low_cycles");
  const auto high = numbers(*table, "high_cycles");
  const auto ns = numbers(*table, "ns_per_access");
  const auto mhz = numbers(*table, "sm_mhz");
  std::vector<SweepView> views;
  std::map<std::string, LinesByStride> lines;
  for (std::size_t row = 0; row < std::min({stride.size(), bytes.size(), nodes.size(), cycles.size()}); ++row) {
    const bool drawable = stride[row] >= 1 && bytes[row] >= 1 && nodes[row] >= 1 && cycles[row] > 1 / k_most_cycles &&
                          cycles[row] < k_most_cycles;
    if (!drawable) continue;
    auto view =
        std::find_if(views.begin(), views.end(), [&](const auto& known) { return known.policy == policy[row]; });
    if (view == views.end()) view = views.insert(view, {policy[row], 0, {}});
    if (view->sm_mhz <= 0) view->sm_mhz = finite_or(at(mhz, row), 0);
    lines[policy[row]][stride[row]][nodes[row]] = {
        nodes[row],
        bytes[row],
        cycles[row],
        std::clamp(finite_or(at(low, row), cycles[row]), cycles[row] / 100, cycles[row]),
        std::clamp(finite_or(at(high, row), cycles[row]), cycles[row], cycles[row] * 100),
        at(ns, row)};
  }
  for (auto& view : views) {
    view.lines = to_lines(lines[view.policy]);
    for (auto& line : view.lines) line.steps = sweep_steps(line.points);
  }
  return views;
}

std::vector<SweepLine> alias_lines(const Measurements& measurements) {
  const auto* table = measurements.find("tlb.alias");
  if (table == nullptr) return {};
  const auto stride = numbers(*table, "stride_bytes");
  const auto nodes = numbers(*table, "nodes");
  const auto penalty = numbers(*table, "penalty_cycles");
  const auto sigma = numbers(*table, "sigma_cycles");
  LinesByStride by_stride;
  for (std::size_t row = 0; row < std::min({stride.size(), nodes.size(), penalty.size()}); ++row) {
    if (!(stride[row] >= 1 && nodes[row] >= 1 && std::abs(penalty[row]) < k_most_cycles)) continue;
    const double spread = std::clamp(finite_or(at(sigma, row), 0), 0.0, k_most_cycles);
    by_stride[stride[row]][nodes[row]] = {
        nodes[row], nodes[row] * stride[row], penalty[row], penalty[row] - spread, penalty[row] + spread, k_missing};
  }
  auto lines = to_lines(by_stride);
  const auto* fit = measurements.find("derived.tlb.fit");
  if (fit == nullptr) return lines;
  const auto fit_stride = numbers(*fit, "stride_bytes");
  const auto fit_nodes = numbers(*fit, "nodes");
  const auto predicted = numbers(*fit, "predicted_cycles");
  for (auto& line : lines) {
    for (std::size_t row = 0; row < std::min({fit_stride.size(), fit_nodes.size(), predicted.size()}); ++row)
      if (fit_stride[row] == line.stride_bytes && fit_nodes[row] >= 1 && std::abs(predicted[row]) < k_most_cycles)
        line.predicted.emplace_back(fit_nodes[row], predicted[row]);
    std::sort(line.predicted.begin(), line.predicted.end());
  }
  return lines;
}

std::vector<bool> named_lines(const std::vector<SweepLine>& lines) {
  std::vector<bool> named(lines.size(), lines.size() <= k_most_named_lines);
  for (std::size_t i = 0; i < lines.size(); ++i)
    if (i == 0 || i + 1 == lines.size() || !same_steps(lines[i - 1], lines[i])) named[i] = true;
  return named;
}

}  // namespace gpusonde::report
