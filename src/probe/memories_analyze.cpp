#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <optional>
#include <set>

#include "core/units.hpp"
#include "inference/constant_levels.hpp"
#include "inference/operation_times.hpp"
#include "inference/statistics.hpp"
#include "probe/findings.hpp"
#include "probe/memories_probe.hpp"
#include "probe/probes.hpp"

namespace gpusonde {
namespace {

constexpr const char* k_chase = "#/measurements/memories.chase";
constexpr const char* k_sharing = "#/measurements/memories.sharing";
constexpr const char* k_cluster = "#/measurements/memories.cluster";
constexpr double k_bias_cycles = 0.15;
constexpr double k_bias_fraction = 0.0025;
constexpr double k_widest = 0.06;       // of a latency: repetitions that agree
constexpr double k_same = 0.02;         // two sizes that both stay
constexpr double k_disturbed = 0.05;    // of the ring's loads, at least
constexpr double k_undisturbed = 0.02;  // at most
constexpr double k_ring_stays = 1.1;    // of the time of a hit
constexpr int k_least_repetitions = 3;
constexpr double k_launches_agree = 0.05;
constexpr double k_sigmas = 3;  // of a mean over few pairs

double bias(double cycles) { return std::max(k_bias_cycles, k_bias_fraction * cycles); }

/// Loads of the ring that other loads pushed out of L1, as a share of them all: least and most over the repetitions
/// that began with the ring in L1.
struct Disturbance {
  double low = 1;
  double high = 0;
  double before_cycles = 0;  ///< most a load before
  std::uint64_t other_bytes = 0;
  int repetitions = 0;

  [[nodiscard]] bool enough() const { return repetitions >= k_least_repetitions; }
  [[nodiscard]] bool yes() const { return enough() && low >= k_disturbed; }
  [[nodiscard]] bool no() const { return enough() && high <= k_undisturbed; }
};

class MemoriesAnalysis {
 public:
  explicit MemoriesAnalysis(const AnalysisInput& input)
      : m_input(input), m_measurements(input.measurements), m_clock(sm_clock_estimate(input.measurements)) {}

  Analysis run() {
    constants();
    verdict("constant", "constant");
    small("texture", "texture");
    verdict("texture", "texture");
    small("readonly", "read_only");
    verdict("readonly", "read_only");
    small("shared", "shared");
    shared_verdict();
    clusters();
    return std::move(m_analysis);
  }

 private:
  void add(Finding finding) { m_analysis.findings.push_back(std::move(finding)); }
  void add_latency(const std::string& id, const Estimate& estimate, const char* evidence,
                   const SampleList& samples = {}) {
    add(make_finding(id, "cycles", estimate, evidence, samples));
    add(make_finding(id + "_ns", "ns", in_ns(estimate, m_clock), evidence, samples));
  }

  /// Why there is nothing to infer from.
  [[nodiscard]] Estimate absent(std::string_view what) const {
    if (const auto* table = m_measurements.find("memories.missing")) {
      const auto* names = table->column<std::string>("what");
      const auto* reasons = table->column<std::string>("reason");
      if (names != nullptr && reasons != nullptr)
        for (std::size_t row = 0; row < std::min(names->size(), reasons->size()); ++row)
          if ((*names)[row] == what) return {Outcome::unsupported, 0, {}, (*reasons)[row]};
    }
    return {Outcome::skipped, 0, {}, "not measured"};
  }

  void constants() {
    std::vector<StrideCurve> curves;
    for (const auto stride : memory_strides(m_measurements, "constant"))
      curves.push_back({stride, memory_curve(m_measurements, "constant", stride)});
    const double l2 = reference_cycles(m_measurements, "l2");
    std::vector<ConstantLevel> levels;
    if (l2 > 0) levels = constant_levels(curves, l2);
    if (levels.empty()) {
      const auto reason = curves.empty() ? absent("constant") : inconclusive("no level of constants was told from L2");
      add_latency("constant.1.hit_latency", reason, k_chase);
      add(make_finding("constant.1.capacity", "bytes", reason, k_chase));
    }
    for (std::size_t i = 0; i < levels.size(); ++i) {
      const auto& level = levels[i];
      add_latency(fmt::format("constant.{}.hit_latency", i + 1), level.latency, k_chase);
      SampleList samples;
      if (level.stride_bytes != 0) samples.emplace_back("stride_bytes", static_cast<double>(level.stride_bytes));
      add(make_finding(fmt::format("constant.{}.capacity", i + 1), "bytes", level.capacity, k_chase, samples));
    }
  }

