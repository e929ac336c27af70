#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <optional>

#include "core/units.hpp"
#include "inference/load_curve.hpp"
#include "inference/repetitions.hpp"
#include "probe/bandwidth_probe.hpp"
#include "probe/load_probe.hpp"
#include "probe/probes.hpp"

namespace gpusonde {
namespace {

constexpr double k_saturated = 0.9;        // of the time a load with half the chains: no longer overlapping
constexpr double k_nearer = 0.9;           // of a load that goes past L1
constexpr double k_least_together = 0.80;  // of the bandwidth while all load: SMs far away end last
constexpr double k_most_together = 1.05;
constexpr double k_timer_tick_ns = 1000;
constexpr double k_chase_resolution = 0.002;

/// A level's curve, of each repetition.
using Curves = std::map<std::uint64_t, std::vector<LoadPoint>>;

class LoadAnalysis {
 public:
  explicit LoadAnalysis(const AnalysisInput& input)
      : m_input(input),
        m_chains(read_loads(input.measurements, "load.chains")),
        m_curve(read_loads(input.measurements, "load.curve")),
        m_clock(sm_clock_estimate(input.measurements)) {}

  Analysis run() {
    for (const auto level : k_load_levels) completion(std::string(level));
    for (const std::string level : {"l2", "dram"}) curve(level);
    return std::move(m_analysis);
  }

 private:
  void add(const std::string& level, const char* name, const char* unit, const Estimate& estimate, const char* table,
           SampleList samples = {}) {
    m_analysis.findings.push_back(make_finding(fmt::format("load.{}.{}", level, name), unit, estimate,
                                               fmt::format("#/measurements/{}", table), std::move(samples)));
  }

  [[nodiscard]] Estimate none(const std::string& level) const {
    const auto* table = m_input.measurements.find("load.skipped");
    const auto* levels = table == nullptr ? nullptr : table->column<std::string>("level");
    const auto* reasons = table == nullptr ? nullptr : table->column<std::string>("reason");
    if (levels != nullptr && reasons != nullptr)
      for (std::size_t i = 0; i < table->rows(); ++i)
        if ((*levels)[i] == level) return {Outcome::unsupported, 0, {}, (*reasons)[i]};
    return {Outcome::skipped, 0, {}, "not measured"};
  }

  /// Of memory: lines that L2 still holds from before make it look nearer; the true figure may be so much higher.
  [[nodiscard]] RepetitionLimits limits(const LoadRow& row) const {
    RepetitionLimits limits{.resolution = k_chase_resolution};
    if (row.level == "dram" && row.ring_bytes > 0)
      limits.high_bias = static_cast<double>(m_input.device.nominal.l2_bytes) / static_cast<double>(row.ring_bytes);
    return limits;
  }

  /// Cycles a load, by number of chains; the least of them.
  void completion(const std::string& level) {
    std::map<std::uint64_t, std::vector<double>> by_chains;
    const LoadRow* any = nullptr;
    for (const auto& row : m_chains) {
      if (row.level != level) continue;
      by_chains[row.chains].push_back(row.round_cycles / static_cast<double>(row.chains));
      any = &row;
    }
    if (any == nullptr) return add(level, "completion_interval", "cycles", none(level), "load.chains");
    std::map<std::uint64_t, Estimate> estimates;
    SampleList samples;
    for (const auto& [chains, values] : by_chains) {
      const auto& estimate = estimates[chains] = mean_of_repetitions(values, limits(*any));
      if (!estimate.ok()) return add(level, "completion_interval", "cycles", estimate, "load.chains");
      samples.emplace_back(fmt::format("chains_{}", chains), estimate.value);
    }
    if (const auto why = not_in_l1(level, estimates); !why.empty())
      return add(level, "completion_interval", "cycles", inconclusive(why), "load.chains", std::move(samples));
    auto best = estimates.begin();
    for (auto it = estimates.begin(); it != estimates.end(); ++it)
      if (it->second.value < best->second.value) best = it;
    samples.emplace_back("chains", static_cast<double>(best->first));
    samples.emplace_back("still_overlapping", std::string(still_overlaps(estimates) ? "yes" : "no"));
    add(level, "completion_interval", "cycles", best->second, "load.chains", std::move(samples));
  }

  /// In words, if one chain takes about as long as one that goes past L1; else empty.
  [[nodiscard]] std::string not_in_l1(const std::string& level,
                                      const std::map<std::uint64_t, Estimate>& estimates) const {
    if (level != "l1" || !estimates.contains(1)) return {};
    std::vector<double> past;
    for (const auto& row : m_chains)
      if (row.level == "l2" && row.chains == 1) past.push_back(row.round_cycles);
    const auto l2 = mean_of_repetitions(past);
    if (!l2.ok() || estimates.at(1).value < k_nearer * l2.value) return {};
    return fmt::format("a load takes {:.1f} cycles and one past L1 {:.1f}: what was loaded did not stay in L1",
                       estimates.at(1).value, l2.value);
  }

