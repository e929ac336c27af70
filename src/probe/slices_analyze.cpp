#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "core/parity_span.hpp"
#include "inference/line_order.hpp"
#include "probe/findings.hpp"
#include "probe/slices_probe.hpp"

namespace gpusonde {
namespace {

constexpr double k_missing = std::numeric_limits<double>::quiet_NaN();

class SlicesAnalysis {
 public:
  explicit SlicesAnalysis(const AnalysisInput& input) : m_input(input) {}

  Analysis run() {
    const auto* load = m_input.measurements.find("slices.load");
    if (load == nullptr || load->rows() == 0) {
      for (const auto& [id, unit] : {std::pair{"l2.slices", "count"}, std::pair{"l2.slice_function", "text"},
                                     std::pair{"l2.partitions", "count"}})
        add(not_ok(id, unit, Outcome::skipped, "not measured"));
      return std::move(m_analysis);
    }
    m_load = read_map(*load);
    m_clusters = clusters_of(m_load, m_input.measurements);
    if (const auto* atomic = m_input.measurements.find("slices.atomic"); atomic != nullptr && atomic->rows() != 0) {
      m_atomic = read_map(*atomic);
      m_sides = split_sides(m_atomic.map);
    }
    slices();
    function();
    spread();
    partitions();
    derived();
    return std::move(m_analysis);
  }

 private:
  void add(Finding finding) { m_analysis.findings.push_back(std::move(finding)); }

  void slices() {
    SampleList samples;
    Estimate count = m_clusters.ok() ? exactly(static_cast<double>(m_clusters.count)) : inconclusive(m_clusters.reason);
    if (m_clusters.ok() && m_clusters.count == 1)
      count = inconclusive("all lines look alike: one slice, or several that every SM finds equally far");
    if (m_clusters.count > 1)
      samples = {{"classes_apart", static_cast<double>(m_clusters.count)},
                 {"between_cycles", m_clusters.smallest_between_cycles},
                 {"inside_cycles", m_clusters.largest_inside_cycles},
                 {"noise_cycles", m_clusters.noise_cycles}};
    const auto consecutive = consecutive_lines();
    if (consecutive > 0) {
      const auto pattern = consecutive_pattern(std::span(m_clusters.label).first(consecutive));
      if (!pattern.text.empty()) samples.emplace_back("consecutive_lines", pattern.text);
    }
    contention(samples);
    add(make_finding("l2.slices", "count", count, "#/measurements/slices.load", samples));
  }

  [[nodiscard]] std::size_t consecutive_lines() const {
    const auto* plan = m_input.measurements.find("slices.plan");
    const auto* counts = plan == nullptr ? nullptr : plan->column<std::uint64_t>("consecutive_lines");
    return counts == nullptr || counts->empty() ? 0 : std::min<std::size_t>(counts->front(), m_clusters.label.size());
  }

  /// Slices answer each on its own: k of them k times as many lines.
  void contention(SampleList& samples) const {
    const auto* table = m_input.measurements.find("slices.contention");
    const auto* slices = table == nullptr ? nullptr : table->column<std::uint64_t>("slices");
    const auto* rate = table == nullptr ? nullptr : table->column<double>("lines_per_cycle");
    if (slices == nullptr || rate == nullptr || slices->empty() || !((*rate)[0] > 0)) return;
    std::string text;
    for (std::size_t i = 0; i < slices->size(); ++i)
      text += fmt::format("{}{} slices {:.2f}", text.empty() ? "" : ", ", (*slices)[i], (*rate)[i] / (*rate)[0]);
    samples.emplace_back("throughput_by_slices", text);
  }

  void function() {
    Finding finding;
    finding.id = "l2.slice_function";
    finding.unit = "text";
    finding.evidence = "#/measurements/slices.labels";
    const auto fit = fit_slices(m_input.measurements);
    finding.outcome = Outcome::inconclusive;
    if (!fit) {
      if (m_clusters.ok() && m_clusters.count == 1) {
        finding.outcome = Outcome::unsupported;
        finding.reason = "one slice: nothing is chosen";
      } else {
        finding.reason = "lines could not be told by slice";
      }
    } else if (!fit->ok()) {
      finding.reason = "not linear, and not of parities and remainders: " + fit->reason();
    } else {
      finding.outcome = Outcome::ok;
      finding.value = fit->function()->text();
      const auto held_out = fit->physical ? fit->whole->held_out : fit->pages->held_out;
      finding.samples = {{"of", fit->physical ? std::string("the physical address")
                                              : std::string("the offset in a page, but for constants of the page")},
                         {"linear", std::string(fit->function()->is_linear() ? "yes" : "no")},
                         {"held_out_lines", static_cast<double>(held_out)},
                         {"held_out_wrong", static_cast<double>(fit->physical ? fit->whole->held_out_wrong
                                                                              : fit->pages->held_out_wrong)}};
      if (!fit->physical) {
        const auto matched =
            std::count_if(fit->pages->pages.begin(), fit->pages->pages.end(), [](const auto& p) { return p.matched; });
        finding.samples.emplace_back("pages", static_cast<double>(fit->pages->pages.size()));
        finding.samples.emplace_back("pages_matched", static_cast<double>(matched));
      }
    }
    add(std::move(finding));
  }

