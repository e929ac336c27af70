#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "probe/coalesce_probe.hpp"
#include "probe/findings.hpp"
#include "probe/probes.hpp"
#include "probe/table_column.hpp"

namespace gpusonde {
namespace {

constexpr std::uint32_t k_usual_line_bytes = 128;
constexpr double k_noise_cycles = 1.5;  // of medians of whole cycles
constexpr double k_most_counter_off = 0.02;

std::string title(const LanePattern& pattern) { return fmt::format("{} B, {}", pattern.width, pattern.name); }

std::string counted(std::uint32_t count, std::string_view noun) {
  return fmt::format("{} {}{}", count, noun, count == 1 ? "" : "s");
}

class CoalesceAnalysis {
 public:
  explicit CoalesceAnalysis(const AnalysisInput& input)
      : m_measurements(input.measurements), m_patterns(patterns_of(input.measurements)) {}

  Analysis run() {
    if (m_patterns.empty()) {
      for (const auto& spec : coalesce_probe().findings())
        if (spec.id != "coalescer.counters")
          add(not_ok(std::string(spec.id), std::string(spec.unit), Outcome::skipped, "not measured"));
      return std::move(m_analysis);
    }
    sizes();
    lists();
    costs();
    if (auto counters = compare_counters()) add(std::move(*counters));
    derived();
    return std::move(m_analysis);
  }

 private:
  void add(Finding finding) { m_analysis.findings.push_back(std::move(finding)); }

  /// A size that another probe found, when it is one that a line or sector can have; else what all of NVIDIA's have
  /// had.
  void sizes() {
    const auto readings = sector_readings();
    for (const auto& [pattern, l1, l2] : m_patterns) {
      if (pattern.name != "same address") continue;
      const auto sector = sector_size(readings, l1, l2);
      if (sector.ok() && sector.value <= k_usual_line_bytes) m_sector_bytes = static_cast<std::uint32_t>(sector.value);
      break;
    }
    if (cycles_of_each(by_lines(k_usual_line_bytes), k_noise_cycles).ok()) return;
    for (const std::uint32_t bytes : {64U, 256U})
      if (cycles_of_each(by_lines(bytes), k_noise_cycles).ok()) m_line_bytes = bytes;
  }

  using LatencyByNumber = std::vector<std::pair<double, double>>;
  [[nodiscard]] LatencyByNumber by_lines(std::uint32_t line_bytes) const {
    LatencyByNumber all;
    for (const auto& [pattern, l1, l2] : m_patterns)
      if (const auto load = coalesce(pattern.lanes, pattern.width, line_bytes); strided(pattern) && load)
        all.emplace_back(load->lines, l1);
    return all;
  }
  [[nodiscard]] static bool strided(const LanePattern& pattern) {
    return pattern.width == 4 && (pattern.name.starts_with("stride ") || pattern.name == "same address");
  }

  [[nodiscard]] std::vector<std::pair<std::uint64_t, double>> sector_readings() const {
    const auto distance = table_column<std::uint64_t>(m_measurements, "coalesce.sector", "distance_bytes");
    const auto cycles = table_column<double>(m_measurements, "coalesce.sector", "latency_cycles");
    std::vector<std::pair<std::uint64_t, double>> readings;
    for (std::size_t i = 0; i < std::min(distance.size(), cycles.size()); ++i)
      readings.emplace_back(distance[i], cycles[i]);
    return readings;
  }

  /// Arithmetic, of the sizes of lines and sectors.
  void lists() {
    const auto asked_for = table_column<std::uint64_t>(m_measurements, "coalesce.latency", "asked_for");
    std::vector<std::string> sectors, lines;
    for (std::size_t i = 0; i < m_patterns.size(); ++i) {
      const auto& pattern = m_patterns[i].pattern;
      // The user's own one is in the table; the finding is the same for all.
      if (i < asked_for.size() && asked_for[i] != 0) continue;
      const auto load = load_of(pattern);
      if (!load) continue;
      sectors.push_back(
          fmt::format("{}: {} in {}", title(pattern), counted(load->sectors, "sector"), counted(load->lines, "line")));
      lines.push_back(fmt::format("{}: {}", title(pattern), counted(load->lines, "line")));
    }
    for (const auto& [id, list] : {std::pair{"coalescer.sectors", &sectors}, std::pair{"coalescer.lines", &lines}}) {
      Finding finding;
      finding.id = id;
      finding.unit = "list";
      finding.outcome = Outcome::ok;
      finding.value = *list;
      finding.samples = {{"by", std::string("arithmetic")},
                         {"line_bytes", static_cast<double>(m_line_bytes)},
                         {"sector_bytes", static_cast<double>(m_sector_bytes)}};
      finding.evidence = "#/measurements/coalesce.latency";
      add(std::move(finding));
    }
  }
  [[nodiscard]] Result<CoalescedLoad> load_of(const LanePattern& pattern) const {
    return coalesce(pattern.lanes, pattern.width, m_line_bytes, m_sector_bytes);
  }

