// Levels, their latencies in cycles and nanoseconds, and how sure they are, from the stored tables.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "core/units.hpp"
#include "inference/statistics.hpp"
#include "probe/findings.hpp"
#include "probe/hierarchy.hpp"
#include "probe/latency_probe.hpp"
#include "probe/probes.hpp"

namespace gpusonde {
namespace {

constexpr double k_allowed_disagreement = 0.02;  // sweep against serially warmed reference
constexpr double k_bias_fraction = 0.0025;       // what warm-up and sampling of lines may shift a plateau by
constexpr double k_bias_cycles = 0.15;
constexpr double k_translation_to_come = 0.2;  // of the translation cost seen
constexpr double k_hops_a_turn = 64;           // of the timed loop: its branch is paid once in so many
constexpr double k_widest_overhead_cycles = 1.5;
constexpr double k_widest_reference = 0.03;  // scatter of a single size that still counts

struct LevelName {
  const char* name;
  const char* id;
};
constexpr LevelName k_levels[] = {
    {"l1", "l1.hit_latency"}, {"l2", "l2.hit_latency"}, {"l2.far", "l2.far_latency"}, {"dram", "dram.latency"}};

std::optional<CurvePoint> reference_point(const Measurements& measurements, const std::string& policy,
                                          const std::string& chain, std::uint64_t bytes) {
  const auto* table = measurements.find("latency.reference");
  if (table == nullptr) return {};
  for (const auto& point : read_curve(*table, {policy, chain}))
    if (static_cast<std::uint64_t>(point.size_bytes) == bytes) return point;
  return {};
}

std::optional<double> control_cycles(const Measurements& measurements, const CurveKey& key, const std::string& kind,
                                     double from, double to) {
  const auto* table = measurements.find("latency.control");
  if (table == nullptr) return {};
  const auto* policy = table->column<std::string>("policy");
  const auto* chain = table->column<std::string>("chain");
  const auto* control = table->column<std::string>("control");
  const auto* size = table->column<std::uint64_t>("size_bytes");
  const auto* cycles = table->column<double>("latency_cycles");
  if (!policy || !chain || !control || !size || !cycles) return {};
  std::optional<double> found;
  for (std::size_t row = 0; row < table->rows(); ++row)
    if ((*policy)[row] == key.policy && (*chain)[row] == key.chain && (*control)[row] == kind &&
        static_cast<double>((*size)[row]) >= from && static_cast<double>((*size)[row]) <= to)
      found = (*cycles)[row];
  return found;
}

Estimate level_estimate(const Level& level) {
  const double bias = std::max(k_bias_cycles, k_bias_fraction * level.plateau.latency);
  return {
      Outcome::ok, level.plateau.latency, {level.plateau.interval.low - bias, level.plateau.interval.high + bias}, {}};
}

// Memory over the largest working sets measured, where nearly every first-level translation misses: the
// last octave of the level. A part of what translation costs there may still be to come.
Estimate memory_estimate(const Measurements& measurements, const Hierarchy& hierarchy, const Level& level) {
  std::vector<double> latencies;
  for (const auto& point : hierarchy.curve)
    if (point.size_bytes >= level.first_bytes && 2.01 * point.size_bytes >= level.last_bytes)
      latencies.push_back(point.latency);
  if (latencies.size() < 3) return level_estimate(level);
  const double value = median(latencies);
  const auto interval = median_interval(latencies);
  const double bias = std::max(k_bias_cycles, k_bias_fraction * value) +
                      1.5 * mad_sigma(latencies) / std::sqrt(static_cast<double>(latencies.size()));
  const auto grouped = control_cycles(measurements, hierarchy.key, "page_grouped", level.first_bytes, level.last_bytes);
  const double to_come = grouped ? k_translation_to_come * std::max(0.0, value - *grouped) : 0;
  return {Outcome::ok, value, {interval.low - bias, interval.high + bias + to_come}, {}};
}

class LatencyAnalysis {
 public:
  explicit LatencyAnalysis(const AnalysisInput& input)
      : m_input(input),
        m_all(infer_hierarchies(input.measurements, input.device)),
        m_clock(sm_clock_estimate(input.measurements)) {
    for (const auto& [key, value] : input.options.values)
      if (key == "subtract-overhead" && value == "true")
        m_overhead = loop_overhead_cycles(input.measurements).value_or(0) / k_hops_a_turn;
  }

  Analysis run() {
    for (const std::string chain : {"pointer", "index"})
      for (const auto& level : k_levels) add_level(level, chain);
    add_index_overhead();
    m_analysis.derived.emplace_back("derived.latency.levels", levels_table());
    return std::move(m_analysis);
  }

 private:
  const Hierarchy* view(const std::string& level, const std::string& chain) const {
    return level == "l1" ? first_level_view(m_all, chain) : deep_view(m_all, chain);
  }

