#include "target/sim/chase.hpp"

#include <algorithm>
#include <cmath>

#include "core/units.hpp"
#include "target/sim/interruption.hpp"
#include "target/sim/sim_clock.hpp"
#include "target/sim/storage_split.hpp"
#include "target/sim/trace.hpp"
#include "target/sim/warmup.hpp"

namespace gpusonde::sim {
namespace {

constexpr std::uint64_t k_loads_between_cancel_checks = 1 << 16;
constexpr std::uint32_t k_any_sm = 0;

struct TimedPart {
  std::uint64_t hops;  ///< per repetition
  HopTiming timing;
  ChainKind chain;
  std::uint64_t first;  ///< position where it begins
};

/// The timed part: walks on from repetition to repetition, and keeps simulated time.
class TimedChase {
 public:
  TimedChase(Machine& machine, const DeviceModel& model, const TimedPart& experiment, const ChaseSettings& settings,
             Random random)
      : m_machine(machine),
        m_experiment(experiment),
        m_noise_model(model.noise),
        m_ns_per_cycle(cycles_to_ns(1.0, settings.sm_mhz)),
        m_timer_cycles(model.timing.timer_overhead_cycles),
        m_shared_cycles(model.timing.shared_hit_cycles),
        m_hop_cycles((experiment.chain == ChainKind::index ? model.timing.index_overhead_cycles : 0) +
                     (experiment.timing == HopTiming::per_hop ? model.timing.per_hop_overhead_cycles : 0)),
        m_noise(random.fork(0)),
        m_now_ns(random.fork(1).uniform() * k_timer_tick_ns),
        m_position(experiment.first) {}

  /// `trace` is null for a ring in shared memory. False when cancelled.
  bool repetition(Trace* trace, ChaseSamples& samples, const CancelToken* cancel) {
    double cycles = 0;
    const std::size_t first_hop = samples.hop_cycles.size();
    for (std::uint64_t done = 0; done < m_experiment.hops;) {
      const std::uint64_t most = std::min(m_experiment.hops - done, k_loads_between_cancel_checks);
      done += trace == nullptr ? shared_hops(most, cycles, samples) : global_hops(*trace, most, cycles, samples);
      if ((done & (k_loads_between_cancel_checks - 1)) < most && cancelled(cancel)) return false;
    }
    if (m_experiment.timing == HopTiming::per_hop) {
      cycles = 0;
      for (std::size_t i = first_hop; i < samples.hop_cycles.size(); ++i) cycles += samples.hop_cycles[i];
    }
    cycles += m_timer_cycles;
    if (m_noise_model.run_fraction > 0)
      cycles = std::max(0.0, cycles * (1 + m_noise_model.run_fraction * m_noise.normal()));
    const double end_ns = m_now_ns + cycles * m_ns_per_cycle;
    samples.cycles.push_back(static_cast<std::uint64_t>(std::llround(cycles)));
    samples.wall_ns.push_back(timer_ns(end_ns) - timer_ns(m_now_ns));
    m_now_ns = end_ns;
    return true;
  }

 private:
  std::uint64_t shared_hops(std::uint64_t most, double& cycles, ChaseSamples& samples) {
    for (std::uint64_t i = 0; i < most; ++i) add_hop(m_shared_cycles, cycles, samples);
    return most;
  }

  std::uint64_t global_hops(Trace& trace, std::uint64_t most, double& cycles, ChaseSamples& samples) {
    const LoadBlock block = trace.at(m_position, most);
    m_position = (m_position + block.count) % trace.nodes();
    for (std::size_t i = 0; i < block.count; ++i)
      add_hop(m_machine.load(block, i, m_now_ns + cycles * m_ns_per_cycle), cycles, samples);
    return block.count;
  }

