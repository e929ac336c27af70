// Capacities from residency answers and from the shape of soft edges.
#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <map>

#include "core/units.hpp"
#include "inference/capacity.hpp"
#include "probe/capacity_probe.hpp"
#include "probe/findings.hpp"
#include "probe/hierarchy.hpp"

namespace gpusonde {
namespace {

constexpr double k_line_bytes = 128;

struct SplitKey {
  double carveout_percent = 0;
  std::uint64_t block_threads = 0;
  auto operator<=>(const SplitKey&) const = default;
};
struct SplitAnswers {
  std::map<std::uint64_t, std::vector<bool>> resident;  ///< by nodes
  std::uint64_t shared_config_bytes = 0;
};

std::map<SplitKey, SplitAnswers> read_answers(const Table& table) {
  std::map<SplitKey, SplitAnswers> splits;
  const auto* carveout = table.column<double>("carveout_percent");
  const auto* threads = table.column<std::uint64_t>("block_threads");
  const auto* shared = table.column<std::uint64_t>("shared_config_bytes");
  const auto* nodes = table.column<std::uint64_t>("nodes");
  const auto* misses = table.column<double>("misses_per_lap");
  const auto* tolerated = table.column<double>("tolerated_misses");
  if (!carveout || !threads || !shared || !nodes || !misses || !tolerated) return splits;
  for (std::size_t row = 0; row < table.rows(); ++row) {
    auto& split = splits[{(*carveout)[row], (*threads)[row]}];
    split.resident[(*nodes)[row]].push_back((*misses)[row] <= (*tolerated)[row]);
    split.shared_config_bytes = (*shared)[row];
  }
  return splits;
}

// The edge is known when the largest resident size and the smallest that overflows are one line apart,
// and every answer agrees with it.
Estimate edge_bytes(const SplitAnswers& split) {
  std::uint64_t largest_resident = 0;
  std::uint64_t smallest_overflow = std::numeric_limits<std::uint64_t>::max();
  for (const auto& [nodes, answers] : split.resident)
    for (const bool resident : answers) {
      if (resident) largest_resident = std::max(largest_resident, nodes);
      if (!resident) smallest_overflow = std::min(smallest_overflow, nodes);
    }
  if (largest_resident == 0) return inconclusive("no working set was seen to stay resident");
  if (smallest_overflow == std::numeric_limits<std::uint64_t>::max())
    return inconclusive("no working set was seen to overflow");
  if (smallest_overflow < largest_resident)
    return inconclusive(fmt::format("answers disagree between {} and {}", format_bytes(smallest_overflow * 128),
                                    format_bytes(largest_resident * 128)));
  if (smallest_overflow != largest_resident + 1)
    return inconclusive(fmt::format("not bisected to one line: between {} and {}", format_bytes(largest_resident * 128),
                                    format_bytes(smallest_overflow * 128)));
  const double bytes = static_cast<double>(largest_resident) * k_line_bytes;
  return {Outcome::ok, bytes, {bytes, bytes}, {}};
}

void add_l1(const AnalysisInput& input, Analysis& analysis) {
  const auto* table = input.measurements.find("capacity.probe");
  if (table == nullptr) {
    analysis.findings.push_back(not_ok("l1.capacity", "bytes", Outcome::skipped, "no L1 level was found to bisect"));
    return;
  }
  const auto splits = read_answers(*table);
  Table out;
  Estimate best = inconclusive("no storage split gave an edge");
  const SplitKey* best_key = nullptr;
  for (const auto& [key, split] : splits) {
    const auto edge = edge_bytes(split);
    out.make<double>("carveout_percent").push_back(key.carveout_percent);
    out.make<std::uint64_t>("block_threads").push_back(key.block_threads);
    out.make<std::uint64_t>("shared_config_bytes").push_back(split.shared_config_bytes);
    out.make<double>("capacity_bytes").push_back(edge.ok() ? edge.value : std::numeric_limits<double>::quiet_NaN());
    out.make<std::string>("outcome").emplace_back(to_string(edge.outcome));
    out.make<std::string>("note").push_back(edge.reason);
    if (edge.ok() && (!best.ok() || edge.value > best.value)) {
      best = edge;
      best_key = &key;
    } else if (splits.size() == 1) {
      best = edge;
    }
  }
  SampleList samples;
  if (best_key != nullptr) {
    samples = {{"carveout_percent", best_key->carveout_percent},
               {"block_threads", static_cast<double>(best_key->block_threads)},
               {"splits", static_cast<double>(splits.size())}};
  }
  analysis.findings.push_back(
      make_finding("l1.capacity", "bytes", best, "#/measurements/capacity.probe", std::move(samples)));
  analysis.derived.emplace_back("derived.l1.capacity", std::move(out));
}

// Points of the edge between two levels: from the sweep and from the finer sampling, with some of the
// plateaus on both sides.
std::vector<CurvePoint> edge_points(const AnalysisInput& input, const Hierarchy& hierarchy, const Level& lower,
                                    const Level& upper) {
  std::map<double, CurvePoint> points;
  const auto add = [&](const std::vector<CurvePoint>& curve) {
    for (const auto& point : curve)
      if (point.size_bytes >= lower.last_bytes * 0.7 && point.size_bytes <= upper.first_bytes * 1.3)
        points[point.size_bytes] = point;
  };
  add(hierarchy.curve);
  if (const auto* fine = input.measurements.find("capacity.refine")) add(read_curve(*fine, hierarchy.key));
  std::vector<CurvePoint> sorted;
  for (const auto& [bytes, point] : points) sorted.push_back(point);
  return sorted;
}

void add_behind_l1(const AnalysisInput& input, Analysis& analysis) {
  const auto all = infer_hierarchies(input.measurements, input.device);
  const auto* view = deep_view(all, "pointer");
  if (view == nullptr) view = deep_view(all, "index");
  const auto l2 = view == nullptr ? 0 : view->index_of("l2");
  if (view == nullptr || l2 + 1 >= view->levels.size()) {
    const std::string reason =
        view == nullptr ? "no curve was measured" : "no L2 level with a level behind it was found";
    analysis.findings.push_back(not_ok("l2.capacity", "bytes", Outcome::inconclusive, reason));
    analysis.findings.push_back(not_ok("l2.near_capacity", "bytes", Outcome::inconclusive, reason));
    return;
  }
  Table& out = analysis.derived.emplace_back("derived.latency.transitions", Table{}).second;
  const auto fit = [&](std::size_t lower) {
    const auto& a = view->levels[lower];
    const auto& b = view->levels[lower + 1];
    const auto points = edge_points(input, *view, a, b);
    auto result = fit_transition(points, a.last_cycles, b.plateau.latency);
    const double nan = std::numeric_limits<double>::quiet_NaN();
    const bool ok = result.capacity_bytes.ok();
    out.make<std::string>("policy").push_back(view->key.policy);
    out.make<std::string>("chain").push_back(view->key.chain);
    out.make<std::uint64_t>("first_bytes").push_back(static_cast<std::uint64_t>(a.last_bytes));
    out.make<std::uint64_t>("last_bytes").push_back(static_cast<std::uint64_t>(b.first_bytes));
    out.make<double>("capacity_bytes").push_back(ok ? result.capacity_bytes.value : nan);
    out.make<double>("low_bytes").push_back(ok ? result.capacity_bytes.interval.low : nan);
    out.make<double>("high_bytes").push_back(ok ? result.capacity_bytes.interval.high : nan);
    out.make<std::string>("shape").push_back(result.shape);
    out.make<std::string>("note").push_back(result.capacity_bytes.reason);
    return result;
  };
  const auto add = [&](const char* id, const TransitionFit& fitted) {
    analysis.findings.push_back(make_finding(id, "bytes", fitted.capacity_bytes,
                                             "#/measurements/derived.latency.transitions",
                                             {{"shape", fitted.shape}, {"residual", fitted.residual}}));
  };
  const auto last = view->index_of("dram");
  const bool two = view->index_of("l2.far") < view->levels.size();
  if (two)
    add("l2.near_capacity", fit(l2));
  else
    analysis.findings.push_back(not_ok("l2.near_capacity", "bytes", Outcome::unsupported,
                                       "one SM sees one L2 plateau: the L2 has one partition"));
  if (last < view->levels.size() && last > 0)
    add("l2.capacity", fit(last - 1));
  else
    analysis.findings.push_back(
        not_ok("l2.capacity", "bytes", Outcome::inconclusive, "the sweep does not reach memory"));
}

}  // namespace

Analysis analyze_capacity(const AnalysisInput& input) {
  Analysis analysis;
  add_l1(input, analysis);
  add_behind_l1(input, analysis);
  return analysis;
}

}  // namespace gpusonde