  /// What strides cost each, and whether that is for lines or for reads of the data banks, which lanes at random tell.
  void costs() {
    const auto each = cycles_of_each(by_lines(m_line_bytes), k_noise_cycles);
    auto lines = each;
    auto fronts = each;
    if (each.ok()) {
      const auto [cost, text] = told_by_random_lanes(each.value);
      if (cost != HitCost::lines) lines = inconclusive(text);
      if (cost != HitCost::wavefronts) fronts = inconclusive(text);
    }
    add(make_finding("coalescer.line_cycles", "cycles", lines, "#/measurements/coalesce.latency"));
    add(make_finding("coalescer.wavefront_cycles", "cycles", fronts, "#/measurements/coalesce.latency"));
  }
  [[nodiscard]] std::pair<HitCost, std::string> told_by_random_lanes(double each_cycles) const {
    double one = 0;
    for (const auto& [pattern, l1, l2] : m_patterns) {
      if (pattern.width == 4 && pattern.name == "stride 1") one = l1;
      if (pattern.width != 4 || pattern.name != "random") continue;
      const auto load = load_of(pattern);
      if (!load || one <= 0) break;
      const double by_lines = one + each_cycles * (load->lines - 1);
      const double by_fronts = one + each_cycles * (wavefronts(pattern.lanes, pattern.width) - 1);
      const auto cost = what_hits_pay_for(l1, by_lines, by_fronts);
      const auto what = cost == HitCost::lines        ? "hits pay for lines, not for reads of data banks"
                        : cost == HitCost::wavefronts ? "hits pay for reads of data banks, not for lines"
                                                      : "whether hits pay for lines or for reads of data banks is open";
      return {cost,
              fmt::format("{}: lanes at random take {:.0f} cycles, where lines would make it {:.0f} and reads {:.0f}",
                          what, l1, by_lines, by_fronts)};
    }
    return {HitCost::unclear, "lanes at random were not measured"};
  }

  /// Nothing where counters were not asked for.
  std::optional<Finding> compare_counters() {
    const auto numbers = table_column<std::uint64_t>(m_measurements, "coalesce.counters", "pattern");
    const auto counters = table_column<std::string>(m_measurements, "coalesce.counters", "counter");
    const auto values = table_column<double>(m_measurements, "coalesce.counters", "per_load");
    const auto troubles = table_column<std::string>(m_measurements, "coalesce.counters", "trouble");
    const auto rows = std::min({numbers.size(), counters.size(), values.size(), troubles.size()});
    if (rows == 0) return {};
    constexpr const char* k_evidence = "#/measurements/coalesce.counters";
    std::string seen;
    for (std::size_t i = 0; i < rows; ++i) {
      if (!troubles[i].empty())
        return not_ok("coalescer.counters", "text", Outcome::unsupported, troubles[i], k_evidence);
      if (numbers[i] >= m_patterns.size()) continue;
      const auto& pattern = m_patterns[numbers[i]].pattern;
      const auto load = load_of(pattern);
      if (!load) continue;
      const double expected = counters[i] == "sectors" ? load->sectors : counters[i] == "tags" ? load->lines : 1;
      if (std::abs(values[i] - expected) > k_most_counter_off * expected + 0.02)
        return not_ok("coalescer.counters", "text", Outcome::failed,
                      fmt::format("{}: the counter of {} says {:.2f} a load, arithmetic {}", title(pattern),
                                  counters[i], values[i], expected),
                      k_evidence);
      seen += fmt::format("{}{}: {:.2f} {}", seen.empty() ? "" : "; ", title(pattern), values[i], counters[i]);
    }
    Finding finding;
    finding.id = "coalescer.counters";
    finding.unit = "text";
    finding.outcome = Outcome::ok;
    finding.value = "agree: " + seen;
    finding.evidence = k_evidence;
    return finding;
  }

  void derived() {
    Table table;
    for (const auto& [pattern, l1, l2] : m_patterns) {
      const auto load = load_of(pattern);
      table.make<std::string>("pattern").push_back(pattern.name);
      table.make<std::uint64_t>("width_bytes").push_back(pattern.width);
      table.make<std::uint64_t>("lanes").push_back(pattern.lanes.size());
      table.make<std::uint64_t>("lines").push_back(load ? load->lines : 0);
      table.make<std::uint64_t>("sectors").push_back(load ? load->sectors : 0);
      table.make<std::uint64_t>("wavefronts").push_back(wavefronts(pattern.lanes, pattern.width));
      table.make<double>("l1_cycles").push_back(l1);
      table.make<double>("l2_cycles").push_back(l2);
    }
    m_analysis.derived.emplace_back("derived.coalesce", std::move(table));
  }

  const Measurements& m_measurements;
  std::vector<PatternLatency> m_patterns;
  std::uint32_t m_line_bytes = k_usual_line_bytes;
  std::uint32_t m_sector_bytes = 32;
  Analysis m_analysis;
};

}  // namespace

std::vector<PatternLatency> patterns_of(const Measurements& measurements) {
  const auto names = table_column<std::string>(measurements, "coalesce.latency", "pattern");
  const auto widths = table_column<std::uint64_t>(measurements, "coalesce.latency", "width_bytes");
  const auto l1 = table_column<double>(measurements, "coalesce.latency", "l1_cycles");
  const auto l2 = table_column<double>(measurements, "coalesce.latency", "l2_cycles");
  const auto numbers = table_column<std::uint64_t>(measurements, "coalesce.lanes", "pattern");
  const auto offsets = table_column<std::uint64_t>(measurements, "coalesce.lanes", "offset_bytes");
  std::vector<PatternLatency> patterns;
  for (std::size_t i = 0; i < std::min({names.size(), widths.size(), l1.size(), l2.size()}); ++i)
    patterns.push_back({{names[i], static_cast<std::uint32_t>(widths[i]), {}}, l1[i], l2[i]});
  for (std::size_t i = 0; i < std::min(numbers.size(), offsets.size()); ++i)
    if (numbers[i] < patterns.size()) patterns[numbers[i]].pattern.lanes.push_back(offsets[i]);
  return patterns;
}

Analysis analyze_coalesce(const AnalysisInput& input) { return CoalesceAnalysis(input).run(); }

}  // namespace gpusonde
