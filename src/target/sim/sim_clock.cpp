#include "target/sim/sim_clock.hpp"

#include "core/units.hpp"

namespace gpusonde::sim {

TimerSamples run_timer(const TimerExperiment& experiment, const TimingModel& timing) {
  TimerSamples samples;
  samples.cycles.reserve(experiment.repetitions);
  double now_cycles = 0;
  for (std::uint32_t i = 0; i < experiment.repetitions; ++i) {
    const double end_cycles = now_cycles + timing.timer_overhead_cycles;
    samples.cycles.push_back(counter(end_cycles) - counter(now_cycles));
    now_cycles = end_cycles;
  }
  return samples;
}

ElapsedSamples run_loop(const LoopOverheadExperiment& experiment, const TimingModel& timing, double sm_mhz,
                        double start_ns) {
  const double cycles =
      static_cast<double>(experiment.iterations) * timing.loop_overhead_cycles + timing.timer_overhead_cycles;
  return {counter(cycles), timer_ns(start_ns + cycles_to_ns(cycles, sm_mhz)) - timer_ns(start_ns),
          experiment.iterations};
}

ElapsedSamples run_clock(const ClockExperiment& experiment, double sm_mhz, double start_ns) {
  // The spin ends when the global timer shows that the time has passed, so at one of its ticks.
  const auto ticks = std::ceil(static_cast<double>(experiment.duration_ns) / k_timer_tick_ns);
  const double end_ns = static_cast<double>(timer_ns(start_ns)) + ticks * k_timer_tick_ns;
  return {counter(ns_to_cycles(end_ns - start_ns, sm_mhz)), timer_ns(end_ns) - timer_ns(start_ns), 0};
}

}  // namespace gpusonde::sim
