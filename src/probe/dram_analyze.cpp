#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>

#include "inference/dram_costs.hpp"
#include "inference/dram_translation.hpp"
#include "inference/statistics.hpp"
#include "probe/dram_probe.hpp"
#include "probe/findings.hpp"
#include "probe/probes.hpp"

namespace gpusonde {
namespace {

constexpr const char* k_no_drop =
    "this device cannot drop lines from L2 (compute capability 8.0 has it), so DRAM is not met line by line";
constexpr double k_shortest_interval_ns = 200;
constexpr double k_longest_interval_ns = 50'000;
constexpr double k_most_apart = 0.15;

class DramAnalysis {
 public:
  explicit DramAnalysis(const AnalysisInput& input) : m_input(input), m_clock(sm_clock_estimate(input.measurements)) {}

  Analysis run() {
    if (!measured()) return std::move(m_analysis);
    rows();
    costs();
    banks();
    refresh();
    latency();
    return std::move(m_analysis);
  }

 private:
  void add(Finding finding) { m_analysis.findings.push_back(std::move(finding)); }
  void add(const char* id, const char* unit, const Estimate& estimate, const char* table, SampleList samples = {}) {
    add(make_finding(id, unit, estimate, fmt::format("#/measurements/{}", table), std::move(samples)));
  }

  bool measured() {
    const auto* plan = m_input.measurements.find("dram.plan");
    const auto* drops = plan == nullptr ? nullptr : plan->column<std::uint64_t>("drops_lines");
    if (drops != nullptr && !drops->empty() && drops->front() != 0) return true;
    const bool asked = drops != nullptr && !drops->empty();
    for (const auto& spec : dram_probe().findings())
      add(not_ok(std::string(spec.id), std::string(spec.unit), asked ? Outcome::unsupported : Outcome::skipped,
                 asked ? k_no_drop : "not measured"));
    return false;
  }

  [[nodiscard]] std::vector<double> numbers(const char* table, const char* name) const {
    const auto* found = m_input.measurements.find(table);
    const auto* values = found == nullptr ? nullptr : found->column<double>(name);
    return values == nullptr ? std::vector<double>{} : *values;
  }
  [[nodiscard]] std::vector<std::uint64_t> counts(const char* table, const char* name) const {
    const auto* found = m_input.measurements.find(table);
    const auto* values = found == nullptr ? nullptr : found->column<std::uint64_t>(name);
    return values == nullptr ? std::vector<std::uint64_t>{} : *values;
  }
  [[nodiscard]] std::vector<std::string> texts(const char* table, const char* name) const {
    const auto* found = m_input.measurements.find(table);
    const auto* values = found == nullptr ? nullptr : found->column<std::string>(name);
    return values == nullptr ? std::vector<std::string>{} : *values;
  }

  /// Cycles in nanoseconds, with the error of the clock.
  [[nodiscard]] Estimate in_ns(Estimate cycles) const {
    if (!cycles.ok()) return cycles;
    if (!m_clock.ok()) return m_clock;
    const double ns = cycles.value * 1000 / m_clock.value;
    return {Outcome::ok,
            ns,
            {cycles.interval.low * 1000 / m_clock.interval.high, cycles.interval.high * 1000 / m_clock.interval.low},
            {}};
  }

  void rows() {
    const auto contrast = contrast_of(m_input.measurements);
    SampleList samples;
    Estimate size = contrast;
    if (contrast.ok()) {
      const auto found = rows_of(m_input.measurements);
      const auto page = counts("dram.plan", "page_bytes");
      size = row_size(found, page.empty() ? 0 : page.front(), k_dram_line_bytes);
      std::map<std::size_t, int> by_lines;
      for (const auto& row : found) ++by_lines[row.others.size() + 1];
      std::string text;
      for (const auto& [lines, count] : by_lines)
        text += fmt::format("{}{} of {}", text.empty() ? "" : ", ", count, lines);
      samples = {{"rows_by_lines", text}, {"open_row_less_cycles", contrast.value}};
    }
    add("dram.row_size", "bytes", size, "dram.rows", samples);
  }

  [[nodiscard]] std::vector<CostSeries> series_of(std::string_view kind) const {
    const auto of = texts("dram.costs", "of");
    const auto number = counts("dram.costs", "series");
    const auto count = counts("dram.costs", "count");
    const auto cycles = numbers("dram.costs", "memory_cycles");
    std::map<std::uint64_t, CostSeries> by_number;
    for (std::size_t i = 0; i < std::min({of.size(), number.size(), count.size(), cycles.size()}); ++i)
      if (of[i] == kind) by_number[number[i]].emplace_back(static_cast<double>(count[i]), cycles[i]);
    std::vector<CostSeries> all;
    for (auto& [key, series] : by_number) all.push_back(std::move(series));
    return all;
  }