  /// A latency from two rings that both stay.
  [[nodiscard]] Estimate small_latency(std::string_view kind) const {
    const auto readings = [&](std::uint64_t bytes) { return m_readings.at({std::string(kind), bytes}); };
    for (const auto bytes : k_small_bytes)
      if (!m_readings.contains({std::string(kind), bytes})) return absent(kind);
    const auto first = readings(k_small_bytes[0]);
    const auto second = readings(k_small_bytes[1]);
    const double value = median(first);
    const auto interval = sure_median_interval(first);
    const double width = (interval.high - interval.low) / value;
    if (width > k_widest) return inconclusive(fmt::format("repetitions differ by {:.0f} %", 100 * width));
    if (std::abs(median(second) - value) > std::max(k_same * value, interval.high - interval.low))
      return inconclusive(fmt::format("rings of {} and {} differ: {:.1f} and {:.1f} cycles",
                                      format_bytes(k_small_bytes[0]), format_bytes(k_small_bytes[1]), value,
                                      median(second)));
    return {Outcome::ok, value, {interval.low - bias(value), interval.high + bias(value)}, {}};
  }

  void small(const std::string& id, std::string_view kind) {
    if (m_readings.empty()) read_chases();
    add_latency(id + ".hit_latency", small_latency(kind), "#/measurements/memories.hits");
  }

  void read_chases() {
    const auto* table = m_measurements.find("memories.hits");
    if (table == nullptr) return;
    const auto* kinds = table->column<std::string>("kind");
    const auto* bytes = table->column<std::uint64_t>("bytes");
    const auto* cycles = table->column<double>("cycles_per_access");
    if (!kinds || !bytes || !cycles) return;
    for (std::size_t row = 0; row < table->rows(); ++row)
      m_readings[{(*kinds)[row], (*bytes)[row]}].push_back((*cycles)[row]);
  }

  /// Disturbances by memory and number of other bytes.
  [[nodiscard]] std::map<std::string, std::vector<Disturbance>> disturbances() const {
    std::map<std::string, std::vector<Disturbance>> found;
    const auto* table = m_measurements.find("memories.sharing");
    const double step = reference_cycles(m_measurements, "l2") - reference_cycles(m_measurements, "l1");
    if (table == nullptr || !(step > 0)) return found;
    const auto* kinds = table->column<std::string>("kind");
    const auto* others = table->column<std::uint64_t>("other_bytes");
    const auto* hops = table->column<std::uint64_t>("hops");
    const auto* before = table->column<std::uint64_t>("before_cycles");
    const auto* after = table->column<std::uint64_t>("after_cycles");
    if (!kinds || !others || !hops || !before || !after) return found;
    for (std::size_t row = 0; row < table->rows(); ++row) {
      if ((*hops)[row] == 0) continue;
      auto& of_kind = found[(*kinds)[row]];
      if (of_kind.empty() || of_kind.back().other_bytes != (*others)[row]) {
        of_kind.emplace_back();
        of_kind.back().other_bytes = (*others)[row];
      }
      auto& each = of_kind.back();
      const auto count = static_cast<double>((*hops)[row]);
      const double first = static_cast<double>((*before)[row]) / count;
      const double share = (static_cast<double>((*after)[row]) / count - first) / step;
      each.before_cycles = std::max(each.before_cycles, first);
      if (first > k_ring_stays * reference_cycles(m_measurements, "l1")) continue;
      each.low = std::min(each.low, share);
      each.high = std::max(each.high, share);
      ++each.repetitions;
    }
    return found;
  }

  void verdict(const std::string& id, const std::string& kind) {
    Finding finding;
    finding.id = id + ".shares_l1";
    finding.unit = "name";
    finding.evidence = k_sharing;
    const auto all = disturbances();
    const auto mine = all.find(kind);
    if (mine == all.end()) {
      const auto reason = absent(kind);
      finding.outcome = reason.outcome;
      finding.reason = reason.reason;
      return add(std::move(finding));
    }
    const auto& asked = mine->second.back();
    finding.samples = {{"other_bytes", static_cast<double>(asked.other_bytes)},
                       {"repetitions", static_cast<double>(asked.repetitions)}};
    if (asked.enough()) {
      finding.samples.emplace_back("least_disturbed_fraction", asked.low);
      finding.samples.emplace_back("most_disturbed_fraction", asked.high);
    }
    const auto value = sharing_value(asked, all, kind);
    finding.outcome = value.first.empty() ? Outcome::inconclusive : Outcome::ok;
    if (value.first.empty())
      finding.reason = value.second;
    else
      finding.value = value.first;
    add(std::move(finding));
  }

