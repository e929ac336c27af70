// The SM clock in force and what reading a clock costs. Run first, so that every later figure has its
// nanoseconds.
#include <algorithm>
#include <array>
#include <vector>

#include "inference/statistics.hpp"
#include "probe/findings.hpp"
#include "probe/probes.hpp"

namespace gpusonde {
namespace {

constexpr std::array k_findings{
    FindingSpec{"clock.sm", "MHz", "SM clock seen during the run: clock64 over wall time"},
    FindingSpec{"timer.overhead", "cycles", "two clock reads back to back"},
    FindingSpec{"timer.loop_overhead", "cycles", "one dependent integer multiply-add of an empty chase loop"},
};

constexpr std::array<std::string_view, 3> k_tables{"clock", "timer", "loop_overhead"};

class ClockProbe final : public Probe {
 public:
  [[nodiscard]] std::string_view name() const noexcept override { return "clock"; }
  [[nodiscard]] std::string_view summary() const noexcept override { return "SM clock, cost of a clock read"; }
  [[nodiscard]] std::span<const FindingSpec> findings() const noexcept override { return k_findings; }
  [[nodiscard]] std::span<const std::string_view> tables() const noexcept override { return k_tables; }

  [[nodiscard]] Result<void> measure(ProbeContext& context) const override {
    if (context.progress) context.progress({name(), "SM clock", 0});
    const std::vector<Experiment> experiments{ClockExperiment{}, TimerExperiment{}, LoopOverheadExperiment{},
                                              ClockExperiment{}};
    auto samples = context.target.run(experiments, {context.cancel, {}});
    if (!samples) return tl::unexpected(samples.error());
    for (const auto& sample : *samples) {
      if (const auto* timer = std::get_if<TimerSamples>(&sample)) {
        context.measurements.table("timer").make<std::uint64_t>("cycles") = timer->cycles;
      } else if (const auto* elapsed = std::get_if<ElapsedSamples>(&sample)) {
        const bool loop = &sample == &(*samples)[2];
        auto& table = context.measurements.table(loop ? "loop_overhead" : "clock");
        table.make<std::uint64_t>("cycles").push_back(elapsed->cycles);
        if (loop)
          table.make<std::uint64_t>("iterations").push_back(elapsed->iterations);
        else
          table.make<std::uint64_t>("wall_ns").push_back(elapsed->wall_ns);
      }
    }
    return {};
  }

  [[nodiscard]] Analysis analyze(const AnalysisInput& input) const override {
    return {{sm_clock_finding(input.measurements), timer_finding(input.measurements), loop_finding(input.measurements)},
            {}};
  }

 private:
  static Finding sm_clock_finding(const Measurements& measurements) {
    const auto estimate = sm_clock_estimate(measurements);
    return make_finding("clock.sm", "MHz", estimate, "#/measurements/clock");
  }

  static Finding timer_finding(const Measurements& measurements) {
    const auto* table = measurements.find("timer");
    const auto* cycles = table ? table->column<std::uint64_t>("cycles") : nullptr;
    if (cycles == nullptr || cycles->empty())
      return not_ok("timer.overhead", "cycles", Outcome::skipped, "not measured");
    const std::vector<double> values(cycles->begin(), cycles->end());
    return make_finding("timer.overhead", "cycles", {Outcome::ok, median(values), median_interval(values), {}},
                        "#/measurements/timer", {{"reads", static_cast<double>(values.size())}});
  }

  static Finding loop_finding(const Measurements& measurements) {
    const auto per_iteration = loop_overhead_cycles(measurements);
    if (!per_iteration) return not_ok("timer.loop_overhead", "cycles", Outcome::skipped, "not measured");
    return make_finding("timer.loop_overhead", "cycles",
                        {Outcome::ok, *per_iteration, {*per_iteration - 0.05, *per_iteration + 0.05}, {}},
                        "#/measurements/loop_overhead");
  }
};

}  // namespace

Estimate sm_clock_estimate(const Measurements& measurements) {
  const auto* table = measurements.find("clock");
  const auto* cycles = table ? table->column<std::uint64_t>("cycles") : nullptr;
  const auto* wall = table ? table->column<std::uint64_t>("wall_ns") : nullptr;
  if (cycles == nullptr || wall == nullptr || cycles->empty() || cycles->size() != wall->size())
    return {Outcome::skipped, 0, {}, "the SM clock was not measured"};
  std::vector<double> mhz;
  double tick_error = 0;
  for (std::size_t i = 0; i < cycles->size(); ++i) {
    if ((*wall)[i] == 0) return inconclusive("the global timer did not advance");
    mhz.push_back(static_cast<double>((*cycles)[i]) * 1000.0 / static_cast<double>((*wall)[i]));
    tick_error = std::max(tick_error, 2000.0 / static_cast<double>((*wall)[i]));  // the timer ticks about every us
  }
  const auto [low, high] = std::minmax_element(mhz.begin(), mhz.end());
  if (*high > 1.02 * *low)
    return inconclusive("the SM clock moved by more than 2 % during the run; lock it (clocks lock) or run again");
  const double value = median(mhz);
  return {Outcome::ok, value, {*low - value * tick_error, *high + value * tick_error}, {}};
}

std::optional<double> loop_overhead_cycles(const Measurements& measurements) {
  const auto* table = measurements.find("loop_overhead");
  const auto* cycles = table ? table->column<std::uint64_t>("cycles") : nullptr;
  const auto* iterations = table ? table->column<std::uint64_t>("iterations") : nullptr;
  if (cycles == nullptr || iterations == nullptr || cycles->empty() || iterations->empty() || iterations->front() == 0)
    return {};
  return static_cast<double>(cycles->front()) / static_cast<double>(iterations->front());
}

const Probe& clock_probe() {
  static const ClockProbe probe;
  return probe;
}

}  // namespace gpusonde
