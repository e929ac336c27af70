// From the fits to findings: a quantity is known when all tables that the measurements leave standing agree on it.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "core/units.hpp"
#include "probe/alias_places.hpp"
#include "probe/findings.hpp"
#include "probe/page_conflicts.hpp"
#include "probe/tlb_probe.hpp"

namespace gpusonde {
namespace {

constexpr double k_widest_entries = 0.02;
constexpr double k_replacement_fraction = 0.03;
constexpr std::uint32_t k_most_sms_of_a_cpc = 8;
constexpr std::uint32_t k_most_sms_of_a_gpc = 18;
constexpr double k_least_scope_step_cycles = 30;
constexpr std::uint64_t k_many_tests = 300;  // far more than a search that ends at a small set needs

struct Replacement {
  std::uint32_t entries = 0;
  std::uint64_t span_bytes = 0;
  double penalty = 0;
  double sigma = 0;
  std::uint32_t repetitions = 0;
};

std::optional<Replacement> read_replacement(const Measurements& measurements, std::size_t level) {
  const auto* table = measurements.find("tlb.replacement");
  if (table == nullptr) return {};
  const auto* levels = table->column<std::uint64_t>("level");
  const auto* entries = table->column<std::uint64_t>("entries");
  const auto* span = table->column<std::uint64_t>("span_bytes");
  const auto* penalty = table->column<double>("penalty_cycles");
  const auto* sigma = table->column<double>("sigma_cycles");
  const auto* repetitions = table->column<std::uint64_t>("repetitions");
  if (!levels || !entries || !span || !penalty || !sigma || !repetitions) return {};
  for (std::size_t row = 0; row < table->rows(); ++row)
    if ((*levels)[row] == level)
      return Replacement{static_cast<std::uint32_t>((*entries)[row]), (*span)[row], (*penalty)[row], (*sigma)[row],
                         static_cast<std::uint32_t>((*repetitions)[row])};
  return {};
}

class TlbAnalysis {
 public:
  explicit TlbAnalysis(const AnalysisInput& input)
      : m_input(input),
        m_space(alias_space_row(input.measurements)),
        m_points(read_alias_curves(input.measurements, true)) {}

  Analysis run() {
    if (m_points.empty()) {
      add("tlb.1.entries", "count", {Outcome::skipped, 0, {}, "the alias probe was not run"}, {});
      return std::move(m_analysis);
    }
    m_fits = fit_tlb(m_points);
    if (m_fits.empty()) return nothing_seen();
    for (std::size_t i = 0; i < m_fits.size(); ++i) level(i);
    scopes();
    predict();
    return std::move(m_analysis);
  }

 private:
  void add(std::string id, std::string unit, const Estimate& estimate, SampleList samples,
           const std::string& table = "tlb.alias") {
    m_analysis.findings.push_back(
        make_finding(std::move(id), std::move(unit), estimate, "#/measurements/" + table, std::move(samples)));
  }
  void add_name(const std::string& id, const std::string& name, const std::string& table, SampleList samples) {
    Finding finding;
    finding.id = id;
    finding.unit = "name";
    finding.outcome = Outcome::ok;
    finding.value = name;
    finding.samples = std::move(samples);
    finding.evidence = "#/measurements/" + table;
    m_analysis.findings.push_back(std::move(finding));
  }

  Analysis nothing_seen() {
    std::uint64_t nodes = 0;
    std::uint64_t stride = 0;
    for (const auto& point : m_points) {
      nodes = std::max(nodes, point.nodes);
      stride = std::max(stride, point.stride_bytes);
    }
    const auto reason =
        fmt::format("no step of translation was seen, with up to {} pages and up to {} from one to the next", nodes,
                    format_bytes(stride));
    for (const auto& [what, unit] : k_quantities) add(fmt::format("tlb.1.{}", what), unit, inconclusive(reason), {});
    return std::move(m_analysis);
  }