  // Cycles, with its twin in nanoseconds.
  void add(const std::string& id, Estimate estimate, SampleList samples, const std::string& evidence) {
    if (estimate.ok() && m_overhead != 0) {
      estimate.value -= m_overhead;
      estimate.interval = {estimate.interval.low - m_overhead, estimate.interval.high - m_overhead};
      samples.emplace_back("overhead_subtracted_cycles", m_overhead);
    }
    m_analysis.findings.push_back(make_finding(id, "cycles", estimate, evidence, samples));
    auto ns = estimate;
    if (estimate.ok() && !m_clock.ok()) ns = {m_clock.outcome, 0, {}, m_clock.reason};
    if (ns.ok()) {
      ns.value = cycles_to_ns(estimate.value, m_clock.value);
      ns.interval = {cycles_to_ns(estimate.interval.low, m_clock.interval.high),
                     cycles_to_ns(estimate.interval.high, m_clock.interval.low)};
    }
    m_analysis.findings.push_back(make_finding(id + "_ns", "ns", ns, evidence));
  }

  void add_level(const LevelName& level, const std::string& chain) {
    const std::string id = level.id + std::string(chain == "index" ? "_index" : "");
    const auto* hierarchy = view(level.name, chain);
    if (hierarchy == nullptr) {
      add_from_reference(level, id, chain);
      return;
    }
    const auto* found = hierarchy->level(level.name);
    if (found == nullptr) {
      const auto [outcome, reason] = why_absent(*hierarchy, level.name);
      add(id, {outcome, 0, {}, reason}, {}, "#/measurements/latency.curve");
      return;
    }
    const bool memory = std::string_view(level.name) == "dram";
    auto estimate = level_estimate(*found);
    const double plateau_cycles = estimate.value;
    if (memory) estimate = memory_estimate(m_input.measurements, *hierarchy, *found);
    SampleList samples{{"policy", hierarchy->key.policy},
                       {"points", static_cast<double>(found->plateau.last - found->plateau.first + 1)},
                       {"from_bytes", found->first_bytes},
                       {"to_bytes", found->last_bytes}};
    const auto bytes = representative_bytes(*hierarchy, *found);
    if (const auto serial = reference_point(m_input.measurements, hierarchy->key.policy, chain, bytes)) {
      samples.emplace_back("serial_reference_cycles", serial->latency);
      const double allowed = std::max(k_allowed_disagreement * plateau_cycles + 1, (serial->high - serial->low) / 2);
      if (std::abs(serial->latency - plateau_cycles) > allowed)
        estimate = inconclusive(fmt::format("the sweep reads {:.1f} cycles, a serially warmed chain of {} reads {:.1f}",
                                            plateau_cycles, format_bytes(bytes), serial->latency));
    }
    const double width = found->plateau.interval.high - found->plateau.interval.low;
    if (estimate.ok() && width > k_widest_level * plateau_cycles)
      estimate =
          inconclusive(fmt::format("its points scatter over {:.1f} cycles around {:.1f}", width, plateau_cycles));
    if (memory) name_translation_state(*hierarchy, *found, samples);
    add(id, estimate, std::move(samples), "#/measurements/latency.curve");
  }

  // The other chain at one size, where no whole curve of it was asked for.
  void add_from_reference(const LevelName& level, const std::string& id, const std::string& chain) {
    const std::string other = chain == "index" ? "pointer" : "index";
    const auto* hierarchy = view(level.name, other);
    const auto* found = hierarchy == nullptr ? nullptr : hierarchy->level(level.name);
    if (found == nullptr) return;  // nothing was asked for, and nothing can be said
    const auto bytes = representative_bytes(*hierarchy, *found);
    const auto point = reference_point(m_input.measurements, hierarchy->key.policy, chain, bytes);
    const auto same = reference_point(m_input.measurements, hierarchy->key.policy, other, bytes);
    if (!point || !same) return;
    // What the chain adds at this level, on top of the level as the whole curve gives it.
    auto estimate = std::string_view(level.name) == "dram" ? memory_estimate(m_input.measurements, *hierarchy, *found)
                                                           : level_estimate(*found);
    const double added = point->latency - same->latency;
    const double scatter = (point->high - point->low) / 2 + (same->high - same->low) / 2;
    estimate.value += added;
    estimate.interval = {estimate.interval.low + added - scatter, estimate.interval.high + added + scatter};
    if (scatter > k_widest_reference * estimate.value)
      estimate = inconclusive(
          fmt::format("one size only was measured with this chain, and it scatters by {:.1f} cycles", scatter));
    add(id, estimate, {{"policy", hierarchy->key.policy}, {"size_bytes", static_cast<double>(bytes)}},
        "#/measurements/latency.reference");
  }

