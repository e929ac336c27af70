// How much stays resident: L1 bisected to one line, for one storage split or for the table of them; behind
// L1 by how long ago touched lines are still there.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "core/units.hpp"
#include "inference/capacity.hpp"
#include "probe/capacity_probe.hpp"
#include "probe/latency_plan.hpp"
#include "probe/probes.hpp"
#include "probe/residency.hpp"

namespace gpusonde {
namespace {

constexpr std::uint64_t k_line_bytes = 128;

void store(Table& table, const StorageSplit& split, const Residency& answer) {
  table.make<std::string>("level").emplace_back("l1");
  table.make<double>("carveout_percent").push_back(split.carveout_percent);
  table.make<std::uint64_t>("block_threads").push_back(split.block_threads);
  table.make<std::uint64_t>("shared_config_bytes").push_back(answer.shared_config_bytes);
  table.make<std::uint64_t>("nodes").push_back(answer.nodes);
  table.make<double>("misses_per_lap").push_back(answer.misses_per_lap);
  table.make<double>("tolerated_misses").push_back(answer.tolerated_misses);
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
  const double miss = view->levels[index + 1].plateau.latency;
  const auto low = static_cast<std::uint64_t>(view->curve[l1.plateau.first].size_bytes) / k_line_bytes;
  const auto high = static_cast<std::uint64_t>(view->levels[index + 1].first_bytes) / k_line_bytes;
  if (auto done = bisect_split(context, StorageSplit{}, l1, miss, low, high); !done) return done;
  if (!context.options.thorough || !context.target.capabilities().unified_storage) return {};
  for (const int carveout : {0, 25, 50, 75, 100})
    for (const std::uint32_t threads : {32U, 128U, 1024U}) {
      const StorageSplit split{carveout, threads};
      if (carveout == StorageSplit{}.carveout_percent && threads == StorageSplit{}.block_threads) continue;
      if (context.progress)
        context.progress({"capacity", fmt::format("L1 at {} % carve-out, blocks of {}", carveout, threads),
                          0.1 + 0.5 * carveout / 125.0});
      if (auto done = bisect_split(context, split, l1, miss, std::min<std::uint64_t>(low, 16), high); !done)
        return done;
    }
  return {};
}

// Where on the recency axis a point lies: zones are stored, so that the analysis splits as the plan did.
struct RecencyZone {
  const char* name;
  double from_bytes, to_bytes;
  int points;
};

// Hits, the edge of the first level (denser at its beginning, where a random replacement already loses
// lines), the plateau and the second edge where there are two levels, misses.
std::vector<RecencyZone> recency_zones(const std::vector<const Level*>& caches, const Level& memory) {
  const double a = caches.front()->last_bytes;
  const double end = memory.first_bytes;
  std::vector<RecencyZone> zones{{"hit", a / 64, a / 32, 4}};
  if (caches.size() == 1) {
    zones.push_back({"edge", a / 32, 1.08 * end, 26});
  } else {
    const double first_end = caches[1]->first_bytes;
    zones.push_back({"edge", a / 32, first_end, 22});
    zones.push_back({"plateau", first_end * 1.02, caches[1]->last_bytes * 0.98, 4});
    zones.push_back({"second_edge", caches[1]->last_bytes, 1.08 * end, 16});
  }
  zones.push_back({"miss", 1.12 * end, 1.4 * end, 4});
  return zones;
}

Result<void> measure_recency(ProbeContext& context) {
  const auto all = infer_hierarchies(context.measurements, context.target.device());
  const auto* view = deep_view(all, "pointer");
  if (view == nullptr) view = deep_view(all, "index");
  if (view == nullptr || view->level("dram") == nullptr) return {};
  std::vector<const Level*> caches;
  for (const auto& level : view->levels)
    if (level.name == "l2" || level.name == "l2.far") caches.push_back(&level);
  if (caches.empty()) return {};
  const auto& memory = *view->level("dram");
  const auto ring_bytes = static_cast<std::uint64_t>(1.6 * memory.first_bytes);
  if (ring_bytes > context.target.capabilities().max_ring_bytes) return {};

  std::vector<Experiment> chases;
  std::vector<const char*> zones;
  for (const auto& zone : recency_zones(caches, memory))
    for (int i = 0; i < zone.points; ++i) {
      const double part = (i + (zone.name == std::string_view("edge") ? 1.0 : 0.5)) / zone.points;
      const double curved = zone.name == std::string_view("edge") ? part * part : part;
      const double back = zone.from_bytes + (zone.to_bytes - zone.from_bytes) *
                                                (zone.name == std::string_view("edge") ? 0.5 * (part + curved) : part);
      auto chase = sweep_point(ring_bytes, path_of(view->key.policy), chain_of(view->key.chain), context.options);
      chase.warmup = Warmup::parallel;
      chase.warmup_laps = 1;
      chase.hops = 2048;
      chase.start_back = static_cast<std::uint64_t>(back) / k_line_bytes;
      chases.push_back(chase);
      zones.push_back(zone.name);
    }
  const auto progress = [&](std::size_t done) {
    if (context.progress)
      context.progress({"capacity", "what is resident behind L1",
                        0.6 + 0.4 * static_cast<double>(done) / static_cast<double>(chases.size())});
  };
  auto samples = context.target.run(chases, {context.cancel, progress});
  if (!samples) return tl::unexpected(samples.error());
  auto& table = context.measurements.table("capacity.recency");
  for (std::size_t i = 0; i < chases.size(); ++i) {
    const auto& chase = std::get<ChaseExperiment>(chases[i]);
    const auto latency = hop_latency(std::get<ChaseSamples>((*samples)[i]));
    table.make<std::string>("policy").emplace_back(to_string(chase.path));
    table.make<std::string>("zone").emplace_back(zones[i]);
    table.make<std::uint64_t>("ring_bytes").push_back(chase.ring.footprint_bytes());
    table.make<std::uint64_t>("bytes_back").push_back(chase.start_back * k_line_bytes);
    table.make<double>("latency_cycles").push_back(latency.cycles);
    table.make<double>("low_cycles").push_back(latency.low);
    table.make<double>("high_cycles").push_back(latency.high);
    table.make<std::uint64_t>("hops").push_back(chase.hops * chase.repetitions);
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
