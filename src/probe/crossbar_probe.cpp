// How many line requests an SM sends into the crossbar in a cycle, and all SMs together.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>

#include "inference/repetitions.hpp"
#include "inference/statistics.hpp"
#include "probe/findings.hpp"
#include "probe/probes.hpp"

namespace gpusonde {
namespace {

constexpr std::array k_findings{
    FindingSpec{"crossbar.lines_per_cycle", "count", "line requests that one SM is served in a cycle by L2"},
    FindingSpec{"crossbar.all_lines_per_cycle", "count", "line requests that all SMs are served in a cycle by L2"},
};
constexpr std::array<std::string_view, 1> k_tables{"crossbar.throughput"};

constexpr std::uint64_t k_line_bytes = 128;
constexpr std::uint64_t k_lines = 6144;  // consecutive: functions of slices spread them evenly
constexpr std::array<std::uint32_t, 2> k_threads{512, 1024};
constexpr std::uint32_t k_repetitions = 8;
constexpr double k_saturated = 0.03;    // twice the loads under way bring no more than this
constexpr double k_least_of_two = 1.9;  // two SMs by one: each has a way of its own
constexpr double k_resolution = 0.005;

ThroughputExperiment experiment_of(std::uint32_t sms, std::uint32_t threads, std::uint64_t lines) {
  ThroughputExperiment e;
  for (std::uint64_t line = 0; line < lines; ++line) e.places.push_back(line * k_line_bytes);
  e.threads_per_sm = threads;
  e.sms = sms;
  return e;
}

/// One SM, two, and all.
std::vector<std::uint32_t> counts_of_sms(std::uint32_t sm_count) {
  std::vector<std::uint32_t> counts{1, 2, sm_count};
  std::erase_if(counts, [&](std::uint32_t sms) { return sms > sm_count; });
  counts.erase(std::unique(counts.begin(), counts.end()), counts.end());
  return counts;
}

Result<void> measure_crossbar(ProbeContext& context) {
  const auto& capabilities = context.target.capabilities();
  auto lines = std::min(k_lines, capabilities.max_ring_bytes / k_line_bytes);
  if (const auto l2 = context.target.device().nominal.l2_bytes; l2 != 0)
    lines = std::clamp<std::uint64_t>(l2 / 4 / k_line_bytes, 1, lines);
  std::vector<Experiment> experiments;
  std::vector<std::array<std::uint64_t, 3>> settings;
  for (const auto sms : counts_of_sms(context.target.device().sm_count))
    for (const auto threads : k_threads)
      for (std::uint32_t repetition = 0; repetition < k_repetitions; ++repetition) {
        experiments.emplace_back(experiment_of(sms, threads, lines));
        settings.push_back({sms, threads, repetition});
      }
  const auto total = static_cast<double>(experiments.size());
  const auto samples = context.target.run(
      experiments, {context.cancel, [&](std::size_t done) {
                      if (context.progress)
                        context.progress({"crossbar", "lines of L2 at once", static_cast<double>(done) / total});
                    }});
  if (!samples) return tl::unexpected(samples.error());
  auto& table = context.measurements.table("crossbar.throughput");
  for (std::size_t i = 0; i < settings.size(); ++i) {
    const auto& throughput = std::get<ThroughputSamples>((*samples)[i]);
    table.make<std::uint64_t>("sms").push_back(settings[i][0]);
    table.make<std::uint64_t>("threads_per_sm").push_back(settings[i][1]);
    table.make<std::uint64_t>("repetition").push_back(settings[i][2]);
    table.make<std::uint64_t>("lines").push_back(throughput.lines);
    table.make<double>("cycles").push_back(throughput.cycles);
    table.make<double>("lines_per_cycle")
        .push_back(throughput.cycles > 0 ? static_cast<double>(throughput.lines) / throughput.cycles : 0);
  }
  return {};
}

/// Lines a cycle by SMs and threads, all repetitions.
using Rates = std::map<std::uint64_t, std::map<std::uint64_t, std::vector<double>>>;

Rates read_rates(const Table& table) {
  Rates rates;
  const auto* sms = table.column<std::uint64_t>("sms");
  const auto* threads = table.column<std::uint64_t>("threads_per_sm");
  const auto* rate = table.column<double>("lines_per_cycle");
  if (sms == nullptr || threads == nullptr || rate == nullptr) return rates;
  for (std::size_t i = 0; i < table.rows(); ++i) rates[(*sms)[i]][(*threads)[i]].push_back((*rate)[i]);
  return rates;
}

/// With most loads under way, if half of them make no difference.
Estimate saturated(const std::map<std::uint64_t, std::vector<double>>& by_threads) {
  if (by_threads.size() < 2) return inconclusive("only one number of threads was measured");
  const auto few = mean_of_repetitions(by_threads.begin()->second, {.resolution = k_resolution});
  const auto many = mean_of_repetitions(by_threads.rbegin()->second, {.resolution = k_resolution});
  if (!few.ok() || !many.ok()) return few.ok() ? many : few;
  const double more = many.value / few.value - 1;
  if (std::abs(more) > k_saturated)
    return inconclusive(fmt::format(
        "{} threads an SM get {:.1f} % {} than {}: not what limits, but how many loads are "
        "under way",
        by_threads.rbegin()->first, 100 * std::abs(more), more > 0 ? "more" : "less", by_threads.begin()->first));
  return many;
}

Estimate of_one_sm(const Rates& rates) {
  const auto one = rates.find(1);
  if (one == rates.end()) return inconclusive("one SM alone was not measured");
  auto estimate = saturated(one->second);
  if (!estimate.ok()) return estimate;
  const auto two = rates.find(2);
  if (two == rates.end()) return inconclusive("the device has one SM: its way cannot be told from what slices serve");
  const auto both = saturated(two->second);
  if (!both.ok()) return both;
  if (both.value < k_least_of_two * estimate.value)
    return inconclusive(fmt::format("two SMs together get {:.2f} times what one does: what limits is shared",
                                    both.value / estimate.value));
  return estimate;
}

Analysis analyze_crossbar(const AnalysisInput& input) {
  constexpr const char* evidence = "#/measurements/crossbar.throughput";
  Analysis analysis;
  const auto* table = input.measurements.find("crossbar.throughput");
  const auto rates = table == nullptr ? Rates{} : read_rates(*table);
  if (rates.empty()) {
    for (const auto& spec : k_findings)
      analysis.findings.push_back(
          not_ok(std::string(spec.id), std::string(spec.unit), Outcome::skipped, "not measured"));
    return analysis;
  }
  const auto samples = [&rates](std::uint64_t sms) {
    SampleList list{{"sms", static_cast<double>(sms)}, {"repetitions", 0.0}};
    if (const auto of = rates.find(sms); of != rates.end()) {
      list.back().second = static_cast<double>(of->second.rbegin()->second.size());
      for (const auto& [threads, values] : of->second)
        list.emplace_back(fmt::format("with_{}_threads", threads), median(values));
    }
    return list;
  };
  analysis.findings.push_back(
      make_finding("crossbar.lines_per_cycle", "count", of_one_sm(rates), evidence, samples(1)));
  analysis.findings.push_back(make_finding("crossbar.all_lines_per_cycle", "count", saturated(rates.rbegin()->second),
                                           evidence, samples(rates.rbegin()->first)));
  return analysis;
}

class CrossbarProbe final : public Probe {
 public:
  [[nodiscard]] std::string_view name() const noexcept override { return "crossbar"; }
  [[nodiscard]] std::string_view summary() const noexcept override {
    return "line requests that one SM, and all, are served in a cycle";
  }
  [[nodiscard]] std::span<const FindingSpec> findings() const noexcept override { return k_findings; }
  [[nodiscard]] std::span<const std::string_view> tables() const noexcept override { return k_tables; }
  [[nodiscard]] Result<void> measure(ProbeContext& context) const override { return measure_crossbar(context); }
  [[nodiscard]] Analysis analyze(const AnalysisInput& input) const override { return analyze_crossbar(input); }
};

}  // namespace

const Probe& crossbar_probe() {
  static const CrossbarProbe probe;
  return probe;
}

}  // namespace gpusonde