  void spread() {
    if (m_clusters.centre_cycles.empty() || m_clusters.count < 1) return;
    double low = std::numeric_limits<double>::infinity();
    double high = 0;
    for (const auto& centre : m_clusters.centre_cycles)
      for (const float cycles : centre) {
        low = std::min(low, static_cast<double>(cycles));
        high = std::max(high, static_cast<double>(cycles));
      }
    m_spread_cycles = high - low;
    const double error = 2 * std::max(m_clusters.noise_cycles, 0.0625);
    Estimate estimate{Outcome::ok, high - low, {std::max(0.0, high - low - error), high - low + error}, {}};
    if (!m_clusters.ok() && m_clusters.count < 2) estimate = inconclusive(m_clusters.reason);
    add(make_finding("l2.latency_spread", "cycles", estimate, "#/measurements/slices.load",
                     {{"fastest_cycles", low}, {"slowest_cycles", high}}));
  }

  void partitions() {
    if (m_atomic.places.empty()) return;
    Estimate count =
        m_sides.outcome == Outcome::ok ? exactly(static_cast<double>(m_sides.sides)) : inconclusive(m_sides.reason);
    // Loads lie far and near too, by the places of slices: a side is what atomics show beyond that.
    if (count.ok() && m_sides.sides == 2 && m_sides.contrast_cycles <= 1.5 * m_spread_cycles)
      count = inconclusive(fmt::format("atomics are {:.0f} cycles slower on one side, but loads differ by {:.0f}",
                                       m_sides.contrast_cycles, m_spread_cycles));
    SampleList samples;
    if (m_sides.outcome == Outcome::ok && m_sides.sides == 2) {
      const auto second = std::count(m_sides.sm_side.begin(), m_sides.sm_side.end(), 1);
      samples = {
          {"sms", fmt::format("{} and {}", static_cast<std::ptrdiff_t>(m_sides.sm_side.size()) - second, second)},
          {"far_less_near_cycles", m_sides.contrast_cycles}};
    }
    add(make_finding("l2.partitions", "count", count, "#/measurements/slices.atomic", samples));
    if (!(count.ok() && m_sides.sides == 2)) return;
    Finding finding;
    finding.id = "l2.home_mask";
    finding.unit = "hex";
    finding.evidence = "#/measurements/slices.home";
    finding.outcome = Outcome::inconclusive;
    const auto fit = fit_homes(m_input.measurements);
    if (!fit || !fit->ok())
      finding.reason = fit ? fit->reason : "no line's home was told";
    else if (fit->function.key.masks.size() != 1 || !fit->function.key.terms.empty())
      finding.reason = fmt::format("homes are no single parity: {} masks, {} remainders",
                                   fit->function.key.masks.size(), fit->function.key.terms.size());
    else {
      finding.outcome = Outcome::ok;
      finding.value = hex_mask(fit->function.key.masks.front());
      finding.samples = {{"of", std::string("the offset in a page; higher bits are a constant of the page")},
                         {"held_out_lines", static_cast<double>(fit->held_out)},
                         {"held_out_wrong", static_cast<double>(fit->held_out_wrong)}};
    }
    add(std::move(finding));
  }

  void derived() {
    Table lines;
    for (std::size_t i = 0; i < m_load.places.size(); ++i) {
      lines.make<std::uint64_t>("place_bytes").push_back(m_load.places[i]);
      lines.make<double>("slice").push_back(
          i < m_clusters.label.size() && m_clusters.label[i] >= 0 ? m_clusters.label[i] : k_missing);
      double home = k_missing;
      const auto at = std::lower_bound(m_atomic.places.begin(), m_atomic.places.end(), m_load.places[i]);
      if (at != m_atomic.places.end() && *at == m_load.places[i]) {
        const auto index = static_cast<std::size_t>(at - m_atomic.places.begin());
        if (index < m_sides.line_home.size() && m_sides.line_home[index] >= 0) home = m_sides.line_home[index];
      }
      lines.make<double>("home_side").push_back(home);
    }
    m_analysis.derived.emplace_back("derived.slices.lines", std::move(lines));
    Table sms;
    const auto additive = fit_additive(m_load.map);
    for (std::size_t i = 0; i < m_load.sms.size(); ++i) {
      sms.make<std::uint64_t>("sm").push_back(m_load.sms[i]);
      sms.make<double>("side").push_back(i < m_sides.sm_side.size() && m_sides.sides == 2 ? m_sides.sm_side[i]
                                                                                          : k_missing);
      sms.make<double>("mean_cycles")
          .push_back(i < additive.sm_cycles.size() ? additive.mean_cycles + additive.sm_cycles[i] : k_missing);
    }
    m_analysis.derived.emplace_back("derived.slices.sms", std::move(sms));
  }

  const AnalysisInput& m_input;
  StoredMap m_load;
  StoredMap m_atomic;
  LineClusters m_clusters;
  SmSides m_sides;
  double m_spread_cycles = 0;  ///< of loads, over all classes and SMs
  Analysis m_analysis;
};

}  // namespace

Analysis analyze_slices(const AnalysisInput& input) { return SlicesAnalysis(input).run(); }

}  // namespace gpusonde