  void costs() {
    const auto contrast = contrast_of(m_input.measurements);
    const auto give_up = [&](const Estimate& estimate) { return contrast.ok() ? estimate : contrast; };
    const auto column = give_up(cost_of_one(series_of("columns of a line")));
    const auto line = cost_of_one(series_of("lines of a row"), 2);
    const auto row = give_up(cost_of_one(series_of("rows of a bank")));
    SampleList samples;
    if (const auto ns = in_ns(line); ns.ok()) samples.emplace_back("further_line_of_a_row_ns", ns.value);
    add("dram.column_ns", "ns", in_ns(column), "dram.costs", samples);
    Estimate extra = row.ok() ? column : row;
    if (row.ok() && column.ok())
      extra = {Outcome::ok,
               row.value - column.value,
               {row.interval.low - column.interval.high, row.interval.high - column.interval.low},
               {}};
    if (extra.ok() && extra.value <= 0) extra = inconclusive("another row takes no more than a further column");
    samples.clear();
    if (const auto ns = in_ns(row); ns.ok()) samples.emplace_back("another_row_ns", ns.value);
    add("dram.row_miss_extra_ns", "ns", in_ns(extra), "dram.costs", samples);
  }

  void banks() {
    const auto contrast = contrast_of(m_input.measurements);
    if (!contrast.ok()) return add("dram.banks", "count", contrast, "dram.same_bank");
    const auto pairs = pairs_of(m_input.measurements);
    if (pairs.kinds.empty()) return add("dram.banks", "count", inconclusive(pairs.trouble), "dram.pairs");
    const auto lines = counts("dram.channel_lines", "place_bytes");
    const auto a = counts("dram.waits", "place_bytes");
    const auto b = counts("dram.waits", "other_bytes");
    std::map<std::uint64_t, std::size_t> index;
    for (const auto line : lines) index.emplace(line, index.size());
    std::vector<std::vector<bool>> waits(index.size(), std::vector<bool>(index.size()));
    for (std::size_t i = 0; i < std::min(a.size(), b.size()); ++i) {
      const auto x = index.find(a[i]);
      const auto y = index.find(b[i]);
      if (x == index.end() || y == index.end()) continue;
      waits[x->second][y->second] = waits[y->second][x->second] = true;
    }
    const auto groups = group_banks(waits);
    add("dram.banks", "count", bank_count(groups), "dram.waits",
        {{"banks_of_all_channels", banks_in_all(contrast)},
         {"lines_of_the_channel", static_cast<double>(lines.size())},
         {"channel_cycles", pairs.channel_cycles},
         {"scatter_cycles", pairs.scatter_cycles}});
  }

  /// About how many banks there are: as many as lines have to be asked for one that is in the same.
  [[nodiscard]] std::string banks_in_all(const Estimate& contrast) const {
    double asked = 0;
    double same = 0;
    for (const auto count : counts("dram.asked", "lines")) asked += static_cast<double>(count);
    for (const double more : numbers("dram.same_bank", "more_cycles"))
      if (std::abs(more - contrast.value) < 0.3 * contrast.value) ++same;
    if (same < 4) return "not known";
    const double error = 2 * std::sqrt(same);
    return fmt::format("{:.0f} to {:.0f}", asked / (same + error), asked / (same - error));
  }

  void refresh() {
    auto late = late_of(m_input.measurements);
    double loads = 0;
    for (const auto count : counts("dram.late_loads", "loads")) loads += static_cast<double>(count);
    Estimate period = late.fraction;
    if (late.fraction.ok()) period = m_clock.ok() ? line_periods(late) : m_clock;
    // What is left of a refresh is met as often as the refresh takes of the time: the two must agree.
    if (late.kind == LateKind::rest) {
      const double share = period.ok() ? late.stall_cycles.value / period.value : 0;
      const auto trouble = !period.ok()
                               ? inconclusive("loads come late by anything up to a length, but " + period.reason)
                               : inconclusive(fmt::format(
                                     "{:.1f} % of loads come late, by up to {:.1f} % of the time between two refreshes",
                                     100 * late.fraction.value, 100 * share));
      if (!period.ok() || std::abs(share - late.fraction.value) > k_most_apart * share) {
        late.fraction = late.stall_cycles = trouble;
        late.kind = LateKind::none;
      }
    }
    add("dram.refresh_fraction", "fraction", late.fraction, "dram.late_loads", {{"loads", loads}});
    add("dram.refresh_stall_ns", "ns", in_ns(late.stall_cycles), "dram.late_loads");
    add("dram.refresh_interval_ns", "ns", in_ns(period), "dram.line_loads");
    Finding waits = not_ok("dram.refresh_waits", "name", late.fraction.outcome, late.fraction.reason,
                           "#/measurements/dram.late_loads");
    if (late.fraction.ok()) {
      waits.value = std::string(late.kind == LateKind::rest ? "rest" : "fixed");
      waits.reason.clear();
    }
    add(std::move(waits));
  }