  /// The counter is read in whole cycles, so the hops' readings add up to the time that passed.
  void add_hop(double load_cycles, double& cycles, ChaseSamples& samples) {
    const double end_cycles = cycles + load_cycles + m_hop_cycles;
    if (m_experiment.timing == HopTiming::per_hop) {
      auto reading = static_cast<double>(counter(end_cycles) - counter(cycles));
      if (m_noise_model.hop_cycles > 0)
        reading = std::max(0.0, std::round(reading + m_noise_model.hop_cycles * m_noise.normal()));
      samples.hop_cycles.push_back(static_cast<std::uint32_t>(reading));
    }
    cycles = end_cycles;
  }

  Machine& m_machine;
  TimedPart m_experiment;
  NoiseModel m_noise_model;
  double m_ns_per_cycle;
  double m_timer_cycles;
  double m_shared_cycles;
  double m_hop_cycles;
  Random m_noise;
  double m_now_ns;
  std::uint64_t m_position;
};

}  // namespace

Result<ChaseSamples> run_chase(Machine& machine, const DeviceModel& model, const ChaseExperiment& experiment,
                               const ChaseSettings& settings, Random random, const CancelToken* cancel) {
  ChaseSamples samples;
  samples.hops = experiment.hops;
  samples.sm = experiment.sm.value_or(k_any_sm);
  const bool shared = experiment.path == LoadPath::shared;
  if (model.unified)
    samples.shared_config_bytes = shared_part_bytes(
        *model.unified, experiment.split, shared ? experiment.ring.first_byte + experiment.ring.footprint_bytes() : 0);

  const std::uint64_t nodes = experiment.ring.order.node_count;
  const TimedPart part{experiment.hops, experiment.timing, experiment.chain, (nodes - experiment.start_back) % nodes};
  TimedChase timed(machine, model, part, settings, random.fork(0));
  std::optional<Trace> trace;
  if (!shared) {
    machine.begin(experiment.path, samples.sm, samples.shared_config_bytes, random.fork(1));
    const std::uint64_t laps = experiment.warmup == Warmup::none ? 0 : experiment.warmup_laps;
    trace.emplace(experiment.ring, machine,
                  laps * experiment.ring.order.node_count + experiment.hops * experiment.repetitions);
    if (!warm_up(machine, *trace, model, experiment, settings.full_warmup, cancel)) return interrupted();
  }
  for (std::uint32_t i = 0; i < experiment.repetitions; ++i)
    if (!timed.repetition(trace ? &*trace : nullptr, samples, cancel)) return interrupted();
  return samples;
}

Result<ChaseSamples> run_chase(Machine& machine, const DeviceModel& model, const ListChaseExperiment& experiment,
                               const ChaseSettings& settings, Random random, const CancelToken* cancel) {
  ChaseSamples samples;
  samples.hops = experiment.hops;
  samples.sm = experiment.sm.value_or(k_any_sm);
  if (model.unified) samples.shared_config_bytes = shared_part_bytes(*model.unified, experiment.split, 0);
  machine.begin(experiment.path, experiment.warmup_sm.value_or(samples.sm), samples.shared_config_bytes,
                random.fork(1));
  Trace trace(experiment.region, experiment.places, machine);
  for (std::uint64_t done = 0; done < experiment.warmup_hops;) {
    const LoadBlock block =
        trace.at(done % trace.nodes(), std::min(experiment.warmup_hops - done, k_loads_between_cancel_checks));
    for (std::size_t i = 0; i < block.count; ++i) machine.touch(block, i, true);
    done += block.count;
    if (cancelled(cancel)) return interrupted();
  }
  if (experiment.warmup_sm) machine.move_to(samples.sm);
  const TimedPart part{experiment.hops, experiment.timing, ChainKind::pointer, experiment.warmup_hops % trace.nodes()};
  TimedChase timed(machine, model, part, settings, random.fork(0));
  for (std::uint32_t i = 0; i < experiment.repetitions; ++i)
    if (!timed.repetition(&trace, samples, cancel)) return interrupted();
  return samples;
}

}  // namespace gpusonde::sim
