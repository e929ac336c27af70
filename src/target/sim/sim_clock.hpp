// The simulated clocks: SM cycles and the coarse global timer.
#pragma once

#include <cmath>
#include <cstdint>

#include "experiment/experiment.hpp"
#include "model/device_model.hpp"

namespace gpusonde::sim {

/// The global timer of a real GPU advances in steps of about this length.
inline constexpr double k_timer_tick_ns = 1000;

/// What the global timer shows at a time.
[[nodiscard]] inline std::uint64_t timer_ns(double time_ns) noexcept {
  return static_cast<std::uint64_t>(std::floor(time_ns / k_timer_tick_ns) * k_timer_tick_ns);
}

/// What the cycle counter shows after so many cycles.
[[nodiscard]] inline std::uint64_t counter(double cycles) noexcept {
  return static_cast<std::uint64_t>(std::floor(cycles));
}

// The experiments without memory. `start_ns` is where the global timer stands when they begin.
[[nodiscard]] TimerSamples run_timer(const TimerExperiment& experiment, const TimingModel& timing);
[[nodiscard]] ElapsedSamples run_loop(const LoopOverheadExperiment& experiment, const TimingModel& timing,
                                      double sm_mhz, double start_ns);
[[nodiscard]] ElapsedSamples run_clock(const ClockExperiment& experiment, double sm_mhz, double start_ns);

}  // namespace gpusonde::sim