  /// Of each of the lines; they must agree, since all channels are refreshed as often.
  [[nodiscard]] Estimate line_periods(const LateLoads& late) const {
    const auto numbers_of_lines = counts("dram.line_loads", "line");
    std::uint64_t lines = 0;
    for (const auto line : numbers_of_lines) lines = std::max(lines, line + 1);
    Estimate period = inconclusive("no line was loaded again and again");
    for (std::uint64_t line = 0; line < lines; ++line) {
      const auto of_line = line_period(late, line);
      if (!of_line.ok()) return of_line;
      if (line == 0) {
        period = of_line;
        continue;
      }
      if (std::abs(of_line.value - period.value) > 0.002 * period.value + (period.interval.high - period.interval.low) +
                                                       (of_line.interval.high - of_line.interval.low))
        return inconclusive(
            fmt::format("two lines have refreshes {:.0f} and {:.0f} cycles apart", period.value, of_line.value));
      period = {
          Outcome::ok,
          (period.value + of_line.value) / 2,
          {std::min(period.interval.low, of_line.interval.low), std::max(period.interval.high, of_line.interval.high)},
          {}};
    }
    return period;
  }
  [[nodiscard]] Estimate line_period(const LateLoads& loads, std::uint64_t number) const {
    const auto line = counts("dram.line_loads", "line");
    const auto begin = numbers("dram.line_loads", "begin_cycles");
    const auto late = numbers("dram.line_loads", "late_cycles");
    const auto sampled = counts("dram.line_loads", "sampled");
    std::vector<double> events, all;
    for (std::size_t i = 0; i < std::min({line.size(), begin.size(), late.size(), sampled.size()}); ++i) {
      if (line[i] != number) continue;
      if (late[i] > loads.cut_cycles) events.push_back(begin[i]);
      if (sampled[i] != 0) all.push_back(begin[i]);
    }
    return event_period(events, all, k_shortest_interval_ns * m_clock.value / 1000,
                        k_longest_interval_ns * m_clock.value / 1000);
  }

  void add_latency(const std::string& id, const Estimate& cycles, const char* table) {
    add(id.c_str(), "cycles", cycles, table);
    add((id + "_ns").c_str(), "ns", in_ns(cycles), table);
  }

  /// What a hop of a chain would take, with its error.
  [[nodiscard]] Estimate translated() const {
    const auto mean = numbers("dram.translated", "mean_cycles");
    const auto scatter = numbers("dram.translated", "scatter_cycles");
    const auto lines = counts("dram.translated", "lines");
    const auto hop = numbers("dram.reading", "hop_cycles");
    const auto reading = numbers("dram.reading", "reading_cycles");
    if (mean.empty() || scatter.empty() || lines.empty() || hop.empty() || reading.empty())
      return {Outcome::skipped, 0, {}, "not measured"};
    const double value = mean.front() - reading.front() + hop.front();
    const auto hop_scatter = numbers("dram.reading", "hop_scatter_cycles");
    const auto turns = counts("dram.reading", "turns");
    double error = 1 + 3 * scatter.front() / std::sqrt(static_cast<double>(lines.front()));
    if (!hop_scatter.empty() && !turns.empty())
      error += 3 * 1.25 * hop_scatter.front() / std::sqrt(static_cast<double>(turns.front()));
    return {Outcome::ok, value, {value - error, value + error}, {}};
  }
  static Estimate sum(const Estimate& a, const Estimate& b) {
    if (!a.ok()) return a;
    if (!b.ok()) return b;
    return {Outcome::ok, a.value + b.value, {a.interval.low + b.interval.low, a.interval.high + b.interval.high}, {}};
  }

  void latency() {
    const auto hit = translated();
    add_latency("dram.latency_tlb_hit", hit, "dram.translated");
    const auto kind = texts("dram.translation", "pages_are");
    const auto pages = counts("dram.translation", "pages");
    const auto more = numbers("dram.translation", "more_cycles");
    const auto low = numbers("dram.translation", "low_cycles");
    const auto high = numbers("dram.translation", "high_cycles");
    std::vector<PagesCost> again;
    Estimate cold = kind.empty()
                        ? Estimate{Outcome::unsupported, 0, {}, "this device maps no page under many addresses"}
                        : inconclusive("new pages were not measured");
    for (std::size_t i = 0; i < std::min({kind.size(), pages.size(), more.size(), low.size(), high.size()}); ++i) {
      if (kind[i] == "used again")
        again.push_back({pages[i], more[i], low[i], high[i]});
      else
        cold = {Outcome::ok, more[i], {low[i] - 1, high[i] + 1}, {}};
    }
    if (cold.ok() && cold.value < 2) cold = inconclusive("pages that are new take no longer than one used before");
    add_latency("dram.latency_tlb_miss", sum(hit, kind.empty() ? cold : first_miss_cycles(again)), "dram.translation");
    add_latency("dram.latency_cold", sum(hit, cold), "dram.translation");
  }

  const AnalysisInput& m_input;
  Estimate m_clock;
  Analysis m_analysis;
};

}  // namespace

Analysis analyze_dram(const AnalysisInput& input) { return DramAnalysis(input).run(); }

}  // namespace gpusonde
