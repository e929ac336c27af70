// Speed of the simulated RTX 4090, on one thread unless said: loads a second, and the whole dense preset.
#include <benchmark/benchmark.h>

#include <cstdint>
#include <vector>

#include "core/units.hpp"
#include "model/device_model.hpp"
#include "target/sim/sim_target.hpp"

namespace gpusonde {
namespace {

std::unique_ptr<Target> rtx4090(unsigned threads) {
  SimOptions options;
  options.threads = threads;
  return std::move(make_sim_target(find_model("rtx4090").value(), options).value());
}

void run_all(benchmark::State& state, const std::vector<Experiment>& experiments, std::uint64_t loads,
             unsigned threads) {
  const auto target = rtx4090(threads);
  for (auto _ : state) {
    auto samples = target->run(experiments, {});
    if (!samples) state.SkipWithError(samples.error().message.c_str());
    benchmark::DoNotOptimize(samples);
  }
  state.SetItemsProcessed(state.iterations() * static_cast<std::int64_t>(loads));
}

/// Timed loads of one ring; the argument is its size in KiB. `warmup`: replay a lap first.
void timed_loads(benchmark::State& state, LoadPath path, Warmup warmup) {
  ChaseExperiment chase;
  chase.ring.order.node_count = static_cast<std::uint64_t>(state.range(0)) * k_kib / 128;
  chase.path = path;
  chase.warmup = warmup;
  chase.hops = 1 << 20;
  chase.repetitions = 4;
  run_all(state, {chase}, chase.hops * chase.repetitions, 1);
}

void l1_hits(benchmark::State& state) { timed_loads(state, LoadPath::global_ca, Warmup::serial); }
BENCHMARK(l1_hits)->Arg(4)->Arg(64)->Arg(128)->Unit(benchmark::kMillisecond);

void l2_hits(benchmark::State& state) { timed_loads(state, LoadPath::global_ca, Warmup::serial); }
BENCHMARK(l2_hits)->Arg(1 << 10)->Arg(16 << 10)->Unit(benchmark::kMillisecond);

/// Every load misses L1, the TLB and L2 and goes to DRAM.
void missing_loads(benchmark::State& state) { timed_loads(state, LoadPath::global_ca, Warmup::none); }
BENCHMARK(missing_loads)->Arg(1 << 20)->Arg(16 << 20)->Unit(benchmark::kMillisecond);

/// The document's 206 sizes, cached in L1 and past it, on all threads of the machine.
std::vector<Experiment> dense_preset() {
  std::vector<std::uint64_t> sizes;
  const auto add = [&](std::uint64_t first, std::uint64_t last, std::uint64_t step) {
    for (std::uint64_t size = first; size <= last; size += step) sizes.push_back(size);
  };
  add(4 * k_kib, 256 * k_kib, 4 * k_kib);
  add(320 * k_kib, 4 * k_mib, 64 * k_kib);
  add(5 * k_mib, 32 * k_mib, k_mib);
  add(36 * k_mib, 128 * k_mib, 4 * k_mib);
  add(160 * k_mib, 2 * k_gib, 64 * k_mib);
  std::vector<Experiment> experiments;
  for (const auto path : {LoadPath::global_ca, LoadPath::global_cg})
    for (const auto size : sizes) {
      ChaseExperiment chase;
      chase.ring.order.node_count = size / 128;
      chase.path = path;
      experiments.emplace_back(chase);
    }
  return experiments;
}

void dense(benchmark::State& state) { run_all(state, dense_preset(), 2 * 206 * 3 * 4096, 0); }
BENCHMARK(dense)->Unit(benchmark::kSecond)->Iterations(1)->UseRealTime();

}  // namespace
}  // namespace gpusonde