  static constexpr std::pair<const char*, const char*> k_quantities[] = {
      {"entries", "count"}, {"ways", "count"},       {"span", "bytes"},
      {"reach", "bytes"},   {"miss_cost", "cycles"}, {"replacement", "name"}};

  void level(std::size_t i) {
    const auto& fit = m_fits[i];
    const auto prefix = fmt::format("tlb.{}.", i + 1);
    if (fit.candidates.empty()) {
      std::string reason = fit.trouble;
      if (fit.knee_nodes > 0)
        reason += fmt::format("; seen is a step to +{:.1f} cycles, half done at {:.0f} nodes {} apart",
                              fit.plateau_cycles, fit.knee_nodes, format_bytes(fit.knee_stride_bytes));
      const auto& reach = fit.reach_bytes;
      for (const auto& [what, unit] : k_quantities)
        if (std::string_view(what) == "reach" && reach.high > 0)
          add(prefix + what, unit, {Outcome::ok, reach.low, {0.97 * reach.low, reach.high}, {}},
              {{"tables_standing", 0.0}});
        else
          add(prefix + what, unit, inconclusive(reason), {});
      return;
    }
    const auto standing = consistent_with_replacement(i);
    const auto& kept = standing.empty() ? fit.candidates : standing;
    const SampleList samples{{"points", static_cast<double>(fit.points)},
                             {"tables_standing", static_cast<double>(kept.size())},
                             {"misfit", kept.front().misfit}};
    numbers(prefix, kept, fit, samples);
    replacement(prefix, i, standing, samples);
    m_best.push_back(kept.front());
  }

  void numbers(const std::string& prefix, const std::vector<TlbCandidate>& kept, const TlbLevelFit& fit,
               const SampleList& samples) {
    add(prefix + "entries", "count",
        settled(kept, "entries", k_widest_entries, [](const TlbShape& s) { return double{1} * s.entries; }), samples);
    ways(prefix, kept, samples);
    add(prefix + "span", "bytes",
        settled(kept, "span", 0, [](const TlbShape& s) { return static_cast<double>(s.span_bytes); }), samples);
    reach(prefix, kept, fit, samples);
    const double value = kept.front().penalty_cycles;
    add(prefix + "miss_cost", "cycles",
        {Outcome::ok, value, {std::min(fit.penalty_cycles.low, value), std::max(fit.penalty_cycles.high, value)}, {}},
        samples);
  }

  // Of the tables that stand; where they differ by more, what two strides agree on.
  void reach(const std::string& prefix, const std::vector<TlbCandidate>& kept, const TlbLevelFit& fit,
             const SampleList& samples) {
    const auto reach_of = [](const TlbShape& s) {
      return static_cast<double>(s.entries) * static_cast<double>(s.span_bytes);
    };
    auto estimate = settled(kept, "reach", k_widest_entries, reach_of);
    // A step is seen when a twentieth of it is, which is a little beyond the reach.
    const Interval agreed{0.97 * fit.reach_bytes.low, fit.reach_bytes.high};
    const double best = reach_of(kept.front().shape);
    if (!estimate.ok() && agreed.low <= best && best <= agreed.high) estimate = {Outcome::ok, best, agreed, {}};
    add(prefix + "reach", "bytes", estimate, samples);
  }

