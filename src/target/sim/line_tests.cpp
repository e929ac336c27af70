#include "target/sim/line_tests.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <queue>

#include "core/units.hpp"
#include "target/sim/gather.hpp"
#include "target/sim/interruption.hpp"
#include "target/sim/sim_clock.hpp"
#include "target/sim/storage_split.hpp"
#include "target/sim/trace.hpp"

namespace gpusonde::sim {
namespace {

constexpr std::uint32_t k_any_sm = 0;

class SequenceRun {
 public:
  SequenceRun(Machine& machine, const DeviceModel& model, const SequenceExperiment& e, const ChaseSettings& settings,
              Random random)
      : m_machine(machine),
        m_model(model),
        m_e(e),
        m_ns_per_cycle(cycles_to_ns(1.0, settings.sm_mhz)),
        m_noise(random.fork(0)),
        m_trace(e.region, e.places, machine),
        m_gather(machine, model, m_ns_per_cycle),
        m_now_ns(random.fork(2).uniform() * k_timer_tick_ns) {}

  bool run(SequenceSamples& readings, const CancelToken* cancel) {
    for (std::size_t test = 0; test < m_e.tests.size(); ++test) {
      if (cancelled(cancel)) return false;
      m_machine.drop_sm_caches();
      const std::size_t end = test + 1 == m_e.tests.size() ? m_e.steps.size() : m_e.tests[test + 1];
      for (std::size_t step = m_e.tests[test]; step < end; ++step)
        for (std::uint32_t turn = 0; turn < m_e.steps[step].times; ++turn) take(m_e.steps[step], readings);
    }
    return true;
  }

 private:
  void take(const SequenceStep& step, SequenceSamples& readings) {
    if (step.kind == StepKind::gather) {
      store(m_gather.load(m_trace.at(step.first, step.count), m_now_ns), readings);
      return;
    }
    for (std::uint64_t done = 0; done < step.count;) {
      const LoadBlock block = m_trace.at(step.first + done, step.count - done);
      for (std::size_t i = 0; i < block.count; ++i) {
        if (step.kind == StepKind::drop) {
          m_machine.drop(block, i);
          continue;
        }
        if (step.kind != StepKind::time) {
          m_machine.touch(block, i, true);
          continue;
        }
        store(m_machine.load(block, i, m_now_ns), readings);
      }
      done += block.count;
    }
  }

  void store(double load_cycles, SequenceSamples& readings) {
    const double cycles = load_cycles + m_model.timing.per_hop_overhead_cycles;
    if (m_e.stamps) readings.starts.push_back(static_cast<std::uint32_t>(counter(m_now_ns / m_ns_per_cycle)));
    m_now_ns += cycles * m_ns_per_cycle;
    readings.cycles.push_back(reading(cycles));
  }

  std::uint32_t reading(double cycles) {
    const auto& noise = m_model.noise;
    if (noise.run_fraction > 0) cycles *= 1 + noise.run_fraction * m_noise.normal();
    if (noise.hop_cycles > 0) cycles += noise.hop_cycles * m_noise.normal();
    return static_cast<std::uint32_t>(std::max(0.0, std::round(cycles)));
  }