  std::pair<Outcome, std::string> why_absent(const Hierarchy& hierarchy, const std::string& level) const {
    if (level == "dram")
      return {Outcome::inconclusive, hierarchy.reaches_memory ? "no level could be named" : hierarchy.why_not_memory};
    const bool unsettled = std::any_of(hierarchy.steps.begin(), hierarchy.steps.end(),
                                       [](const Step& step) { return step.cause == StepCause::unattributed; });
    if (unsettled) return {Outcome::inconclusive, "a step of the curve could not be attributed to a level"};
    if (level == "l1" && !hierarchy.levels.empty())
      return {Outcome::inconclusive, "no level was found that only loads with .ca see; measure both --policy ca,cg"};
    if (hierarchy.levels.empty()) return {Outcome::inconclusive, "no plateau was found on the curve"};
    const bool unnamed =
        std::any_of(hierarchy.levels.begin(), hierarchy.levels.end(), [](const Level& l) { return l.name.empty(); });
    if (unnamed) return {Outcome::inconclusive, "more than two levels lie between L1 and memory"};
    if (!hierarchy.reaches_memory) return {Outcome::inconclusive, hierarchy.why_not_memory};
    const auto* recency = m_input.measurements.find("capacity.recency");
    if (level == "l2.far" && recency != nullptr && hidden_level_share(*recency) > k_hidden_level_share)
      return {Outcome::inconclusive, "no plateau, but loads were seen between the L2's latency and memory's"};
    if (level == "l2.far") return {Outcome::unsupported, "one SM sees one L2 plateau: the L2 has one partition"};
    return {Outcome::inconclusive, "the curve has no such level"};
  }

  void name_translation_state(const Hierarchy& hierarchy, const Level& level, SampleList& samples) const {
    const auto random =
        control_cycles(m_input.measurements, hierarchy.key, "random", level.first_bytes, level.last_bytes);
    const auto grouped =
        control_cycles(m_input.measurements, hierarchy.key, "page_grouped", level.first_bytes, level.last_bytes);
    if (!random || !grouped) {
      samples.emplace_back("tlb_state", "not known: no page-by-page control at this level");
      return;
    }
    samples.emplace_back("page_by_page_cycles", *grouped);
    samples.emplace_back("tlb_state", *random - *grouped > std::max(2.0, 0.005 * *random)
                                          ? "random over many pages: translations and rows miss more than page by page"
                                          : "no cost of translation seen: hit, or hidden");
  }

  void add_index_overhead() {
    const auto* l1 = view("l1", "pointer");
    const std::string measured = l1 != nullptr ? "pointer" : "index";
    if (l1 == nullptr) l1 = view("l1", "index");
    const auto* level = l1 == nullptr || l1->levels.empty() ? nullptr : &l1->levels.front();
    if (level == nullptr) return;
    const auto bytes = representative_bytes(*l1, *level);
    const auto pointer = reference_point(m_input.measurements, l1->key.policy, "pointer", bytes);
    const auto index = reference_point(m_input.measurements, l1->key.policy, "index", bytes);
    Estimate estimate = {Outcome::skipped, 0, {}, "both chains were not measured at one size"};
    if (pointer && index) {
      const double value = index->latency - pointer->latency;
      const double noise = 0.1 + (pointer->high - pointer->low) / 2 + (index->high - index->low) / 2;
      estimate = {Outcome::ok, value, {value - noise, value + noise}, {}};
      if (noise > k_widest_overhead_cycles)
        estimate = inconclusive(fmt::format("the two chains scatter by {:.1f} cycles", noise));
    }
    m_analysis.findings.push_back(make_finding("chain.index_overhead", "cycles", estimate,
                                               "#/measurements/latency.reference",
                                               {{"size_bytes", static_cast<double>(bytes)}}));
  }

  Table levels_table() const {
    Table table;
    const double nan = std::numeric_limits<double>::quiet_NaN();
    const auto row = [&](const CurveKey& key, const char* kind, const std::string& name, double cycles,
                         Interval interval, double first, double last, const std::string& note) {
      table.make<std::string>("policy").push_back(key.policy);
      table.make<std::string>("chain").push_back(key.chain);
      table.make<std::string>("kind").emplace_back(kind);
      table.make<std::string>("name").push_back(name);
      table.make<double>("latency_cycles").push_back(cycles);
      table.make<double>("low_cycles").push_back(interval.low);
      table.make<double>("high_cycles").push_back(interval.high);
      table.make<double>("latency_ns").push_back(m_clock.ok() ? cycles_to_ns(cycles, m_clock.value) : nan);
      table.make<std::uint64_t>("first_bytes").push_back(static_cast<std::uint64_t>(first));
      table.make<std::uint64_t>("last_bytes").push_back(static_cast<std::uint64_t>(last));
      table.make<std::string>("note").push_back(note);
    };
    for (const auto& h : m_all) {
      for (const auto& level : h.levels)
        row(h.key, "level", level.name, level.plateau.latency, level.plateau.interval, level.first_bytes,
            h.curve[level.plateau.last].size_bytes, {});
      for (const auto& step : h.steps) {
        const char* cause = step.cause == StepCause::translation ? "translation: " : "";
        row(h.key, "step", {}, step.rise_cycles, {step.rise_cycles, step.rise_cycles}, step.from_bytes, step.to_bytes,
            cause + step.note);
      }
    }
    return table;
  }

  const AnalysisInput& m_input;
  std::vector<Hierarchy> m_all;
  Estimate m_clock;
  double m_overhead = 0;
  Analysis m_analysis;
};

}  // namespace

Analysis analyze_latency(const AnalysisInput& input) { return LatencyAnalysis(input).run(); }

}  // namespace gpusonde
