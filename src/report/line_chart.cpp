// From back to front: grid, lines of marks in common, ranges, curves, rings, texts. Labels of lines stand
// in the right margin, moved apart where they would touch.
#include "report/line_chart.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "report/scale.hpp"
#include "report/svg.hpp"

namespace gpusonde::report {
namespace {

constexpr double k_width = 960;
constexpr double k_plot_height = 410;
constexpr double k_left = 70;
constexpr double k_right = 842;
constexpr double k_legend_top = 60;
constexpr double k_legend_row = 20;
constexpr double k_legend_right = 800;  ///< the note stands behind
constexpr double k_row = 17;
constexpr std::size_t k_colours = 8;
constexpr std::size_t k_unnamed_style = k_colours - 1;  ///< grey
constexpr std::size_t k_mark_rows = 4;

std::string series_class(std::size_t index) { return fmt::format("s{}", index % k_colours); }

/// Colour and marker go by the order of the named lines; the others share one colour.
std::vector<std::size_t> styles_of(const std::vector<ChartLine>& lines) {
  std::vector<std::size_t> styles;
  std::size_t next = 0;
  for (const auto& line : lines) styles.push_back(line.named ? next++ : k_unnamed_style);
  return styles;
}

/// Places that texts have taken.
class Taken {
 public:
  [[nodiscard]] bool free(double left, double right, double top, double bottom) const {
    return std::none_of(m_boxes.begin(), m_boxes.end(), [&](const Box& box) {
      return left < box.right && box.left < right && top < box.bottom && box.top < bottom;
    });
  }
  void take(double left, double right, double top, double bottom) { m_boxes.push_back({left, right, top, bottom}); }

 private:
  struct Box {
    double left, right, top, bottom;
  };
  std::vector<Box> m_boxes;
};

class ChartDrawing {
 public:
  explicit ChartDrawing(const LineChart& chart)
      : m_chart(chart),
        m_styles(styles_of(chart.lines)),
        m_legend(legend_places()),
        m_top(k_legend_top + k_legend_row * static_cast<double>(m_legend_rows) + 12),
        m_bottom(m_top + k_plot_height),
        m_svg(k_width, m_bottom + 64, chart.title, chart.description) {
    set_scales();
  }

  Figure draw() {
    legend();
    axes();
    if (m_chart.marks_in_common) common_marks();
    curves();
    rings();
    if (!m_chart.marks_in_common) mark_texts();
    line_labels();
    return {m_chart.name, m_chart.title, std::move(m_svg).finish()};
  }

 private:
  enum class Entry { heading, line, more, ring, dashed };
  struct LegendPlace {
    Entry entry;
    std::size_t line;
    std::string text;
    double x, y;
  };

  [[nodiscard]] bool any(bool (*has)(const ChartLine&)) const {
    return std::any_of(m_chart.lines.begin(), m_chart.lines.end(), has);
  }

  std::vector<LegendPlace> legend_places() {
    std::vector<LegendPlace> out;
    double x = 24;
    const auto add = [&](Entry entry, std::size_t line, const std::string& text) {
      const double width = (entry == Entry::heading || entry == Entry::more ? 0 : 33) + text_width(text, 12) + 14;
      if (x + width > k_legend_right) {
        ++m_legend_rows;
        x = 24;
      }
      out.push_back({entry, line, text, x, k_legend_top + k_legend_row * static_cast<double>(m_legend_rows - 1)});
      x += width;
    };
    add(Entry::heading, 0, m_chart.line_title);
    std::size_t unnamed = 0;
    for (std::size_t i = 0; i < m_chart.lines.size(); ++i) {
      if (m_chart.lines[i].named)
        add(Entry::line, i, m_chart.lines[i].label);
      else
        ++unnamed;
    }
    if (unnamed > 0) add(Entry::more, 0, fmt::format("and {} between", unnamed));
    if (any([](const ChartLine& line) { return line.named && !line.marks.empty(); }))
      add(Entry::ring, 0, m_chart.mark_title);
    if (any([](const ChartLine& line) { return !line.dashed.empty(); })) add(Entry::dashed, 0, m_chart.dashed_title);
    return out;
  }

  void legend() {
    m_svg.text(24, 32, m_chart.title, "ink title");
    if (!m_chart.note.empty()) m_svg.text(k_width - 24, k_legend_top, m_chart.note, "soft", "end");
    m_svg.open_group("legend");
    for (const auto& [entry, line, text, x, y] : m_legend) {
      const bool with_sample = entry != Entry::heading && entry != Entry::more;
      if (entry == Entry::line) {
        m_svg.line(x, y - 4, x + 26, y - 4, series_class(m_styles[line]) + " curve");
        marker(x + 13, y - 4, m_styles[line], 3.2);
      } else if (entry == Entry::ring) {
        m_svg.circle(x + 17, y - 4, 5, "knee");
      } else if (entry == Entry::dashed) {
        m_svg.line(x, y - 4, x + 26, y - 4, "ink-line predicted");
      }
      m_svg.text(with_sample ? x + 33 : x, y, text, entry == Entry::line ? "ink" : "soft");
    }
    m_svg.close_group();
  }

