// How much stays resident: L1 bisected to one line, for one storage split or for the table of them; behind
// L1 by how long ago touched lines are still there.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "core/units.hpp"
#include "inference/capacity.hpp"
#include "inference/statistics.hpp"
#include "probe/capacity_probe.hpp"
#include "probe/latency_plan.hpp"
#include "probe/probes.hpp"
#include "probe/residency.hpp"

namespace gpusonde {
namespace {

constexpr std::uint64_t k_line_bytes = 128;
constexpr double k_recency_ring = 2.8;  // times where memory begins on the curve

void store(Table& table, const StorageSplit& split, const Residency& answer) {
  table.make<std::string>("level").emplace_back("l1");
  table.make<double>("carveout_percent").push_back(split.carveout_percent);
  table.make<std::uint64_t>("block_threads").push_back(split.block_threads);
  table.make<std::uint64_t>("shared_config_bytes").push_back(answer.shared_config_bytes);
  table.make<std::uint64_t>("nodes").push_back(answer.nodes);
  table.make<double>("misses_per_lap").push_back(answer.misses_per_lap);
  table.make<double>("tolerated_misses").push_back(answer.tolerated_misses);
  table.make<double>("uncertain_misses").push_back(answer.uncertain_misses);
}

Result<void> bisect_split(ProbeContext& context, const StorageSplit& split, const Level& l1, double miss_cycles,
                          std::uint64_t known_resident, std::uint64_t known_overflow) {
  ResidencyProbe probe(context, split, l1.plateau.latency, miss_cycles, std::max<std::uint64_t>(8, known_resident / 2));
  auto& table = context.measurements.table("capacity.probe");
  const auto resident = [&](std::uint64_t nodes) -> Result<bool> {
    auto answer = probe.ask(nodes);
    if (!answer) return tl::unexpected(answer.error());
    store(table, split, *answer);
    return answer->resident();
  };
  auto edge = bisect_resident(known_resident, known_overflow, resident);
  if (!edge) return tl::unexpected(edge.error());
  return {};
}

Result<void> measure_l1(ProbeContext& context) {
  const auto all = infer_hierarchies(context.measurements, context.target.device());
  const auto* view = first_level_view(all, "pointer");
  if (view == nullptr) view = first_level_view(all, "index");
  if (view == nullptr) return {};
  const auto index = view->index_of("l1");
  if (index + 1 >= view->levels.size()) return {};
  const auto& l1 = view->levels[index];
  // The nearest level behind L1 decides what a miss costs; the path past L1 shows it best.
  double miss = view->levels[index + 1].plateau.latency;
  if (const auto* deep = deep_view(all, view->key.chain); deep != nullptr && deep != view && !deep->levels.empty())
    miss = std::min(miss, deep->levels.front().plateau.latency);
  const auto low = static_cast<std::uint64_t>(view->curve[l1.plateau.first].size_bytes) / k_line_bytes;
  const auto high = static_cast<std::uint64_t>(view->levels[index + 1].first_bytes) / k_line_bytes;
  if (auto done = bisect_split(context, StorageSplit{}, l1, miss, low, high); !done) return done;
  if (!context.options.thorough || !context.target.capabilities().unified_storage) return {};
  // At the smallest shared part the block size decides; at larger ones the carve-out does.
  std::vector<StorageSplit> splits;
  for (const std::uint32_t threads : {32U, 64U, 128U, 256U, 512U}) splits.push_back({0, threads});
  for (const int carveout : {25, 50, 75, 100})
    for (const std::uint32_t threads : {32U, 1024U}) splits.push_back({carveout, threads});
  for (std::size_t i = 0; i < splits.size(); ++i) {
    const auto& split = splits[i];
    if (context.progress)
      context.progress({"capacity",
                        fmt::format("L1 at {} % carve-out, blocks of {}", split.carveout_percent, split.block_threads),
                        0.1 + 0.5 * static_cast<double>(i) / static_cast<double>(splits.size())});
    if (auto done = bisect_split(context, split, l1, miss, std::min<std::uint64_t>(low, 16), high); !done) return done;
  }
  return {};
}

// Where on the recency axis a point lies: zones are stored, so that the analysis splits as the plan did.
struct RecencyZone {
  const char* name;
  double from_bytes, to_bytes;
  int points;
};

// Hits; from there geometrically through the one or two edges, since a random replacement loses lines from the
// beginning on while others keep them to the edge; misses. The rise over recency is softer than over the
// working set where replacement is not LRU.
std::vector<RecencyZone> recency_zones(const Level& near, const Level* far, double memory_bytes) {
  const double hits = std::min(near.last_bytes / 16, 2.0 * static_cast<double>(k_mib));
  std::vector<RecencyZone> zones{{"hit", hits / 2, hits, 6}, {"edge", hits, 0.6 * near.last_bytes, 8}};
  const double near_end = far == nullptr ? 0.6 * near.last_bytes : 1.5 * far->first_bytes;
  if (far != nullptr) zones.push_back({"edge", 0.6 * near.last_bytes, near_end, 20});
  zones.push_back({"edge", near_end, 1.9 * memory_bytes, far == nullptr ? 30 : 22});
  zones.push_back({"miss", 2.0 * memory_bytes, 2.6 * memory_bytes, 6});
  return zones;
}

double bytes_back(const RecencyZone& zone, int i) {
  const double part = (i + 0.5) / zone.points;
  if (std::string_view(zone.name) == "edge") return zone.from_bytes * std::pow(zone.to_bytes / zone.from_bytes, part);
  return zone.from_bytes + (zone.to_bytes - zone.from_bytes) * part;
}

// What the hops of one chase say: how many were near hits, and how many lie between near and memory.
struct HopShares {
  double near = 0;
  double between = 0;
  double mean_cycles = 0;
};
HopShares hop_shares(const ChaseSamples& samples, double near_cycles, double next_rise, double memory_rise) {
  HopShares shares;
  const auto count = static_cast<double>(std::max<std::size_t>(1, samples.hop_cycles.size()));
  for (const auto cycles : samples.hop_cycles) {
    const double above = cycles - near_cycles;
    shares.mean_cycles += cycles / count;
    if (above < next_rise / 2) shares.near += 1 / count;
    if (above > 0.3 * memory_rise && above < 0.7 * memory_rise) shares.between += 1 / count;
  }
  return shares;
}

// Chases that begin at lines touched so long ago, by zone. Each hop is timed, so that near hits are counted.
struct RecencyPlan {
  std::vector<Experiment> chases;
  std::vector<const char*> zones;
};
RecencyPlan plan_recency(const ProbeContext& context, const Hierarchy& view, const Level& near, const Level* far) {
  const double memory_bytes = view.level("dram")->first_bytes;
  RecencyPlan plan;
  for (const auto& zone : recency_zones(near, far, memory_bytes))
    for (int i = 0; i < zone.points; ++i) {
      auto chase = sweep_point(static_cast<std::uint64_t>(k_recency_ring * memory_bytes), path_of(view.key.policy),
                               chain_of(view.key.chain), context.options);
      chase.warmup = Warmup::parallel;
      chase.warmup_laps = 1;
      chase.start_back = static_cast<std::uint64_t>(bytes_back(zone, i)) / k_line_bytes;
      // A short stretch: its hits leave the lines behind them in place that a longer lap would have replaced, so
      // a stretch must be small against how far back it begins. Where that is few lines, several orders do.
      const auto most = std::min<std::uint64_t>(6144, context.target.capabilities().max_per_hop_hops);
      chase.hops = std::clamp<std::uint64_t>(chase.start_back / 24, 16, most) / 8 * 8;
      chase.timing = HopTiming::per_hop;
      chase.repetitions = 1;
      const auto orders = std::clamp<std::uint64_t>(1024 / chase.hops, 1, 6);
      for (std::uint64_t order = 0; order < orders; ++order) {
        chase.ring.order.seed = context.options.seed + order;
        plan.chases.emplace_back(chase);
        plan.zones.push_back(zone.name);
      }
    }
  return plan;
}

// A near hit as read hop by hop, with what timing each hop adds: the hit zone's median.
double near_reading(const RecencyPlan& plan, const std::vector<Samples>& samples) {
  std::vector<double> hits;
  for (std::size_t i = 0; i < samples.size(); ++i)
    if (std::string_view(plan.zones[i]) == "hit")
      for (const auto cycles : std::get<ChaseSamples>(samples[i]).hop_cycles) hits.push_back(cycles);
  return hits.empty() ? 0 : median(hits);
}

Result<void> measure_recency(ProbeContext& context) {
  const auto all = infer_hierarchies(context.measurements, context.target.device());
  const auto* view = deep_view(all);
  const auto* near = view == nullptr ? nullptr : view->level("l2");
  if (near == nullptr || view->level("dram") == nullptr) return {};
  if (k_recency_ring * view->level("dram")->first_bytes >
      static_cast<double>(context.target.capabilities().max_ring_bytes))
    return {};
  const auto* far = view->level("l2.far");
  const auto plan = plan_recency(context, *view, *near, far);
  const auto progress = [&](std::size_t done) {
    if (context.progress)
      context.progress({"capacity", "what is resident behind L1",
                        0.6 + 0.4 * static_cast<double>(done) / static_cast<double>(plan.chases.size())});
  };
  auto samples = context.target.run(plan.chases, {context.cancel, progress});
  if (!samples) return tl::unexpected(samples.error());
  const double near_cycles = near_reading(plan, *samples);
  const double memory_rise = view->level("dram")->plateau.latency - near->plateau.latency;
  const double next_rise = far == nullptr ? memory_rise : far->plateau.latency - near->plateau.latency;
  auto& table = context.measurements.table("capacity.recency");
  for (std::size_t i = 0; i < plan.chases.size(); ++i) {
    const auto& chase = std::get<ChaseExperiment>(plan.chases[i]);
    const auto shares = hop_shares(std::get<ChaseSamples>((*samples)[i]), near_cycles, next_rise, memory_rise);
    table.make<std::string>("policy").emplace_back(to_string(chase.path));
    table.make<std::string>("zone").emplace_back(plan.zones[i]);
    table.make<std::uint64_t>("ring_bytes").push_back(chase.ring.footprint_bytes());
    table.make<std::uint64_t>("bytes_back").push_back(chase.start_back * k_line_bytes);
    table.make<double>("latency_cycles").push_back(shares.mean_cycles);
    table.make<double>("near_fraction").push_back(shares.near);
    table.make<double>("between_fraction").push_back(shares.between);
    table.make<double>("far_minus_near_cycles").push_back(far == nullptr ? 0 : next_rise);
    table.make<std::uint64_t>("hops").push_back(chase.hops);
  }
  return {};
}

}  // namespace

Result<void> measure_capacity(ProbeContext& context) {
  if (context.progress) context.progress({"capacity", "L1 to one line", 0});
  if (auto done = measure_l1(context); !done) return done;
  return measure_recency(context);
}

}  // namespace gpusonde
