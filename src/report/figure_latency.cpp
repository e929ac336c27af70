// Log-log: sizes span five decades and levels differ by factors. From back to front: level bands, grid,
// capacity and step lines, curves, labels. Labels of lines stand in rows under the curves, labels of
// levels in the right margin, moved apart where they would touch.
#include "report/figure_latency.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "report/escape.hpp"
#include "report/quantity.hpp"
#include "report/scale.hpp"
#include "report/svg.hpp"

namespace gpusonde::report {
namespace {

constexpr double k_width = 960;
constexpr double k_height = 560;
constexpr double k_left = 70;
constexpr double k_right = 790;
constexpr double k_top = 92;
constexpr double k_bottom = 496;
constexpr double k_label_rows = 84;  ///< space under the lowest curve for the labels of lines
constexpr double k_row = 17;

std::string series_class(std::size_t index) { return fmt::format("s{}", index % 4); }

std::string band_class(const std::string& level) {
  constexpr std::array<std::string_view, 4> known{"l1", "l2", "l2.far", "dram"};
  const auto at = std::find(known.begin(), known.end(), level) - known.begin();
  return fmt::format("b{}", at);
}

struct LineLabel {
  double x = 0;
  std::string text;
  std::string line_class;
  std::string text_class;
};

class LatencyFigure {
 public:
  LatencyFigure(const LatencyView& view, const Run& run)
      : m_view(view),
        m_run(run),
        m_title(fmt::format("{}: latency by working set, {}", device_title(run.device), policy_title(view.policy))),
        m_svg(k_width, k_height, m_title, description()) {
    set_scales();
  }

  Figure draw() {
    heading();
    m_svg.open_group("bands");
    bands();
    m_svg.close_group();
    axes();
    line_labels();
    m_svg.open_group("curves");
    for (std::size_t i = m_view.chains.size(); i-- > 0;) curve(m_view.chains[i], i);  // the first one on top
    m_svg.close_group();
    m_svg.open_group("levels");
    levels();
    m_svg.close_group();
    return {"latency." + file_stem(m_view.policy), m_title, std::move(m_svg).finish()};
  }

 private:
  [[nodiscard]] std::string description() const {
    std::string out = "Cycles a dependent load takes against the size of the working set.";
    for (const auto& level : m_view.levels)
      out += fmt::format(" {}: {} from {} to {}.", level.title, quantity(level.cycles, "cycles"),
                         quantity(level.first_bytes, "bytes"), quantity(level.last_bytes, "bytes"));
    return out;
  }

  void set_scales() {
    double smallest = INFINITY, largest = 0, fastest = INFINITY, slowest = 0;
    for (const auto& chain : m_view.chains) {
      for (const auto& point : chain.points) {
        smallest = std::min(smallest, point.bytes);
        largest = std::max(largest, point.bytes);
        fastest = std::min({fastest, point.cycles, point.low > 0 ? point.low : point.cycles});
        slowest = std::max({slowest, point.cycles, point.high});
      }
    }
    // Half a factor of two at either side, so that a flat curve is not stretched to noise.
    const LogScale inner{std::min(fastest, slowest / 2), slowest, k_bottom - k_label_rows, k_top + 34};
    m_x = {smallest / 1.12, largest * 1.12, k_left, k_right};
    m_y = {inner.at(k_bottom), inner.at(k_top), k_bottom, k_top};
  }

  void heading() {
    m_svg.text(24, 32, m_title, "ink title");
    double x = 24;
    const double y = 60;
    for (std::size_t i = 0; i < m_view.chains.size(); ++i) {
      const auto& name = m_view.chains[i].name;
      m_svg.line(x, y - 4, x + 26, y - 4, series_class(i) + " curve");
      marker(x + 13, y - 4, i, 3.2);
      const auto label = name == "pointer" ? "64-bit pointer chain" : name == "index" ? "32-bit index chain" : name;
      m_svg.text(x + 33, y, label, "ink");
      x += 33 + text_width(label, 12) + 18;
    }
    const auto entry = [&](std::string_view css, std::string_view label) {
      m_svg.line(x, y - 4, x + 26, y - 4, css);
      m_svg.text(x + 33, y, label, "soft");
      x += 33 + text_width(label, 12) + 18;
    };
    if (!m_view.capacities.empty()) entry("edge", "capacity found");
    if (!m_view.steps.empty()) entry("step", "step that is no level");
    if (m_run.environment.sm_mhz_measured > 0)
      m_svg.text(k_width - 24, y, fmt::format("SM {:.0f} MHz", m_run.environment.sm_mhz_measured), "soft", "end");
  }

  void bands() {
    for (const auto& level : m_view.levels) {
      const double from = std::clamp(m_x(level.first_bytes), k_left, k_right);
      const double to = std::clamp(m_x(level.last_bytes), k_left, k_right);
      m_svg.rect(from, k_top, to - from, k_bottom - k_top, band_class(level.name) + " band");
      const auto& name = level.title;
      if (text_width(name, 12) + 6 < to - from) m_svg.text((from + to) / 2, k_top + 18, name, "soft strong", "middle");
    }
  }