  void set_scales() {
    double first = INFINITY, last = 0, low = INFINITY, high = -INFINITY;
    for (const auto& line : m_chart.lines) {
      for (const auto& point : line.points) {
        first = std::min(first, point.x);
        last = std::max(last, point.x);
        low = std::min(low, line.named ? point.low : point.y);
        high = std::max(high, line.named ? point.high : point.y);
      }
      for (const auto& [x, y] : line.dashed) {
        low = std::min(low, y);
        high = std::max(high, y);
      }
    }
    m_x = {first / 1.12, last * 1.12, k_left, k_right};
    const double below = m_chart.marks_in_common ? k_row * k_mark_rows + 14 : 2 * k_row + 26;
    if (m_chart.y_log) {
      // Half a factor of two at least, so that flat lines are not stretched to noise.
      const LogScale inner{std::min(low, high / 2), high, m_bottom - below, m_top + 16};
      m_log_y = {inner.at(m_bottom), inner.at(m_top), m_bottom, m_top};
    } else {
      const double least = std::min(low, 0.0);
      const double most = std::max({high, least + 1, 0.0});
      const double margin = (most - least) * 0.05;
      m_linear_y = {least < 0 ? least - margin : 0, most + margin, m_bottom, m_top};
    }
  }

  [[nodiscard]] double y_of(double value) const { return m_chart.y_log ? m_log_y(value) : m_linear_y(value); }

  void axes() {
    const auto y_ticks =
        m_chart.y_log ? latency_ticks(m_log_y.low, m_log_y.high) : round_ticks(m_linear_y.low, m_linear_y.high, 9);
    for (const auto& tick : y_ticks) {
      const double y = y_of(tick.value);
      m_svg.line(k_left, y, k_right, y, "grid");
      if (!tick.label.empty()) m_svg.text(k_left - 8, y + 4, tick.label, "soft", "end");
    }
    const auto x_ticks =
        m_chart.x_unit == ChartUnit::bytes ? binary_ticks(m_x.low, m_x.high, 12) : count_ticks(m_x.low, m_x.high, 14);
    for (const auto& tick : x_ticks) {
      const double x = m_x(tick.value);
      if (!tick.label.empty()) m_svg.line(x, m_top, x, m_bottom, "grid");
      m_svg.line(x, m_bottom, x, m_bottom + (tick.label.empty() ? 3 : 6), "axis");
      if (!tick.label.empty()) m_svg.text(x, m_bottom + 21, tick.label, "soft", "middle");
    }
    m_svg.line(k_left, m_bottom, k_right, m_bottom, "axis");
    m_svg.line(k_left, m_top, k_left, m_bottom, "axis");
    m_svg.text((k_left + k_right) / 2, m_bottom + 46, m_chart.x_title, "ink", "middle");
    m_svg.text_upwards(22, (m_top + m_bottom) / 2, m_chart.y_title, "ink");
  }

  /// One line across the plot a place that marks have in common. Where the rows of texts are full, places
  /// that fewer lines share go without.
  void common_marks() {
    struct Place {
      double x;
      std::string text;
      std::size_t lines;
    };
    std::vector<Place> places;
    for (const auto& line : m_chart.lines) {
      if (!line.named) continue;
      for (const auto& mark : line.marks) {
        const auto known =
            std::find_if(places.begin(), places.end(), [&](const Place& place) { return place.text == mark.text; });
        if (known != places.end())
          ++known->lines;
        else
          places.push_back({m_x(mark.x), mark.text, 1});
      }
    }
    std::stable_sort(places.begin(), places.end(), [](const auto& a, const auto& b) { return a.lines > b.lines; });
    m_svg.open_group("lines");
    for (const auto& place : places) {
      m_svg.line(place.x, m_top, place.x, m_bottom, "step");
      const double width = text_width(place.text, 12) + 12;
      const bool leftwards = place.x + width > k_right;
      const double from = leftwards ? place.x - width : place.x;
      for (std::size_t row = 0; row < k_mark_rows; ++row) {
        const double y = m_bottom - 8 - k_row * static_cast<double>(row);
        if (!m_taken.free(from, from + width, y - 12, y + 4)) continue;
        m_taken.take(from, from + width, y - 12, y + 4);
        m_svg.text(leftwards ? place.x - 6 : place.x + 6, y, place.text, "steptext halo", leftwards ? "end" : "start");
        break;
      }
    }
    m_svg.close_group();
  }

  void marker(double x, double y, std::size_t series, double radius) {
    const auto css = series_class(series) + " dot";
    const double wide = radius * 1.2, side = radius * 0.9;
    switch (series % 5) {
      case 0: m_svg.circle(x, y, radius, css); break;
      case 1: m_svg.diamond(x, y, radius * 1.3, css); break;
      case 2:
        m_svg.polygon({{x - side, y - side}, {x + side, y - side}, {x + side, y + side}, {x - side, y + side}}, css);
        break;
      case 3: m_svg.polygon({{x - wide, y + radius}, {x, y - wide}, {x + wide, y + radius}}, css); break;
      default: m_svg.polygon({{x - wide, y - radius}, {x, y + wide}, {x + wide, y - radius}}, css);
    }
  }