  Machine& m_machine;
  const DeviceModel& m_model;
  const SequenceExperiment& m_e;
  double m_ns_per_cycle;
  Random m_noise;
  Trace m_trace;
  Gather m_gather;
  double m_now_ns;
};

/// What serves one after the other, each for as long.
struct Server {
  double free_at = 0;
  /// When something that arrives at a time has been served.
  double serve(double arrival, double cycles) {
    free_at = std::max(free_at, arrival) + cycles;
    return free_at;
  }
};

}  // namespace

Result<SequenceSamples> run_sequence(Machine& machine, const DeviceModel& model, const SequenceExperiment& experiment,
                                     const ChaseSettings& settings, Random random, const CancelToken* cancel) {
  SequenceSamples samples;
  if (model.unified) samples.shared_config_bytes = shared_part_bytes(*model.unified, experiment.split, 0);
  samples.base_address = experiment.region == Region::aliases ? k_alias_address : k_buffer_address;
  machine.begin(experiment.path, experiment.sm.value_or(k_any_sm), samples.shared_config_bytes, random.fork(1));
  // A load's own size comes on top of the limit, or of what the model fetches without one.
  const auto least = experiment.fetch_limit_bytes != 0 ? experiment.fetch_limit_bytes
                     : experiment.prefetch_bytes != 0  ? model.caches.back().fetched_bytes()
                                                       : 0;
  machine.limit_fetches(std::max(least, experiment.prefetch_bytes));
  if (!SequenceRun(machine, model, experiment, settings, random).run(samples, cancel)) return interrupted();
  return samples;
}

Result<LineMapSamples> run_line_map(Machine& machine, const DeviceModel& model, const LineMapExperiment& experiment,
                                    const ChaseSettings&, Random random, const CancelToken* cancel) {
  LineMapSamples samples;
  samples.base_address = k_buffer_address;
  samples.sms = experiment.sms;
  if (samples.sms.empty()) {
    samples.sms.resize(model.sm_count);
    std::iota(samples.sms.begin(), samples.sms.end(), 0U);
  }
  std::sort(samples.sms.begin(), samples.sms.end());
  samples.eighth_cycles.reserve(samples.sms.size() * experiment.places.size());
  const bool atomic = experiment.operation == LineOperation::atomic;
  std::vector<std::uint32_t> slices;
  std::vector<std::uint32_t> homes;
  for (const auto sm : samples.sms) {
    if (cancelled(cancel)) return interrupted();
    machine.begin(LoadPath::global_cg, sm, 0, random.fork(1));
    // The nearest cache of all SMs; there is none in a model whose only cache is L1.
    if (machine.path().empty())
      return fail(ErrorKind::unsupported, "this model has no cache that a load past L1 meets");
    const CacheLevel& cache = *machine.path().front();
    for (std::size_t i = slices.size(); i < experiment.places.size(); ++i) {
      const Address address{k_buffer_address + experiment.places[i], machine.pages().physical(experiment.places[i])};
      slices.push_back(cache.slice(address));
      homes.push_back(cache.home(address));
    }
    const auto& cache_model =
        *std::find_if(model.caches.begin(), model.caches.end(), [](const CacheModel& c) { return c.allocates_cg; });
    for (std::size_t i = 0; i < experiment.places.size(); ++i) {
      double cycles = cache.hit_cycles(slices[i]);
      if (atomic)
        cycles += cache_model.atomic_cycles +
                  (cache_model.partitions > 1 && homes[i] != machine.side(sm) ? cache_model.far_cycles : 0);
      const double total = cycles * experiment.hops + model.timing.timer_overhead_cycles;
      double best = total;
      for (std::uint32_t turn = 0; turn < experiment.repetitions; ++turn) {
        double noisy = total;
        if (model.noise.run_fraction > 0) noisy *= 1 + model.noise.run_fraction * random.normal();
        best = turn == 0 ? noisy : std::min(best, noisy);
      }
      samples.eighth_cycles.push_back(
          static_cast<std::uint16_t>(std::clamp(std::floor(best / (experiment.hops / 8.0)), 0.0, 65535.0)));
    }
  }
  return samples;
}

Result<ThroughputSamples> run_throughput(Machine& machine, const DeviceModel& model, const ThroughputExperiment& e,
                                         const ChaseSettings&, Random random, const CancelToken* cancel) {
  constexpr std::uint32_t k_lanes_in_all = 4096;  // enough for every queue to be full
  constexpr std::uint64_t k_lines = 400'000;      // in all
  constexpr int k_under_way = 4;                  // a lane's
  machine.begin(LoadPath::global_cg, k_any_sm, 0, random.fork(1));
  if (machine.path().empty()) return fail(ErrorKind::unsupported, "this model has no cache that a load past L1 meets");
  const CacheLevel& cache = *machine.path().front();
  const auto& cache_model =
      *std::find_if(model.caches.begin(), model.caches.end(), [](const CacheModel& c) { return c.allocates_cg; });
  std::vector<std::uint32_t> slices;
  for (const auto place : e.places)
    slices.push_back(cache.slice({k_buffer_address + place, machine.pages().physical(place)}));
  const std::uint32_t sms = e.sms == 0 ? model.sm_count : e.sms;
  const auto lanes_per_sm = std::min(e.threads_per_sm, std::max(32U, k_lanes_in_all / sms));
  const double back_bytes = model.timing.crossbar_bytes_per_cycle;
  const double back_cycles = back_bytes > 0 ? cache_model.sector_bytes / back_bytes : 0;
  std::vector<Server> slice_servers(std::size_t{cache.slices()} * cache_model.partitions);
  std::vector<Server> sm_servers(sms);
  std::vector<Server> back_servers(sms);
  using Ready = std::pair<double, std::uint32_t>;
  std::priority_queue<Ready, std::vector<Ready>, std::greater<>> lanes;
  for (std::uint32_t lane = 0; lane < sms * lanes_per_sm; ++lane) lanes.emplace(0.0, lane);
  std::vector<double> ends;
  ends.reserve(k_lines);
  while (ends.size() < k_lines) {
    if (ends.size() % 65536 == 0 && cancelled(cancel)) return interrupted();
    const auto [now, lane] = lanes.top();
    lanes.pop();
    double ready = now;
    for (int i = 0; i < k_under_way; ++i) {
      const auto slice = slices[random.below(slices.size())];
      const double sent = sm_servers[lane / lanes_per_sm].serve(now, 1 / model.timing.crossbar_lines_per_cycle);
      const double way = cache.hit_cycles(slice) / 2;
      // Each side's SMs load from its copy.
      const auto side = cache_model.partitions == 1 ? 0 : machine.side(lane / lanes_per_sm);
      const double served =
          slice_servers[side * cache.slices() + slice].serve(sent + way, 1 / cache_model.lines_per_cycle);
      ready = std::max(ready, back_servers[lane / lanes_per_sm].serve(served + way, back_cycles));
      ends.push_back(served);
    }
    lanes.emplace(ready, lane);
  }
  // Without the beginning and the end, when not all are busy.
  std::sort(ends.begin(), ends.end());
  const std::size_t first = ends.size() / 4;
  const std::size_t last = ends.size() / 4 * 3;
  double cycles = ends[last] - ends[first];
  if (model.noise.run_fraction > 0) cycles *= std::max(0.1, 1 + model.noise.run_fraction * random.normal());
  return ThroughputSamples{last - first, cycles, sms};
}

}  // namespace gpusonde::sim
