#include "target/sim/instructions.hpp"

#include <algorithm>
#include <list>
#include <unordered_map>

#include "target/sim/sim_clock.hpp"
#include "target/sim/storage_split.hpp"

namespace gpusonde::sim {
namespace {

// As on a real GPU; see target/cuda/instruction_runner.cpp.
constexpr std::uint32_t k_short_operations = 96;
constexpr std::uint32_t k_longest_short = 32;
/// From a comparison to what its predicate guards.
constexpr double k_predicate_cycles = 13;
/// What lies around the operations: fetching, the comparison before the second clock read.
constexpr double k_around_cycles = 40;
constexpr std::uint64_t k_line_bytes = 128;
constexpr std::uint64_t k_pair_stream = 77;  // arbitrary

struct Pipeline {
  double latency_cycles;
  double interval_cycles;
};

Pipeline pipeline_of(const DeviceModel& model, Operation operation) {
  const auto& timing = model.timing;
  // Four bytes a lane.
  const double shared_interval = 32 * 4 / timing.shared_bytes_per_cycle;
  switch (operation) {
    case Operation::shared_register: return {timing.shared_hit_cycles, shared_interval};
    case Operation::shared_predicate: return {timing.shared_hit_cycles + k_predicate_cycles, shared_interval};
    case Operation::shared_immediate:
      return {timing.shared_hit_cycles + k_predicate_cycles - timing.register_read_cycles, shared_interval};
    default: break;
  }
  for (const auto& each : model.instructions)
    if (each.operation == to_string(operation)) return {each.latency_cycles, each.interval_cycles};
  return {1, 1};
}

/// Each operation begins when the last one of its chain is done and the pipeline takes another.
double run_cycles(const Pipeline& pipeline, std::uint32_t chains, std::uint64_t length) {
  std::vector<double> ready(chains, 0);
  double issue = -pipeline.interval_cycles;
  for (std::uint64_t i = 0; i < length; ++i)
    for (auto& chain : ready) {
      issue = std::max(chain, issue + pipeline.interval_cycles);
      chain = issue + pipeline.latency_cycles;
    }
  return k_around_cycles + *std::max_element(ready.begin(), ready.end());
}

/// What two clock reads show of a time, which begins anywhere within a cycle.
std::uint64_t seen(double cycles, const NoiseModel& noise, Random& random) {
  const double begin = random.uniform();
  return counter(begin + std::max(0.0, cycles * (1 + noise.run_fraction * random.normal())));
}

/// Lines of a fully associative cache, least recently used first out.
class LruLines {
 public:
  explicit LruLines(std::uint64_t capacity) : m_capacity(capacity) {}
  /// Whether the line was there; it is after.
  bool access(std::uint64_t line) {
    if (const auto found = m_where.find(line); found != m_where.end()) {
      m_order.splice(m_order.begin(), m_order, found->second);
      return true;
    }
    if (m_capacity == 0) return false;
    if (m_order.size() == m_capacity) {
      m_where.erase(m_order.back());
      m_order.pop_back();
    }
    m_order.push_front(line);
    m_where[line] = m_order.begin();
    return false;
  }

 private:
  std::uint64_t m_capacity;
  std::list<std::uint64_t> m_order;
  std::unordered_map<std::uint64_t, std::list<std::uint64_t>::iterator> m_where;
};

struct Level {
  std::uint64_t line_bytes;
  double hit_cycles;
  LruLines lines;
};

/// Levels one behind the other; a load fills all that it went past.
class Path {
 public:
  void add(std::uint64_t bytes, std::uint64_t line_bytes, double hit_cycles) {
    m_levels.push_back({line_bytes, hit_cycles, LruLines(bytes / line_bytes)});
  }
  void end(double cycles) { m_behind_cycles = cycles; }
  double load(std::uint64_t place) {
    double cycles = m_behind_cycles;
    for (auto level = m_levels.rbegin(); level != m_levels.rend(); ++level)
      if (level->lines.access(place / level->line_bytes)) cycles = level->hit_cycles;
    return cycles;
  }