  // By the curves and by group testing; where both speak, they must agree.
  void ways(const std::string& prefix, const std::vector<TlbCandidate>& kept, SampleList samples) {
    const auto ways_of = [](const TlbShape& s) { return double{1} * (s.ways == 0 ? s.entries : s.ways); };
    const bool full = std::all_of(kept.begin(), kept.end(), [](const TlbCandidate& c) { return c.shape.ways == 0; });
    auto estimate = settled(kept, "ways", full ? k_widest_entries : 0, ways_of);
    const auto conflicts = read_conflicts(prefix);
    const auto tested = conflicts.pages();
    if (tested == 0 && conflicts.none_small() && ways_of(kept.front().shape) <= k_most_conflict_pages)
      estimate =
          inconclusive(fmt::format("the curves say {:.0f}, but no set of up to {} pages was found that pushes one out",
                                   ways_of(kept.front().shape), k_most_conflict_pages));
    if (tested == 0) return add(prefix + "ways", "count", estimate, std::move(samples));
    samples.emplace_back("smallest_conflict_set", tested);
    const bool stands =
        std::any_of(kept.begin(), kept.end(), [&](const TlbCandidate& c) { return ways_of(c.shape) == tested; });
    if (stands)
      estimate = {Outcome::ok, tested, {tested, tested}, {}};
    else
      estimate =
          inconclusive(fmt::format("the smallest set of pages that pushes one out has {:.0f}, the curves say {:.0f}",
                                   tested, ways_of(kept.front().shape)));
    add(prefix + "ways", "count", estimate, std::move(samples), "tlb.conflict");
  }

  /// What group testing came to at a level, over all its questions.
  struct Conflicts {
    std::set<std::uint64_t> sizes;  ///< pages of the smallest set that pushes one out; 0: none found
    std::uint64_t most_tests = 0;

    /// The size, where all questions found the same one; else 0.
    [[nodiscard]] double pages() const { return sizes.size() == 1 ? static_cast<double>(*sizes.begin()) : 0; }
    /// Whether it began with pages that push one out, and came to no small set of them.
    [[nodiscard]] bool none_small() const { return sizes == std::set<std::uint64_t>{0} && most_tests > k_many_tests; }
  };

  [[nodiscard]] Conflicts read_conflicts(const std::string& prefix) const {
    const auto* table = m_input.measurements.find("tlb.conflict");
    if (table == nullptr) return {};
    const auto* level = table->column<std::uint64_t>("level");
    const auto* pages = table->column<std::uint64_t>("set_pages");
    const auto* tests = table->column<std::uint64_t>("tests");
    if (!level || !pages) return {};
    Conflicts conflicts;
    for (std::size_t row = 0; row < table->rows(); ++row) {
      if (fmt::format("tlb.{}.", (*level)[row]) != prefix) continue;
      conflicts.sizes.insert((*pages)[row]);
      if (tests != nullptr) conflicts.most_tests = std::max(conflicts.most_tests, (*tests)[row]);
    }
    return conflicts;
  }

  template <class Quantity>
  static Estimate settled(const std::vector<TlbCandidate>& kept, const char* what, double widest,
                          const Quantity& quantity) {
    std::set<double> values;
    for (const auto& candidate : kept) values.insert(quantity(candidate.shape));
    const double low = *values.begin();
    const double high = *values.rbegin();
    const double best = quantity(kept.front().shape);
    if (high - low <= widest * best) return {Outcome::ok, best, {low, high}, {}};
    std::vector<std::string> texts;
    for (const auto value : values) {
      if (texts.size() == 5) break;
      texts.push_back(fmt::format("{:.0f}", value));
    }
    return inconclusive(fmt::format("the curves leave several {} standing: {}{}", what, fmt::join(texts, ", "),
                                    values.size() > texts.size() ? ", ..." : ""));
  }

  /// Those of the candidates that also explain the list made to tell policies apart. All where it was not measured.
  std::vector<TlbCandidate> consistent_with_replacement(std::size_t i) {
    const auto& fit = m_fits[i];
    const auto measured = read_replacement(m_input.measurements, i + 1);
    if (!measured) return fit.candidates;
    const auto point = replacement_point(*measured);
    std::vector<TlbCandidate> kept;
    for (const auto& candidate : fit.candidates) {
      const double off = std::abs(predicted_at(point, candidate) - measured->penalty);
      const bool chance = candidate.shape.policy == TlbPolicy::random;
      const double allowed = (chance ? 2 : 1) * k_replacement_fraction * candidate.penalty_cycles;
      if (off <= std::max(4 * measured->sigma, allowed)) kept.push_back(candidate);
    }
    return kept;
  }

