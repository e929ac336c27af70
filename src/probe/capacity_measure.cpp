// How much stays resident: L1 bisected to one line, for one storage split or for the table of them; soft
// L2 edges sampled finely.
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

// Sixteen more sizes inside each soft edge behind L1.
Result<void> refine_transitions(ProbeContext& context) {
  const auto all = infer_hierarchies(context.measurements, context.target.device());
  const auto* view = deep_view(all, "pointer");
  if (view == nullptr) view = deep_view(all, "index");
  if (view == nullptr) return {};
  std::vector<Experiment> chases;
  for (std::size_t i = 0; i + 1 < view->levels.size(); ++i) {
    if (view->levels[i].name == "l1") continue;
    const double low = view->levels[i].last_bytes * 0.9;
    const double high = view->levels[i + 1].first_bytes * 1.05;
    for (int k = 0; k <= 16; ++k) {
      const double exact = low * std::pow(high / low, k / 16.0);
      auto chase = sweep_point(static_cast<std::uint64_t>(exact), path_of(view->key.policy), chain_of(view->key.chain),
                               context.options);
      chase.hops = std::max<std::uint64_t>(chase.hops, 8192);
      if (chase.ring.footprint_bytes() <= 160 * k_mib && !context.options.latency.warmup) {
        chase.warmup = Warmup::serial;
        chase.warmup_laps = 1;
      }
      chases.push_back(chase);
    }
  }
  const auto clock = sm_clock_estimate(context.measurements);
  const auto progress = [&](std::size_t done) {
    if (context.progress)
      context.progress(
          {"capacity", "L2 edge", 0.6 + 0.4 * static_cast<double>(done) / static_cast<double>(chases.size())});
  };
  auto samples = context.target.run(chases, {context.cancel, progress});
  if (!samples) return tl::unexpected(samples.error());
  auto& table = context.measurements.table("capacity.refine");
  for (std::size_t i = 0; i < chases.size(); ++i)
    append_curve_row(table, std::get<ChaseExperiment>(chases[i]), std::get<ChaseSamples>((*samples)[i]),
                     clock.ok() ? clock.value : 0);
  return {};
}

}  // namespace

Result<void> measure_capacity(ProbeContext& context) {
  if (context.progress) context.progress({"capacity", "L1 to one line", 0});
  if (auto done = measure_l1(context); !done) return done;
  if (!context.options.thorough) return {};
  return refine_transitions(context);
}

}  // namespace gpusonde