  /// Whether twice the chains took clearly less than twice the time to the last: more of them would bring more.
  [[nodiscard]] static bool still_overlaps(const std::map<std::uint64_t, Estimate>& estimates) {
    if (estimates.size() < 2) return true;
    const auto last = std::prev(estimates.end());
    return last->second.value < k_saturated * std::prev(last)->second.value;
  }

  void curve(const std::string& level) {
    std::vector<LoadRow> rows;
    for (const auto& row : m_curve)
      if (row.level == level) rows.push_back(row);
    if (rows.empty()) return all_of_curve(level, none(level));
    if (!m_clock.ok()) return all_of_curve(level, inconclusive("the SM clock is not known: " + m_clock.reason));
    std::sort(rows.begin(), rows.end(), [](const LoadRow& a, const LoadRow& b) {
      return std::pair(a.repetition, a.loads_under_way()) < std::pair(b.repetition, b.loads_under_way());
    });
    Curves curves;
    std::vector<double> idle;
    double least_ns = INFINITY;
    for (const auto& row : rows) {
      if (row.loads_under_way() == 1) idle.push_back(row.round_cycles);
      least_ns = std::min(least_ns, static_cast<double>(row.wall_ns));
      curves[row.repetition].push_back(point(row));
    }
    const auto idle_cycles = mean_of_repetitions(idle, limits(rows.front()));
    const double tick = k_timer_tick_ns / std::max(1.0, least_ns);
    add(level, "idle_latency", "cycles", idle_cycles, "load.curve");
    add(level, "idle_latency_ns", "ns", in_ns(idle_cycles), "load.curve");
    peak(level, curves, tick);
    knee(level, curves, idle_cycles, tick);
    derive(level, rows);
  }

  void all_of_curve(const std::string& level, const Estimate& estimate) {
    for (const auto& [name, unit] :
         {std::pair{"idle_latency", "cycles"}, std::pair{"idle_latency_ns", "ns"}, std::pair{"peak", "bytes/s"},
          std::pair{"knee", "bytes/s"}, std::pair{"concurrency", "bytes"}})
      add(level, name, unit, estimate, "load.curve");
  }

  [[nodiscard]] LoadPoint point(const LoadRow& row) const {
    const double cycles = static_cast<double>(row.wall_ns) * m_clock.value / 1e3;
    const double bytes_each =
        static_cast<double>(row.bytes) / static_cast<double>(std::max<std::uint64_t>(1, row.loads));
    return {row.loads_under_way() * bytes_each, row.round_cycles,
            cycles > 0 ? static_cast<double>(row.bytes) / cycles : 0};
  }

  [[nodiscard]] Estimate in_ns(Estimate cycles) const {
    if (!cycles.ok()) return cycles;
    cycles.value = cycles_to_ns(cycles.value, m_clock.value);
    cycles.interval = {cycles_to_ns(cycles.interval.low, m_clock.interval.high),
                       cycles_to_ns(cycles.interval.high, m_clock.interval.low)};
    return cycles;
  }

  /// Why bytes over the whole time do not fit those under way by their latency, in words; empty when they do.
  [[nodiscard]] static std::string broken_law(const Curves& curves, std::size_t points, std::size_t from = 0) {
    for (const auto& [repetition, curve] : curves)
      for (std::size_t i = from; i < std::min(points, curve.size()); ++i)
        if (curve[i].together() < k_least_together || curve[i].together() > k_most_together)
          return fmt::format(
              "with {} under way, what was moved over the whole time is {:.0f} % of what their latency "
              "says: not all of them loaded all the time, or a clock changed",
              format_bytes(static_cast<std::uint64_t>(curve[i].bytes_under_way)), 100 * curve[i].together());
    return {};
  }

  [[nodiscard]] Estimate per_second(Estimate per_cycle) const {
    if (!per_cycle.ok()) return per_cycle;
    per_cycle.value *= 1e6 * m_clock.value;
    per_cycle.interval = {per_cycle.interval.low * 1e6 * m_clock.interval.low,
                          per_cycle.interval.high * 1e6 * m_clock.interval.high};
    return per_cycle;
  }