  [[nodiscard]] TlbPoint replacement_point(const Replacement& measured) const {
    auto lists = hot_and_cold_lists(measured.entries, measured.span_bytes, m_space.page_bytes);
    const auto timing = alias_timing(lists.aliased.size(), measured.repetitions);
    TlbPoint point;
    point.nodes = lists.aliased.size();
    point.trace = alias_trace(std::move(lists.aliased), timing, m_space);
    if (measured.span_bytes < m_space.page_bytes)
      point.control = alias_trace(std::move(lists.control), timing, m_space);
    return point;
  }

  [[nodiscard]] double predicted_at(const TlbPoint& point, const TlbCandidate& candidate) const {
    std::vector<TlbShape> levels;
    std::vector<double> penalties;
    for (const auto& before : m_best) {
      levels.push_back(before.shape);
      penalties.push_back(before.penalty_cycles);
    }
    levels.push_back(candidate.shape);
    penalties.push_back(candidate.penalty_cycles);
    return predicted_penalty(point, levels, penalties);
  }

  void replacement(const std::string& prefix, std::size_t i, const std::vector<TlbCandidate>& standing,
                   const SampleList& samples) {
    const bool measured = read_replacement(m_input.measurements, i + 1).has_value();
    std::set<std::string> names;
    for (const auto& candidate : standing) names.emplace(to_string(candidate.shape.policy));
    if (!measured && names.size() == 1 && *names.begin() == to_string(TlbPolicy::random))
      add_name(prefix + "replacement", *names.begin(), "tlb.alias", samples);
    else if (!measured)
      add(prefix + "replacement", "name", inconclusive("no list of pages that tells policies apart fits the device"),
          {});
    else if (names.empty())
      add(prefix + "replacement", "name",
          inconclusive("neither lru, fifo, tree-plru nor random explains which pages stay"), samples,
          "tlb.replacement");
    else if (names.size() > 1)
      add(prefix + "replacement", "name",
          inconclusive(fmt::format("these policies remain: {}", fmt::join(names, ", "))), samples, "tlb.replacement");
    else
      add_name(prefix + "replacement", *names.begin(), "tlb.replacement", samples);
  }

  // Which levels SM 0 and another share: the penalty of loads whose pages SM 0 has just used.
  void scopes() {
    const auto sms = m_input.device.sm_count;
    for (std::size_t i = 0; i < m_best.size(); ++i) {
      const auto id = fmt::format("tlb.{}.scope", i + 1);
      const auto* table = m_input.measurements.find("tlb.scope");
      if (sms < 2) {
        add(id, "name", {Outcome::unsupported, 0, {}, "a device of one SM"}, {});
        continue;
      }
      if (table == nullptr || table->rows() == 0) {
        add(id, "name", {Outcome::skipped, 0, {}, "not measured: the device does not let an SM be chosen"}, {},
            "tlb.scope");
        continue;
      }
      scope(id, i, *table, sms);
    }
  }