  void curves() {
    m_svg.open_group("curves");
    for (const bool named : {false, true})
      for (std::size_t i = m_chart.lines.size(); i-- > 0;)  // the first one on top
        if (m_chart.lines[i].named == named) curve(m_chart.lines[i], m_styles[i]);
    m_svg.close_group();
  }

  void curve(const ChartLine& line, std::size_t series) {
    std::vector<std::pair<double, double>> points, range, dashed;
    for (const auto& point : line.points) points.emplace_back(m_x(point.x), y_of(point.y));
    if (line.named) {
      for (const auto& point : line.points) range.emplace_back(m_x(point.x), y_of(point.high));
      for (auto point = line.points.rbegin(); point != line.points.rend(); ++point)
        range.emplace_back(m_x(point->x), y_of(point->low));
      m_svg.polygon(range, series_class(series) + " range");
    }
    m_svg.polyline(points, series_class(series) + (line.named ? " curve" : " curve thin"));
    for (const auto& [x, y] : line.dashed)
      if (x >= m_x.low && x <= m_x.high) dashed.emplace_back(m_x(x), y_of(y));
    if (!dashed.empty()) m_svg.polyline(dashed, series_class(series) + " predicted");
    if (line.named || points.size() == 1)
      for (const auto& [x, y] : points) marker(x, y, series, 2.3);
  }

  void rings() {
    m_svg.open_group("rings");
    for (const auto& line : m_chart.lines)
      if (line.named)
        for (const auto& mark : line.marks) m_svg.circle(m_x(mark.x), y_of(mark.y), 5, "knee");
    m_svg.close_group();
  }

  /// Below and right of a ring: there its own line has left for above, and the others have not yet come.
  /// Rings upon each other have one text.
  void mark_texts() {
    constexpr double k_upon = 6;
    std::vector<std::pair<double, double>> rings;
    m_svg.open_group("marks");
    for (const auto& line : m_chart.lines) {
      if (!line.named) continue;
      for (const auto& mark : line.marks) {
        const double x = m_x(mark.x), y = y_of(mark.y);
        const bool upon = std::any_of(rings.begin(), rings.end(), [&](const auto& ring) {
          return std::abs(ring.first - x) < k_upon && std::abs(ring.second - y) < k_upon;
        });
        if (!upon) mark_text(x, y, mark.text);
        rings.emplace_back(x, y);
      }
    }
    m_svg.close_group();
  }

  /// Goes without where there is no room.
  void mark_text(double x, double y, const std::string& text) {
    const double width = text_width(text, 12) + 6;
    const bool leftwards = x + width > k_right;
    const double from = leftwards ? x - width : x;
    for (double below = 18; below <= 18 + 3 * k_row && y + below < m_bottom - 4; below += k_row) {
      if (!m_taken.free(from, from + width, y + below - 12, y + below + 4)) continue;
      m_taken.take(from, from + width, y + below - 12, y + below + 4);
      m_svg.text(leftwards ? x - 3 : x + 3, y + below, text, "steptext halo", leftwards ? "end" : "start");
      return;
    }
  }

  void line_labels() {
    struct Label {
      double x, y;
      std::size_t line;
    };
    std::vector<Label> labels;
    for (std::size_t i = 0; i < m_chart.lines.size(); ++i) {
      const auto& line = m_chart.lines[i];
      if (line.named && !line.points.empty())
        labels.push_back({m_x(line.points.back().x), y_of(line.points.back().y), i});
    }
    std::stable_sort(labels.begin(), labels.end(), [](const auto& a, const auto& b) { return a.y < b.y; });
    std::vector<double> wanted;
    for (const auto& label : labels) wanted.push_back(label.y);
    const double room = m_bottom - m_top - 12;
    const double gap = std::min(k_row, room / static_cast<double>(std::max<std::size_t>(labels.size(), 1)));
    const auto placed = spread_labels(wanted, gap, m_top + 6, m_bottom - 6);
    m_svg.open_group("labels");
    for (std::size_t i = 0; i < labels.size(); ++i) {
      const auto& [x, y, line] = labels[i];
      m_svg.line(x + 5, y, k_right, y, "guide");
      m_svg.line(k_right, y, k_right + 12, placed[i], "guide");
      marker(k_right + 19, placed[i], m_styles[line], 3.2);
      if (gap >= k_row - 4) m_svg.text(k_right + 29, placed[i] + 4, m_chart.lines[line].label, "ink strong");
    }
    m_svg.close_group();
  }

  const LineChart& m_chart;
  std::vector<std::size_t> m_styles;
  std::size_t m_legend_rows = 1;
  std::vector<LegendPlace> m_legend;
  double m_top;
  double m_bottom;
  Svg m_svg;
  LogScale m_x;
  LogScale m_log_y;
  LinearScale m_linear_y;
  Taken m_taken;
};

}  // namespace

Figure line_chart(const LineChart& chart) { return ChartDrawing(chart).draw(); }

}  // namespace gpusonde::report
