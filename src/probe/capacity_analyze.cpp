// Capacities from residency answers and from recency curves.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <optional>
#include <span>

#include "core/units.hpp"
#include "inference/recency.hpp"
#include "probe/capacity_probe.hpp"
#include "probe/findings.hpp"
#include "probe/hierarchy.hpp"

namespace gpusonde {
namespace {

constexpr double k_line_bytes = 128;
constexpr double k_translation_share = 0.35;  // of the step between two levels; more blurs which one was hit

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
  const auto* uncertain = table.column<double>("uncertain_misses");
  if (!carveout || !threads || !shared || !nodes || !misses || !tolerated || !uncertain) return splits;
  for (std::size_t row = 0; row < table.rows(); ++row) {
    auto& split = splits[{(*carveout)[row], (*threads)[row]}];
    if (std::abs((*misses)[row] - (*tolerated)[row]) < (*uncertain)[row]) continue;  // could be either
    split.resident[(*nodes)[row]].push_back((*misses)[row] <= (*tolerated)[row]);
    split.shared_config_bytes = (*shared)[row];
  }
  return splits;
}

// A size is resident when it was seen to be so once: no larger set of lines can hit throughout by chance. The
// edge is known when the largest resident size and the next one, which overflowed, are one line apart.
Estimate edge_bytes(const SplitAnswers& split) {
  std::uint64_t largest_resident = 0;
  std::uint64_t smallest_overflow = std::numeric_limits<std::uint64_t>::max();
  for (const auto& [nodes, answers] : split.resident) {
    const bool resident = std::find(answers.begin(), answers.end(), true) != answers.end();
    if (resident) largest_resident = std::max(largest_resident, nodes);
    if (!resident) smallest_overflow = std::min(smallest_overflow, nodes);
  }
  if (largest_resident == 0) return inconclusive("no working set was seen to stay resident");
  if (smallest_overflow == std::numeric_limits<std::uint64_t>::max())
    return inconclusive("no working set was seen to overflow");
  if (smallest_overflow < largest_resident)
    return inconclusive(fmt::format("answers disagree: {} overflows, {} stays", format_bytes(smallest_overflow * 128),
                                    format_bytes(largest_resident * 128)));
  if (smallest_overflow != largest_resident + 1)
    return inconclusive(
        fmt::format("not bisected to one line: between {} and {} lines", largest_resident, smallest_overflow));
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

// The recency table as shares of lines still in the near level, and still in any level before memory.
struct RecencyCurves {
  std::vector<RecencyPoint> near;
  std::vector<RecencyPoint> any;
  double any_sigma = 0;
  bool two_levels = false;
};

// Mean reading of a zone's hops as if all of them were near hits: the others take one step more.
double zone_cycles(const Table& table, std::string_view wanted, bool near_hits) {
  const auto& zone = *table.column<std::string>("zone");
  const auto& cycles = *table.column<double>("latency_cycles");
  const auto& near = *table.column<double>("near_fraction");
  const auto& step = *table.column<double>("far_minus_near_cycles");
  double sum = 0;
  double count = 0;
  for (std::size_t row = 0; row < zone.size(); ++row) {
    if (zone[row] != wanted) continue;
    sum += cycles[row] - (near_hits ? (1 - near[row]) * step[row] : 0);
    ++count;
  }
  return count == 0 ? 0 : sum / count;
}

double scatter(std::span<const double> values) {
  if (values.size() < 2) return 0;
  double mean = 0;
  for (const double value : values) mean += value / static_cast<double>(values.size());
  double squares = 0;
  for (const double value : values) squares += (value - mean) * (value - mean);
  return std::sqrt(squares / static_cast<double>(values.size() - 1));
}

// Near hits are counted hop by hop. With a far level, the mean reading gives the rest: of what is not near,
// the part that memory's latency explains is in memory.
std::optional<RecencyCurves> recency_curves(const Table& table) {
  const auto* zone = table.column<std::string>("zone");
  const auto* back = table.column<std::uint64_t>("bytes_back");
  const auto* cycles = table.column<double>("latency_cycles");
  const auto* near = table.column<double>("near_fraction");
  const auto* step = table.column<double>("far_minus_near_cycles");
  const auto* hops = table.column<std::uint64_t>("hops");
  if (!zone || !back || !cycles || !near || !step || !hops || zone->empty()) return {};
  RecencyCurves curves;
  curves.two_levels = step->front() > 0;
  const double hit_cycles = zone_cycles(table, "hit", true);
  const double miss_cycles = zone_cycles(table, "miss", false);
  const double far_cycles = hit_cycles + step->front();
  // Rows that begin equally far back, in different orders, are one point.
  struct Sum {
    double near = 0, cycles = 0, rows = 0, hops = 0;
    bool miss = false;
  };
  std::map<std::uint64_t, Sum> points;
  for (std::size_t row = 0; row < zone->size(); ++row) {
    auto& sum = points[(*back)[row]];
    sum.near += (*near)[row];
    sum.cycles += (*cycles)[row];
    sum.rows += 1;
    sum.hops += static_cast<double>((*hops)[row]);
    sum.miss = (*zone)[row] == "miss";
  }
  std::vector<double> at_the_end;
  for (const auto& [bytes, sum] : points) {
    const double share = sum.near / sum.rows;
    curves.near.push_back({static_cast<double>(bytes), share, sum.hops});
    if (!curves.two_levels) continue;
    const double explained = share * hit_cycles + (1 - share) * far_cycles;
    const double any = 1 - (sum.cycles / sum.rows - explained) / (miss_cycles - far_cycles);
    curves.any.push_back({static_cast<double>(bytes), any, sum.hops});
    if (sum.miss) at_the_end.push_back(any);
  }
  curves.any_sigma = scatter(at_the_end);
  return curves;
}

// Why the curves may not be what they are taken for; empty when they are.
std::string unsettled(const AnalysisInput& input, const RecencyCurves& curves, const Table& table) {
  const auto all = infer_hierarchies(input.measurements, input.device);
  const auto* view = deep_view(all);
  if (view != nullptr && std::any_of(view->steps.begin(), view->steps.end(),
                                     [](const Step& step) { return step.cause == StepCause::unattributed; }))
    return "a step of the curve could not be attributed to a level";
  const auto* far = view == nullptr ? nullptr : view->level("l2.far");
  if (far != nullptr && far->plateau.interval.high - far->plateau.interval.low > k_widest_level * far->plateau.latency)
    return "the far level's latency is not known well enough to tell it from memory";
  const double step = table.column<double>("far_minus_near_cycles")->front();
  if (curves.two_levels && translation_cost(input.measurements, view->key) > k_translation_share * step)
    return "translation costs about as much as the step from the near to the far level";
  if (!curves.two_levels && hidden_level_share(table) > k_hidden_level_share)
    return "loads were seen between the L2's latency and memory's: another level may lie between";
  return {};
}

// Where far hits are told from memory by the mean, an error of the far level's latency moves the share of
// memory in proportion to the rise between the two.
Estimate with_level_error(Estimate estimate, const AnalysisInput& input) {
  const auto all = infer_hierarchies(input.measurements, input.device);
  const auto* view = deep_view(all);
  const auto* far = view == nullptr ? nullptr : view->level("l2.far");
  const auto* memory = view == nullptr ? nullptr : view->level("dram");
  if (!estimate.ok() || far == nullptr || memory == nullptr) return estimate;
  const double error = (far->plateau.interval.high - far->plateau.interval.low) / 2;
  const double share = error / std::max(1.0, memory->plateau.latency - far->plateau.latency);
  estimate.interval.low -= share * estimate.value;
  estimate.interval.high += share * estimate.value;
  if (estimate.interval.high - estimate.interval.low > k_widest_capacity * estimate.value)
    return inconclusive("the far level's latency leaves the capacity uncertain by more than 7 %");
  return estimate;
}

void add_behind_l1(const AnalysisInput& input, Analysis& analysis) {
  const auto* table = input.measurements.find("capacity.recency");
  const auto curves = table == nullptr ? std::nullopt : recency_curves(*table);
  const auto add = [&](const char* id, const Estimate& estimate) {
    analysis.findings.push_back(make_finding(id, "bytes", estimate, "#/measurements/capacity.recency",
                                             {{"points", curves ? static_cast<double>(curves->near.size()) : 0.0}}));
  };
  if (!curves) {
    for (const auto* id : {"l2.capacity", "l2.near_capacity"})
      add(id, inconclusive("no cache level with memory behind it was found"));
    return;
  }
  const auto doubt = unsettled(input, *curves, *table);
  if (!doubt.empty()) {
    for (const auto* id : {"l2.capacity", "l2.near_capacity"}) add(id, inconclusive(doubt));
    return;
  }
  const auto near = resident_bytes(curves->near, 0);
  if (!curves->two_levels) {
    add("l2.capacity", near);
    add("l2.near_capacity", {Outcome::unsupported, 0, {}, "one SM sees one L2 plateau: the L2 has one partition"});
    return;
  }
  add("l2.capacity", with_level_error(resident_bytes(curves->any, curves->any_sigma), input));
  add("l2.near_capacity", near);
}

}  // namespace

Analysis analyze_capacity(const AnalysisInput& input) {
  Analysis analysis;
  add_l1(input, analysis);
  add_behind_l1(input, analysis);
  return analysis;
}

}  // namespace gpusonde