 private:
  std::vector<Level> m_levels;
  double m_behind_cycles = 0;
};

double l2_cycles(const DeviceModel& model, double sm_mhz) {
  for (const auto& cache : model.caches)
    if (cache.allocates_cg) return cache.hit.cycles(sm_mhz);
  return model.dram.latency.cycles(sm_mhz);
}

/// What L1 keeps for a small block that asks for as much of it as there is.
std::uint64_t l1_bytes(const DeviceModel& model) {
  const auto& l1 = model.caches.front();
  auto sets = l1.sets;
  if (model.unified) sets = sets_left(sets, *model.unified, shared_part_bytes(*model.unified, {0, 32}));
  return l1.capacity_bytes() / l1.sets * sets;
}

Path path_of(const DeviceModel& model, MemoryKind kind, double sm_mhz) {
  Path path;
  const auto& l1 = model.caches.front();
  path.end(l2_cycles(model, sm_mhz));
  switch (kind) {
    case MemoryKind::constant:
      for (const auto& level : model.constants) path.add(level.bytes, level.line_bytes, level.hit_cycles);
      break;
    case MemoryKind::texture: path.add(l1_bytes(model), l1.line_bytes, model.timing.texture_hit_cycles); break;
    case MemoryKind::read_only: path.add(l1_bytes(model), l1.line_bytes, l1.hit.cycles(sm_mhz)); break;
    case MemoryKind::shared: path.end(model.timing.shared_hit_cycles); break;
  }
  return path;
}

}  // namespace

Result<InstructionSamples> run_instruction(const DeviceModel& model, const InstructionExperiment& experiment,
                                           Random random) {
  InstructionSamples samples;
  samples.short_length = std::min(k_longest_short, k_short_operations / experiment.chains);
  samples.long_length = 3 * samples.short_length;
  const auto pipeline = pipeline_of(model, experiment.operation);
  const double short_cycles = run_cycles(pipeline, experiment.chains, samples.short_length);
  const double long_cycles = run_cycles(pipeline, experiment.chains, samples.long_length);
  for (std::uint32_t i = 0; i < experiment.repetitions; ++i) {
    samples.short_cycles.push_back(seen(short_cycles, model.noise, random));
    samples.long_cycles.push_back(seen(long_cycles, model.noise, random));
  }
  return samples;
}

Result<MemoryChaseSamples> run_memory_chase(const DeviceModel& model, const MemoryChaseExperiment& experiment,
                                            double sm_mhz, Random random) {
  Path path = path_of(model, experiment.kind, sm_mhz);
  const RingOrder order(
      {.node_count = experiment.bytes / experiment.stride_bytes, .stride_bytes = experiment.stride_bytes});
  const auto nodes = order.p.node_count;
  for (std::uint64_t i = 0; i < nodes; ++i) path.load(order.offset(i));
  MemoryChaseSamples samples{experiment.hops, {}};
  std::uint64_t position = 0;
  for (std::uint32_t turn = 0; turn < experiment.repetitions; ++turn) {
    double cycles = model.timing.timer_overhead_cycles;
    for (std::uint32_t hop = 0; hop < experiment.hops; ++hop, position = position + 1 == nodes ? 0 : position + 1)
      cycles += path.load(order.offset(position));
    samples.cycles.push_back(seen(cycles, model.noise, random));
  }
  return samples;
}

Result<StorageSharingSamples> run_storage_sharing(const DeviceModel& model, const StorageSharingExperiment& experiment,
                                                  double sm_mhz, Random random) {
  const auto& l1 = model.caches.front();
  const RingOrder order({.node_count = experiment.l1_bytes / k_line_bytes, .stride_bytes = k_line_bytes});
  StorageSharingSamples samples;
  samples.hops = order.p.node_count;
  for (std::uint32_t turn = 0; turn < experiment.repetitions; ++turn) {
    Path path;  // a launch begins with an empty L1
    path.add(l1_bytes(model), l1.line_bytes, l1.hit.cycles(sm_mhz));
    path.end(l2_cycles(model, sm_mhz));
    const auto lap = [&] {
      double cycles = model.timing.timer_overhead_cycles;
      for (std::uint64_t i = 0; i < samples.hops; ++i) cycles += path.load(order.offset(i));
      return cycles;
    };
    for (int i = 0; i < 3; ++i) lap();
    samples.before_cycles.push_back(seen(lap(), model.noise, random));
    if (experiment.kind != MemoryKind::constant)
      for (int i = 0; i < 3; ++i)
        for (std::uint64_t place = 0; place < experiment.other_bytes; place += k_line_bytes)
          path.load(experiment.l1_bytes + place);
    samples.after_cycles.push_back(seen(lap(), model.noise, random));
  }
  return samples;
}

Result<ClusterSamples> run_cluster(const DeviceModel& model, const ClusterExperiment& experiment, Random random) {
  const auto& cluster = model.cluster;
  ClusterSamples samples;
  for (std::uint32_t from = 0; from < experiment.blocks; ++from) {
    samples.sms.push_back(from);
    for (std::uint32_t to = 0; to < experiment.blocks; ++to) {
      // A pair of SMs is as far apart as it is, either way and every time.
      const std::uint64_t pair = std::uint64_t{std::min(from, to)} << 32 | std::max(from, to);
      const double away = Random(mix64(pair)).fork(k_pair_stream).uniform() - 0.5;
      const double cycles =
          from == to ? cluster.self_cycles : cluster.remote_cycles + away * cluster.remote_spread_cycles;
      samples.cycles.push_back(static_cast<double>(seen(experiment.hops * cycles, model.noise, random)) /
                               experiment.hops);
    }
  }
  return samples;
}

}  // namespace gpusonde::sim