  void axes() {
    for (const auto& tick : decimal_ticks(m_y.low, m_y.high)) {
      const double y = m_y(tick.value);
      m_svg.line(k_left, y, k_right, y, "grid");
      if (!tick.label.empty()) m_svg.text(k_left - 8, y + 4, tick.label, "soft", "end");
    }
    for (const auto& tick : binary_ticks(m_x.low, m_x.high, 11)) {
      const double x = m_x(tick.value);
      if (!tick.label.empty()) m_svg.line(x, k_top, x, k_bottom, "grid");
      m_svg.line(x, k_bottom, x, k_bottom + (tick.label.empty() ? 3 : 6), "axis");
      if (!tick.label.empty()) m_svg.text(x, k_bottom + 21, tick.label, "soft", "middle");
    }
    m_svg.line(k_left, k_bottom, k_right, k_bottom, "axis");
    m_svg.line(k_left, k_top, k_left, k_bottom, "axis");
    m_svg.text((k_left + k_right) / 2, k_height - 18, "working set", "ink", "middle");
    m_svg.text_upwards(22, (k_top + k_bottom) / 2, "cycles a load", "ink");
  }

  /// Lines of capacities and steps; each label goes to the lowest row where it has room.
  void line_labels() {
    std::vector<LineLabel> labels;
    for (const auto& capacity : m_view.capacities)
      labels.push_back({m_x(capacity.bytes), quantity(capacity.bytes, "bytes"), "edge", "ink strong"});
    for (const auto& step : m_view.steps)
      labels.push_back(
          {m_x(std::sqrt(step.from_bytes * step.to_bytes)),
           fmt::format("{} step +{:.1f} cyc", step.translation ? "translation" : "unattributed", step.rise_cycles),
           "step", "steptext"});
    std::erase_if(labels, [](const LineLabel& label) { return !(label.x >= k_left && label.x <= k_right); });
    std::sort(labels.begin(), labels.end(), [](const auto& a, const auto& b) { return a.x < b.x; });
    m_svg.open_group("lines");
    for (const auto& label : labels) m_svg.line(label.x, k_top, label.x, k_bottom, label.line_class);
    std::vector<std::vector<std::pair<double, double>>> rows;  // taken stretches
    for (const auto& label : labels) {
      const double width = text_width(label.text, 12) + 16;
      const bool leftwards = label.x + width > k_right;
      const std::pair<double, double> span{leftwards ? label.x - width : label.x,
                                           leftwards ? label.x : label.x + width};
      std::size_t row = 0;
      const auto taken = [&](std::size_t r) {
        return std::any_of(rows[r].begin(), rows[r].end(),
                           [&](const auto& other) { return span.first < other.second && other.first < span.second; });
      };
      while (row < rows.size() && taken(row)) ++row;
      if (row == rows.size()) rows.emplace_back();
      rows[row].push_back(span);
      m_svg.text(leftwards ? label.x - 6 : label.x + 6, k_bottom - 10 - k_row * static_cast<double>(row), label.text,
                 label.text_class + " halo", leftwards ? "end" : "start");
    }
    m_svg.close_group();
  }

  void marker(double x, double y, std::size_t series, double radius) {
    if (series % 2 == 0)
      m_svg.circle(x, y, radius, series_class(series) + " dot");
    else
      m_svg.diamond(x, y, radius * 1.25, series_class(series) + " dot");
  }

  void curve(const Chain& chain, std::size_t series) {
    std::vector<std::pair<double, double>> line, range;
    for (const auto& point : chain.points) line.emplace_back(m_x(point.bytes), m_y(point.cycles));
    for (const auto& point : chain.points) range.emplace_back(m_x(point.bytes), m_y(point.high));
    for (auto point = chain.points.rbegin(); point != chain.points.rend(); ++point)
      range.emplace_back(m_x(point->bytes), m_y(std::max(point->low, m_y.low)));
    m_svg.polygon(range, series_class(series) + " range");
    m_svg.polyline(line, series_class(series) + " curve");
    for (const auto& [x, y] : line) marker(x, y, series, 2.3);
  }

  void levels() {
    std::vector<const LevelMark*> sorted;
    for (const auto& level : m_view.levels) sorted.push_back(&level);
    std::sort(sorted.begin(), sorted.end(), [](const auto* a, const auto* b) { return a->cycles > b->cycles; });
    std::vector<double> wanted;
    for (const auto* level : sorted) wanted.push_back(m_y(level->cycles));
    const auto placed = spread_labels(wanted, 36, k_top + 10, k_bottom - 12);
    for (std::size_t i = 0; i < sorted.size(); ++i) {
      const auto& level = *sorted[i];
      m_svg.line(m_x(level.first_bytes), wanted[i], m_x(level.last_bytes), wanted[i], "plateau");
      m_svg.line(m_x(level.last_bytes), wanted[i], k_right, wanted[i], "guide");
      m_svg.line(k_right, wanted[i], k_right + 10, placed[i], "guide");
      m_svg.text(k_right + 14, placed[i] - 2, level.title, "ink strong");
      const auto ns = level.ns > 0 ? " · " + quantity(level.ns, "ns") : "";
      m_svg.text(k_right + 14, placed[i] + 14, quantity(level.cycles, "cycles") + ns, "soft");
    }
  }

  const LatencyView& m_view;
  const Run& m_run;
  std::string m_title;
  Svg m_svg;
  LogScale m_x;
  LogScale m_y;
};

}  // namespace

std::string policy_title(const std::string& policy) {
  if (policy == "ca") return "loads through L1 (.ca)";
  if (policy == "cg") return "loads past L1 (.cg)";
  if (policy == "nc") return "read-only loads (.nc)";
  if (policy == "cv") return "volatile loads (.cv)";
  if (policy == "shared") return "shared memory";
  return "loads " + clean(policy);
}

Figure latency_figure(const LatencyView& view, const Run& run) { return LatencyFigure(view, run).draw(); }

}  // namespace gpusonde::report