  /// The verdict, or empty and why. That nothing was disturbed says no only where as many bytes, or fewer, loaded
  /// through another memory did disturb the same ring.
  [[nodiscard]] std::pair<std::string, std::string> sharing_value(
      const Disturbance& asked, const std::map<std::string, std::vector<Disturbance>>& all,
      const std::string& kind) const {
    if (!asked.enough())
      return {"", fmt::format("the ring did not stay in L1: {:.1f} cycles a load before", asked.before_cycles)};
    if (asked.yes()) return {"yes", ""};
    if (!asked.no())
      return {"", fmt::format("between {:.0f} and {:.0f} % of the ring left L1: neither none nor much",
                              100 * std::max(0.0, asked.low), 100 * std::max(0.0, asked.high))};
    for (const auto& [other, list] : all)
      if (other != kind)
        for (const auto& control : list)
          if (control.yes() && control.other_bytes <= asked.other_bytes) return {"no", ""};
    return {"", "its loads leave L1 alone, but so do those that were to show that any could be seen"};
  }

  /// Shared memory and L1 share when one grows as the other shrinks, over the storage splits.
  void shared_verdict() {
    Finding finding;
    finding.id = "shared.shares_l1";
    finding.unit = "name";
    finding.evidence = "#/measurements/capacity.probe";
    finding.outcome = Outcome::skipped;
    finding.reason = "L1's capacity was not measured at two storage splits with a known shared part";
    std::map<std::uint64_t, double> l1_by_shared;
    for (const auto& [name, table] : capacity_probe().analyze(m_input).derived) {
      if (name != "derived.l1.capacity") continue;
      const auto* shared = table.column<std::uint64_t>("shared_config_bytes");
      const auto* capacity = table.column<double>("capacity_bytes");
      for (std::size_t row = 0; shared != nullptr && capacity != nullptr && row < shared->size(); ++row)
        if ((*shared)[row] != 0 && std::isfinite((*capacity)[row])) l1_by_shared[(*shared)[row]] = (*capacity)[row];
    }
    if (l1_by_shared.size() >= 2) {
      const auto& [least_shared, most_l1] = *l1_by_shared.begin();
      const auto& [most_shared, least_l1] = *l1_by_shared.rbegin();
      const double share = (most_l1 - least_l1) / static_cast<double>(most_shared - least_shared);
      finding.samples = {{"shared_grows_bytes", static_cast<double>(most_shared - least_shared)},
                         {"l1_shrinks_bytes", most_l1 - least_l1}};
      finding.outcome = Outcome::ok;
      finding.reason.clear();
      if (share > 0.75 && share < 1.25) {
        finding.value = std::string("yes");
      } else if (std::abs(share) < 0.02) {
        finding.value = std::string("no");
      } else {
        finding.outcome = Outcome::inconclusive;
        finding.reason =
            fmt::format("L1 loses {:.0f} % of what shared memory gains: neither all nor nothing", 100 * share);
      }
    }
    add(std::move(finding));
  }

  void clusters() {
    const auto* table = m_measurements.find("memories.cluster");
    if (table == nullptr || table->rows() == 0) {
      add_latency("dsmem.latency", absent("cluster"), k_cluster);
      return add_latency("dsmem.self_latency", absent("cluster"), k_cluster);
    }
    const auto* from = table->column<std::uint64_t>("from_sm");
    const auto* to = table->column<std::uint64_t>("to_sm");
    const auto* cycles = table->column<double>("cycles_per_access");
    if (!from || !to || !cycles) return;
    std::map<std::pair<std::uint64_t, std::uint64_t>, std::vector<double>> pairs;
    std::vector<double> own;
    for (std::size_t row = 0; row < table->rows(); ++row)
      if ((*from)[row] == (*to)[row])
        own.push_back((*cycles)[row]);
      else
        pairs[std::minmax((*from)[row], (*to)[row])].push_back((*cycles)[row]);
    add_remote(pairs);
    add_latency("dsmem.self_latency", own_latency(own), k_cluster);
  }