  /// The point that moves most on average.
  void peak(const std::string& level, const Curves& curves, double tick) {
    const auto points = curves.begin()->second.size();
    std::size_t best = 0;
    double most = -1;
    for (std::size_t i = 0; i < points; ++i) {
      double sum = 0;
      for (const auto& [repetition, curve] : curves) sum += i < curve.size() ? curve[i].bytes_per_cycle() : 0;
      if (sum <= most) continue;
      most = sum;
      best = i;
    }
    std::vector<double> rates;
    for (const auto& [repetition, curve] : curves)
      if (best < curve.size()) rates.push_back(curve[best].bytes_per_cycle());
    auto estimate = per_second(mean_of_repetitions(rates, {.resolution = tick}));
    if (const auto why = broken_law(curves, best + 1, best); estimate.ok() && !why.empty())
      estimate = inconclusive(why);
    const auto& point = curves.begin()->second[best];
    if (level == "dram") estimate = limited_by_pins(std::move(estimate), theoretical());
    add(level, "peak", "bytes/s", estimate, "load.curve",
        {{"bytes_under_way", point.bytes_under_way},
         {"latency_cycles", point.latency_cycles},
         {"over_all_time_bytes_per_second", point.over_all_bytes_per_cycle * 1e6 * m_clock.value},
         {"most_under_way", std::string(best + 1 == points ? "yes" : "no")}});
  }

  [[nodiscard]] double theoretical() const {
    const auto& nominal = m_input.device.nominal;
    return 2e6 * nominal.memory_clock_mhz * nominal.bus_width_bits / 8;
  }

  void knee(const std::string& level, const Curves& curves, const Estimate& idle_cycles, double tick) {
    std::vector<double> rates;
    std::vector<double> bytes;
    std::size_t points = 0;
    for (const auto& [repetition, curve] : curves) {
      const auto found = idle_cycles.ok() ? knee_of(curve, idle_cycles.value) : std::nullopt;
      if (!found) break;
      rates.push_back(found->bytes_per_cycle());
      bytes.push_back(found->bytes_under_way);
      while (points < curve.size() && (points == 0 || curve[points - 1].latency_cycles < found->latency_cycles))
        ++points;
    }
    Estimate rate = per_second(mean_of_repetitions(rates, {.resolution = tick, .most_scatter = 0.1}));
    Estimate under_way = mean_of_repetitions(bytes, {.resolution = tick, .most_scatter = 0.1});
    if (!idle_cycles.ok())
      rate = under_way = inconclusive("the idle latency is not known: " + idle_cycles.reason);
    else if (rates.size() < curves.size())
      rate = under_way = inconclusive(no_knee(curves, idle_cycles.value));
    else if (const auto why = broken_law(curves, points); !why.empty())
      rate = under_way = inconclusive(why);
    const SampleList samples{{"latency_cycles", idle_cycles.ok() ? k_knee_factor * idle_cycles.value : 0}};
    add(level, "knee", "bytes/s", rate, "load.curve", samples);
    add(level, "concurrency", "bytes", under_way, "load.curve", samples);
  }

  [[nodiscard]] static std::string no_knee(const Curves& curves, double idle_cycles) {
    double most = 0;
    for (const auto& point : curves.begin()->second) most = std::max(most, point.latency_cycles);
    return fmt::format("latency reaches {:.2f} times the idle one with all that was put under way, not {}",
                       most / idle_cycles, k_knee_factor);
  }

  /// Means over repetitions, for reports.
  void derive(const std::string& level, const std::vector<LoadRow>& rows) {
    std::map<double, std::vector<const LoadRow*>> by_load;
    for (const auto& row : rows) by_load[row.loads_under_way()].push_back(&row);
    if (m_analysis.derived.empty()) m_analysis.derived.emplace_back("derived.load.curve", Table{});
    auto& table = m_analysis.derived.front().second;
    for (const auto& [loads, of] : by_load) {
      LoadPoint mean;
      for (const auto* row : of) {
        const auto one = point(*row);
        mean.bytes_under_way = one.bytes_under_way;
        mean.latency_cycles += one.latency_cycles / static_cast<double>(of.size());
        mean.over_all_bytes_per_cycle += one.over_all_bytes_per_cycle / static_cast<double>(of.size());
      }
      table.make<std::string>("level").push_back(level);
      table.make<std::uint64_t>("sms").push_back(of.front()->sms);
      table.make<std::uint64_t>("warps").push_back(of.front()->warps);
      table.make<std::uint64_t>("chains").push_back(of.front()->chains);
      table.make<double>("bytes_under_way").push_back(mean.bytes_under_way);
      table.make<double>("latency_cycles").push_back(mean.latency_cycles);
      table.make<double>("bytes_per_second").push_back(mean.bytes_per_cycle() * 1e6 * m_clock.value);
      table.make<double>("together").push_back(mean.together());
    }
  }

  const AnalysisInput& m_input;
  std::vector<LoadRow> m_chains;
  std::vector<LoadRow> m_curve;
  Estimate m_clock;
  Analysis m_analysis;
};

}  // namespace

Analysis analyze_load(const AnalysisInput& input) { return LoadAnalysis(input).run(); }

}  // namespace gpusonde
