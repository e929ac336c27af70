#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "inference/repetitions.hpp"
#include "inference/statistics.hpp"
#include "probe/bandwidth_probe.hpp"
#include "probe/probes.hpp"

namespace gpusonde {
namespace {

constexpr double k_timer_tick_ns = 1000;       // the global timer's, on the coarse side
constexpr double k_own_bytes_per_cycle = 128;  // of an SM's L1 or shared memory. Source: CUDA C++ Programming Guide
constexpr double k_slack = 1.01;
constexpr double k_more_than_past = 1.1;
constexpr double k_clock_held = 0.98;     // of the clock at the beginning: below, it is said
constexpr double k_clock_unclear = 0.90;  // and below this nothing is claimed

/// What was in force while the streams ran.
struct State {
  std::string throttle_reasons;
  std::string ecc;
};

State read_state(const Measurements& measurements) {
  State state;
  const auto* table = measurements.find("bandwidth.state");
  if (table == nullptr) return state;
  if (const auto* reasons = table->column<std::string>("throttle_reasons"))
    for (const auto& reason : *reasons)
      if (!reason.empty()) state.throttle_reasons = reason;
  if (const auto* ecc = table->column<std::string>("ecc"); ecc != nullptr && !ecc->empty()) state.ecc = ecc->front();
  return state;
}

class BandwidthAnalysis {
 public:
  explicit BandwidthAnalysis(const AnalysisInput& input) : m_input(input), m_state(read_state(input.measurements)) {
    if (const auto* table = input.measurements.find("bandwidth.stream")) m_rows = read_streams(*table);
    const auto& nominal = input.device.nominal;
    m_theoretical = 2e6 * nominal.memory_clock_mhz * nominal.bus_width_bits / 8;
    if (const auto clock = sm_clock_estimate(input.measurements); clock.ok()) m_sm_mhz = clock.value;
  }

  Analysis run() {
    Analysis analysis;
    for (const auto& kind : k_stream_kinds) analysis.findings.push_back(finding(kind));
    return analysis;
  }

 private:
  [[nodiscard]] Finding finding(const StreamKind& kind) const {
    std::vector<StreamRow> rows;
    const auto threads = best_threads(m_rows, kind);
    for (const auto& row : m_rows)
      if (row.level == kind.level && row.transfer == kind.transfer && row.threads_per_sm == threads &&
          row.repetition > 0)
        rows.push_back(row);
    if (rows.empty()) return not_measured(kind);
    SampleList samples;
    auto estimate = rate(kind, rows, samples);
    return make_finding(finding_id(kind), "bytes/s", estimate, "#/measurements/bandwidth.stream", std::move(samples));
  }

  [[nodiscard]] Finding not_measured(const StreamKind& kind) const {
    const auto* table = m_input.measurements.find("bandwidth.skipped");
    const auto* level = table == nullptr ? nullptr : table->column<std::string>("level");
    const auto* transfer = table == nullptr ? nullptr : table->column<std::string>("transfer");
    const auto* reason = table == nullptr ? nullptr : table->column<std::string>("reason");
    if (level != nullptr && transfer != nullptr && reason != nullptr)
      for (std::size_t i = 0; i < table->rows(); ++i)
        if ((*level)[i] == kind.level && (*transfer)[i] == kind.transfer)
          return not_ok(finding_id(kind), "bytes/s", Outcome::unsupported, (*reason)[i]);
    return not_ok(finding_id(kind), "bytes/s", Outcome::skipped, "not measured");
  }

  [[nodiscard]] Estimate rate(const StreamKind& kind, const std::vector<StreamRow>& rows, SampleList& samples) const {
    std::vector<double> rates;
    std::vector<double> clocks;
    double least_ns = INFINITY;
    for (const auto& row : rows) {
      rates.push_back(row.bytes_per_second());
      clocks.push_back(row.sm_mhz());
      least_ns = std::min(least_ns, static_cast<double>(row.wall_ns));
    }
    const double sm_mhz = median(clocks);
    const double per_sm = per_cycle(rows);
    samples = {{"repetitions", static_cast<double>(rows.size())},
               {"threads_per_sm", static_cast<double>(rows.front().threads_per_sm)},
               {"set_bytes", static_cast<double>(rows.front().set_bytes)},
               {"sm_mhz", sm_mhz},
               {"bytes_per_cycle_per_sm", per_sm}};
    auto estimate = mean_of_repetitions(rates, {.resolution = k_timer_tick_ns / std::max(least_ns, 1.0)});
    if (kind.level == "dram") limit_by_pins(estimate, samples);
    if (kind.level == "l1" || kind.level == "shared") limit_by_sm(kind, per_sm, estimate, samples);
    if (kind.level == "l1") hold_against_l2(estimate);
    compare_clocks(kind, sm_mhz, estimate, samples);
    return estimate;
  }