  void add_remote(const std::map<std::pair<std::uint64_t, std::uint64_t>, std::vector<double>>& pairs) {
    std::vector<double> means;
    double worst = 0;
    for (const auto& [sms, values] : pairs) {
      double sum = 0;
      for (const double value : values) sum += value;
      means.push_back(sum / static_cast<double>(values.size()));
      const auto [low, high] = std::minmax_element(values.begin(), values.end());
      worst = std::max(worst, (*high - *low) / means.back());
    }
    if (means.size() < 3) return add_latency("dsmem.latency", inconclusive("fewer than three pairs of SMs"), k_cluster);
    double mean = 0;
    for (const double value : means) mean += value / static_cast<double>(means.size());
    double squares = 0;
    for (const double value : means) squares += (value - mean) * (value - mean);
    const auto count = static_cast<double>(means.size());
    const double error = k_sigmas * std::sqrt(squares / (count - 1) / count) + bias(mean);
    const auto [low, high] = std::minmax_element(means.begin(), means.end());
    Estimate estimate{Outcome::ok, mean, {mean - error, mean + error}, {}};
    if (worst > k_launches_agree)
      estimate = inconclusive(fmt::format("readings of one pair of SMs differ by {:.0f} %", 100 * worst));
    add_latency("dsmem.latency", estimate, k_cluster,
                {{"pairs", count}, {"fastest_cycles", *low}, {"slowest_cycles", *high}});
  }

  [[nodiscard]] static Estimate own_latency(const std::vector<double>& own) {
    if (own.size() < 6) return inconclusive("fewer than six readings");
    const double value = median(own);
    const auto interval = sure_median_interval(own);
    if (interval.high - interval.low > k_widest * value)
      return inconclusive(fmt::format("readings differ by {:.0f} %", 100 * (interval.high - interval.low) / value));
    return {Outcome::ok, value, {interval.low - bias(value), interval.high + bias(value)}, {}};
  }

  const AnalysisInput& m_input;
  const Measurements& m_measurements;
  Estimate m_clock;
  std::map<std::pair<std::string, std::uint64_t>, std::vector<double>> m_readings;  ///< by memory and ring's size
  Analysis m_analysis;
};

}  // namespace

std::vector<std::uint64_t> memory_strides(const Measurements& measurements, std::string_view kind) {
  std::set<std::uint64_t> strides;
  const auto* table = measurements.find("memories.chase");
  const auto* kinds = table == nullptr ? nullptr : table->column<std::string>("kind");
  const auto* all = table == nullptr ? nullptr : table->column<std::uint64_t>("stride_bytes");
  if (kinds == nullptr || all == nullptr) return {};
  for (std::size_t row = 0; row < std::min(kinds->size(), all->size()); ++row)
    if ((*kinds)[row] == kind) strides.insert((*all)[row]);
  return {strides.begin(), strides.end()};
}

std::vector<CurvePoint> memory_curve(const Measurements& measurements, std::string_view kind,
                                     std::uint64_t stride_bytes) {
  const auto* table = measurements.find("memories.chase");
  if (table == nullptr) return {};
  const auto* kinds = table->column<std::string>("kind");
  const auto* bytes = table->column<std::uint64_t>("bytes");
  const auto* strides = table->column<std::uint64_t>("stride_bytes");
  const auto* cycles = table->column<double>("cycles_per_access");
  const auto* low = table->column<double>("low_cycles");
  const auto* high = table->column<double>("high_cycles");
  if (!kinds || !bytes || !strides || !cycles || !low || !high) return {};
  std::map<std::uint64_t, CurvePoint> by_size;
  for (std::size_t row = 0; row < table->rows(); ++row)
    if ((*kinds)[row] == kind && (*strides)[row] == stride_bytes)
      by_size[(*bytes)[row]] = {static_cast<double>((*bytes)[row]), (*cycles)[row], (*low)[row], (*high)[row]};
  std::vector<CurvePoint> curve;
  for (const auto& [size, point] : by_size) curve.push_back(point);
  return curve;
}

double reference_cycles(const Measurements& measurements, std::string_view level) {
  const auto* table = measurements.find("memories.reference");
  const auto* levels = table == nullptr ? nullptr : table->column<std::string>("level");
  const auto* cycles = table == nullptr ? nullptr : table->column<double>("cycles");
  if (levels == nullptr || cycles == nullptr) return 0;
  for (std::size_t row = 0; row < std::min(levels->size(), cycles->size()); ++row)
    if ((*levels)[row] == level) return (*cycles)[row];
  return 0;
}

Analysis analyze_memories(const AnalysisInput& input) { return MemoriesAnalysis(input).run(); }

}  // namespace gpusonde
