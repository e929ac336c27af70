// What the geometry of a cache costs as it grows: loads asked of the simulated GPU for one eviction set, and the time
// of the inference behind it.
#include <benchmark/benchmark.h>

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "core/random.hpp"
#include "core/units.hpp"
#include "inference/line_clusters.hpp"
#include "inference/set_function.hpp"
#include "model/device_model.hpp"
#include "probe/eviction.hpp"
#include "target/sim/sim_target.hpp"

namespace gpusonde {
namespace {

constexpr std::uint64_t k_line_bytes = 128;
constexpr double k_limit_cycles = 100;  // between a hit in L1, 50 cycles with its reading, and one in L2

/// An RTX 4090 whose L1 is of this shape.
DeviceModel with_l1(std::uint32_t ways, std::uint32_t sets) {
  auto model = find_model("rtx4090").value();
  auto& l1 = model.caches.front();
  l1.ways = ways;
  l1.sets = sets;
  l1.set_function = AddressFunction::modulo(k_line_bytes, sets);
  model.unified.reset();
  return model;
}

/// One eviction set among twice as many random lines as the cache has.
void find_set(benchmark::State& state, std::uint32_t ways, std::uint32_t sets) {
  SimOptions options;
  options.threads = 1;
  auto target = make_sim_target(with_l1(ways, sets), options);
  if (!target) return state.SkipWithError(target.error().message.c_str());
  Random random(1);
  std::vector<std::uint64_t> pool;
  for (std::uint64_t i = 0; i < 2ULL * ways * sets; ++i)
    pool.push_back((1 + random.below((std::uint64_t{1} << 23) - 1)) * k_line_bytes);
  EvictionOracle oracle(**target, nullptr, {});
  oracle.set_limit(k_limit_cycles);
  for (auto _ : state) {
    const auto found = find_eviction_set(oracle, 0, pool, 64);
    if (!found || found->lines.size() != ways)
      return state.SkipWithError(found ? found->trouble.c_str() : found.error().message.c_str());
  }
  state.counters["questions"] =
      benchmark::Counter(static_cast<double>(oracle.asked()), benchmark::Counter::kAvgIterations);
  state.counters["pool"] = static_cast<double>(pool.size());
}

void eviction_set_by_ways(benchmark::State& state) { find_set(state, static_cast<std::uint32_t>(state.range(0)), 256); }
BENCHMARK(eviction_set_by_ways)->RangeMultiplier(2)->Range(2, 64)->Unit(benchmark::kMillisecond);

void eviction_set_by_sets(benchmark::State& state) { find_set(state, 4, static_cast<std::uint32_t>(state.range(0))); }
BENCHMARK(eviction_set_by_sets)->RangeMultiplier(2)->Range(64, 2048)->Unit(benchmark::kMillisecond);

/// Lines of 36 slices, seen from 128 SMs at distances of their own with a noise of one cycle.
void clusters(benchmark::State& state) {
  constexpr std::size_t k_sms = 128;
  constexpr std::size_t k_slices = 36;
  Random random(2);
  std::vector<double> centres(k_sms * k_slices);
  for (auto& centre : centres) centre = 300 + 60 * (random.uniform() - 0.5);
  LineMap map{k_sms, static_cast<std::size_t>(state.range(0)), {}};
  std::vector<std::size_t> slices(map.lines);
  for (auto& slice : slices) slice = static_cast<std::size_t>(random.below(k_slices));
  for (std::size_t sm = 0; sm < map.sms; ++sm)
    for (const auto slice : slices)
      map.cycles.push_back(static_cast<float>(centres[sm * k_slices + slice] + random.normal()));
  for (auto _ : state) {
    const auto found = cluster_lines(map);
    if (found.count != k_slices) return state.SkipWithError("not the 36 slices there are");
  }
}
BENCHMARK(clusters)->RangeMultiplier(4)->Range(1 << 10, 1 << 16)->Unit(benchmark::kMillisecond);

/// Groups of five lines of the RTX 4090's L1, and 200 pairs of lines of different sets.
void set_function(benchmark::State& state) {
  const auto model = find_model("rtx4090").value();
  const auto& set_of = model.caches.front().set_function;
  Random random(3);
  const auto draw = [&random] { return random.below(std::uint64_t{1} << 28) * k_line_bytes; };
  std::vector<LineGroup> groups(static_cast<std::size_t>(state.range(0)));
  for (auto& group : groups) {
    group.push_back(draw());
    while (group.size() < 5)
      if (const auto line = draw(); set_of(line) == set_of(group.front())) group.push_back(line);
  }
  std::vector<LinePair> apart;
  while (apart.size() < 200)
    if (const LinePair pair{draw(), draw()}; set_of(pair.first) != set_of(pair.second)) apart.push_back(pair);
  SetFeatures features;
  features.address_bits = ((std::uint64_t{1} << 41) - 1) & ~(k_line_bytes - 1);
  for (auto _ : state) {
    const auto fit = fit_set_function(groups, apart, features, {});
    if (!fit.ok() || fit.rank != 8) return state.SkipWithError(fit.ok() ? "not 8 masks" : fit.reason.c_str());
  }
}
BENCHMARK(set_function)->RangeMultiplier(2)->Range(32, 1024)->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace gpusonde