  /// By the time that all took and the SM clock: that of the longest SM where no other was measured.
  [[nodiscard]] double per_cycle(const std::vector<StreamRow>& rows) const {
    std::vector<double> values;
    for (const auto& row : rows) {
      const double mhz = m_sm_mhz > 0 ? m_sm_mhz : row.sm_mhz();
      values.push_back(mhz > 0 && row.sms > 0 ? row.bytes_per_second() / (1e6 * mhz) / static_cast<double>(row.sms)
                                              : 0);
    }
    return median(values);
  }

  void limit_by_pins(Estimate& estimate, SampleList& samples) const {
    if (m_theoretical <= 0) return;
    samples.emplace_back("theoretical_bytes_per_second", m_theoretical);
    if (!estimate.ok()) return;
    estimate = limited_by_pins(std::move(estimate), m_theoretical);
    if (estimate.ok()) samples.emplace_back("of_theoretical", estimate.value / m_theoretical);
  }

  static void limit_by_sm(const StreamKind& kind, double per_sm, Estimate& estimate, SampleList& samples) {
    samples.emplace_back("of_128_bytes_per_cycle", per_sm / k_own_bytes_per_cycle);
    if (!estimate.ok() || per_sm <= k_slack * k_own_bytes_per_cycle) return;
    // Of noise alone it is not said to be broken.
    const double low = per_sm * estimate.interval.low / estimate.value;
    estimate = {low > k_slack * k_own_bytes_per_cycle ? Outcome::failed : Outcome::inconclusive,
                0,
                {},
                fmt::format("{:.1f} bytes a cycle of each SM are more than the 128 that its {} has", per_sm,
                            kind.level == "l1" ? "L1" : "shared memory")};
  }

  void hold_against_l2(Estimate& estimate) const {
    if (!estimate.ok()) return;
    double past = 0;
    for (const auto& row : m_rows)
      if (row.level == k_past_l1.level) past = std::max(past, row.bytes_per_second());
    if (past > 0 && estimate.value < k_more_than_past * past)
      estimate =
          inconclusive(fmt::format("{:.1f} GB/s, and past L1 {:.1f} GB/s: what was read did not stay in L1, or "
                                   "L1 is no faster",
                                   estimate.value / 1e9, past / 1e9));
  }

  /// A clock that was held down makes a figure lower, which is said; SMs that were not all there make it meaningless.
  void compare_clocks(const StreamKind& kind, double sm_mhz, Estimate& estimate, SampleList& samples) const {
    std::string note;
    const auto add = [&note](const std::string& text) { note += (note.empty() ? "" : "; ") + text; };
    if (m_sm_mhz > 0 && sm_mhz < k_clock_unclear * m_sm_mhz && estimate.ok())
      estimate =
          inconclusive(fmt::format("the SMs ran {:.0f} of {:.0f} MHz over the time it took: they did not all "
                                   "run at once, or were held down",
                                   sm_mhz, m_sm_mhz));
    else if (m_sm_mhz > 0 && sm_mhz < k_clock_held * m_sm_mhz)
      add(fmt::format("SM clock {:.0f} MHz, {:.0f} at the beginning", sm_mhz, m_sm_mhz));
    if (!m_state.throttle_reasons.empty()) add("clocks held down by: " + m_state.throttle_reasons);
    if (kind.level == "dram" && m_state.ecc == "on") add("ECC on");
    if (!note.empty()) samples.emplace_back("note", note);
  }

  const AnalysisInput& m_input;
  State m_state;
  std::vector<StreamRow> m_rows;
  double m_theoretical = 0;
  double m_sm_mhz = 0;  ///< 0: not known
};

}  // namespace

Estimate limited_by_pins(Estimate estimate, double bytes_per_second) {
  if (!estimate.ok() || !(bytes_per_second > 0) || estimate.interval.high <= bytes_per_second) return estimate;
  if (estimate.value > k_slack * bytes_per_second) {
    const auto reason = fmt::format("{:.1f} GB/s is more than the {:.1f} GB/s that memory's pins carry",
                                    estimate.value / 1e9, bytes_per_second / 1e9);
    return {estimate.interval.low > bytes_per_second ? Outcome::failed : Outcome::inconclusive, 0, {}, reason};
  }
  estimate.value = std::min(estimate.value, bytes_per_second);
  estimate.interval = {std::min(estimate.interval.low, estimate.value), bytes_per_second};
  return estimate;
}

Analysis analyze_bandwidth(const AnalysisInput& input) { return BandwidthAnalysis(input).run(); }

}  // namespace gpusonde
