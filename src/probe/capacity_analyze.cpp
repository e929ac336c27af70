// Capacities from residency answers and from recency curves.
#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <map>

#include "core/units.hpp"
#include "inference/recency.hpp"
#include "probe/capacity_probe.hpp"
#include "probe/findings.hpp"

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

// Recency points of some zones, ascending; where the hits end and the misses begin.
struct RecencyCurve {
  std::vector<RecencyPoint> points;
  double hit_bytes = 0;
  double miss_bytes = 0;
};

RecencyCurve recency_curve(const Table& table, std::initializer_list<std::string_view> zones, std::string_view hits,
                           std::string_view misses) {
  RecencyCurve curve;
  curve.miss_bytes = std::numeric_limits<double>::infinity();
  const auto* zone = table.column<std::string>("zone");
  const auto* back = table.column<std::uint64_t>("bytes_back");
  const auto* cycles = table.column<double>("latency_cycles");
  const auto* hops = table.column<std::uint64_t>("hops");
  if (!zone || !back || !cycles || !hops) return curve;
  for (std::size_t row = 0; row < table.rows(); ++row) {
    if (std::find(zones.begin(), zones.end(), (*zone)[row]) == zones.end()) continue;
    const auto bytes = static_cast<double>((*back)[row]);
    curve.points.push_back({bytes, (*cycles)[row], static_cast<double>((*hops)[row])});
    if ((*zone)[row] == hits) curve.hit_bytes = std::max(curve.hit_bytes, bytes);
    if ((*zone)[row] == misses) curve.miss_bytes = std::min(curve.miss_bytes, bytes);
  }
  std::sort(curve.points.begin(), curve.points.end(),
            [](const RecencyPoint& x, const RecencyPoint& y) { return x.bytes_back < y.bytes_back; });
  return curve;
}

Finding recency_finding(const char* id, const RecencyCurve& curve) {
  const auto estimate = resident_bytes(curve.points, curve.hit_bytes, curve.miss_bytes);
  return make_finding(id, "bytes", estimate, "#/measurements/capacity.recency",
                      {{"points", static_cast<double>(curve.points.size())}});
}

void add_behind_l1(const AnalysisInput& input, Analysis& analysis) {
  const auto* table = input.measurements.find("capacity.recency");
  const auto* zone = table == nullptr ? nullptr : table->column<std::string>("zone");
  if (zone == nullptr) {
    for (const auto* id : {"l2.capacity", "l2.near_capacity"})
      analysis.findings.push_back(
          not_ok(id, "bytes", Outcome::inconclusive, "no cache level with memory behind it was found"));
    return;
  }
  if (std::find(zone->begin(), zone->end(), "second_edge") == zone->end()) {
    analysis.findings.push_back(
        recency_finding("l2.capacity", recency_curve(*table, {"hit", "edge", "miss"}, "hit", "miss")));
    analysis.findings.push_back(not_ok("l2.near_capacity", "bytes", Outcome::unsupported,
                                       "one SM sees one L2 plateau: the L2 has one partition"));
    return;
  }
  analysis.findings.push_back(
      recency_finding("l2.capacity", recency_curve(*table, {"plateau", "second_edge", "miss"}, "plateau", "miss")));
  analysis.findings.push_back(
      recency_finding("l2.near_capacity", recency_curve(*table, {"hit", "edge", "plateau"}, "hit", "plateau")));
}

}  // namespace

Analysis analyze_capacity(const AnalysisInput& input) {
  Analysis analysis;
  add_l1(input, analysis);
  add_behind_l1(input, analysis);
  return analysis;
}

}  // namespace gpusonde