  void scope(const std::string& id, std::size_t level, const Table& table, std::uint32_t sms) {
    const auto& sm = *table.column<std::uint64_t>("sm");
    const auto& penalties = *table.column<double>("penalty_cycles");
    const double below = level == 0 ? 0 : m_best[level - 1].penalty_cycles;
    const double own = m_best[level].penalty_cycles;
    // Not sharing may cost less than this level's own misses do, since the other SM has just walked the page table.
    const double step = std::min(own - below, std::max(below, k_least_scope_step_cycles));
    std::size_t sharing = 0;
    bool neighbour = false;
    std::size_t unclear = 0;
    for (std::size_t row = 0; row < sm.size(); ++row) {
      if (penalties[row] < below + 0.3 * step) {
        ++sharing;
        neighbour = neighbour || sm[row] == 1;
      } else if (penalties[row] < below + 0.5 * step) {
        ++unclear;
      }
    }
    const SampleList samples{{"sms_asked", static_cast<double>(sm.size())},
                             {"sms_sharing", static_cast<double>(sharing)}};
    const auto unknown = [&](std::string reason) {
      add(id, "name", inconclusive(std::move(reason)), samples, "tlb.scope");
    };
    const auto known = [&](const char* name) { add_name(id, name, "tlb.scope", samples); };
    if (sm.size() + 1 < sms) return unknown(fmt::format("only {} of {} SMs were asked", sm.size() + 1, sms));
    if (unclear > 0)
      return unknown(
          fmt::format("from {} of {} SMs the penalty lies between sharing and not sharing", unclear, sm.size()));
    const std::size_t group = sharing + 1;
    const double share = static_cast<double>(group) / sms;
    if (group == 1) return known("sm");
    if (sharing == sm.size())
      return sms > 2 * k_most_sms_of_a_gpc ? known("gpu")
                                           : unknown(fmt::format("all {} SMs share it, which may be one GPC or half of "
                                                                 "a GPU",
                                                                 sms));
    if (group == 2 && neighbour) return known("tpc");
    const bool half = share > 0.4 && share < 0.6;
    if (half && group <= k_most_sms_of_a_gpc)
      return unknown(fmt::format("{} of {} SMs share it: a cluster of TPCs, or half of the GPU", group, sms));
    if (half) return known("partition");
    if (group <= k_most_sms_of_a_cpc) return known("cpc");
    if (group <= k_most_sms_of_a_gpc) return known("gpc");
    unknown(fmt::format("{} of {} SMs share it, more than a GPC has and less than half of the GPU", group, sms));
  }

  void predict() {
    std::vector<TlbShape> levels;
    std::vector<double> penalties;
    for (const auto& best : m_best) {
      levels.push_back(best.shape);
      penalties.push_back(best.penalty_cycles);
    }
    if (levels.empty()) return;
    Table table;
    for (const auto& point : m_points) {
      table.make<std::uint64_t>("stride_bytes").push_back(point.stride_bytes);
      table.make<std::uint64_t>("nodes").push_back(point.nodes);
      table.make<double>("predicted_cycles").push_back(predicted_penalty(point, levels, penalties));
    }
    m_analysis.derived.emplace_back("derived.tlb.fit", std::move(table));
    Table shapes;
    for (std::size_t i = 0; i < m_fits.size() && i < m_best.size(); ++i) {
      for (const auto& candidate : m_fits[i].candidates) {
        shapes.make<std::uint64_t>("level").push_back(i + 1);
        shapes.make<std::uint64_t>("entries").push_back(candidate.shape.entries);
        shapes.make<std::uint64_t>("ways").push_back(candidate.shape.ways == 0 ? candidate.shape.entries
                                                                               : candidate.shape.ways);
        shapes.make<std::uint64_t>("span_bytes").push_back(candidate.shape.span_bytes);
        shapes.make<std::uint64_t>("parts").push_back(candidate.shape.parts);
        shapes.make<std::string>("replacement").emplace_back(to_string(candidate.shape.policy));
        shapes.make<std::string>("index").emplace_back(candidate.shape.folded ? "folded" : "modulo");
        shapes.make<double>("miss_cost_cycles").push_back(candidate.penalty_cycles);
        shapes.make<double>("misfit").push_back(candidate.misfit);
      }
    }
    m_analysis.derived.emplace_back("derived.tlb.tables", std::move(shapes));
  }

  const AnalysisInput& m_input;
  AliasSpaceRow m_space;
  std::vector<TlbPoint> m_points;
  std::vector<TlbLevelFit> m_fits;
  std::vector<TlbCandidate> m_best;
  Analysis m_analysis;
};

}  // namespace

Analysis analyze_tlb(const AnalysisInput& input) { return TlbAnalysis(input).run(); }

}  // namespace gpusonde
