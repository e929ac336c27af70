// A heat map. Each shade is one path of all its cells, in units of cells and stretched by the group around it: a
// picture of 144 SMs by 300 columns stays below 300 KB whatever it shows.
#include "report/figure_map.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <iterator>
#include <limits>

#include "report/columns.hpp"
#include "report/latency_map.hpp"
#include "report/quantity.hpp"
#include "report/svg.hpp"

namespace gpusonde::report {
namespace {

constexpr double k_width = 960;
constexpr double k_left = 104;
constexpr double k_right = 936;
constexpr double k_top = 118;
constexpr std::size_t k_most_columns = 300;
constexpr double k_swatch = 13;

/// Runs of one shade, left to right and top to bottom: each a move from where the last ended, and a stroke as
/// thick as a row.
class ShadePath {
 public:
  void add(std::size_t row, std::size_t from, std::size_t cells) {
    const auto x = static_cast<std::ptrdiff_t>(from), y = static_cast<std::ptrdiff_t>(row);
    auto to = std::back_inserter(m_data);
    if (m_data.empty())
      fmt::format_to(to, "M{} {}.5h{}", x, y, cells);
    else
      fmt::format_to(to, "m{}{}{}h{}", x - m_x, y < m_y ? "" : " ", y - m_y, cells);
    m_x = x + static_cast<std::ptrdiff_t>(cells);
    m_y = y;
    m_cells += cells;
  }
  [[nodiscard]] const std::string& data() const noexcept { return m_data; }
  [[nodiscard]] std::size_t cells() const noexcept { return m_cells; }

 private:
  std::string m_data;
  std::ptrdiff_t m_x = 0;
  std::ptrdiff_t m_y = 0;
  std::size_t m_cells = 0;
};

/// What rows and columns are.
struct MapWords {
  std::string_view row = "SM";
  std::string_view column = "line";
  std::string_view rows_title = "SMs, in the order measured";
  std::string_view columns_title = "lines, in the order measured";
};

class MapFigure {
 public:
  MapFigure(const LatencyMap& map, std::string name, const std::string& title, const MapWords& words = {})
      : m_map(map),
        m_words(words),
        m_name(std::move(name)),
        m_title(title),
        m_bins(bins_of_lines(map, k_most_columns)),
        m_cells(map_cells(map, bins_within({{0, map.sms.size()}}, map.sms.size()), m_bins)),
        m_scale(heat_scale(m_cells)),
        m_row_height(std::clamp(std::floor(460 / static_cast<double>(map.sms.size())), 2.0, 20.0)),
        m_column_width((k_right - k_left) / static_cast<double>(m_bins.size())),
        m_bottom(k_top + m_row_height * static_cast<double>(map.sms.size())),
        m_svg(k_width, m_bottom + 76, title, described()) {}

  Figure draw() && {
    m_svg.text(24, 32, m_title, "ink title");
    m_svg.text(24, 58, counts(), "ink");
    m_svg.text(24, 76, column_note(), "soft");
    legend();
    shades();
    separators();
    line_axis();
    sm_axis();
    return {m_name, m_title, std::move(m_svg).finish()};
  }

 private:
  [[nodiscard]] std::string counts() const {
    return fmt::format("{} {}{} × {} {}{} · {:.1f} to {:.1f} cycles, mean {:.1f}", m_map.sms.size(), m_words.row,
                       m_map.sms.size() == 1 ? "" : "s", m_map.lines.size(), m_words.column,
                       m_map.lines.size() == 1 ? "" : "s", m_map.least_cycles, m_map.most_cycles, m_map.mean_cycles);
  }
  [[nodiscard]] std::string described() const {
    return fmt::format("Cycles that a load takes, a row {} {} and a column a {}: {}.", m_words.row == "SM" ? "an" : "a",
                       m_words.row, m_words.column, counts());
  }
  [[nodiscard]] bool within_slices() const {
    return m_map.lines_have_slices && slices_of_lines(m_map).size() <= k_most_columns;
  }
  [[nodiscard]] std::string column_note() const {
    const auto [least, most] = std::minmax_element(m_bins.begin(), m_bins.end(),
                                                   [](const auto& a, const auto& b) { return a.count < b.count; });
    if (most->count == 1) return fmt::format("a column is a {}", m_words.column);
    const auto lines = least->count == most->count ? fmt::format("{}", most->count)
                                                   : fmt::format("{} to {}", least->count, most->count);
    return fmt::format("a column is the mean of {} lines{}", lines, within_slices() ? " of a slice" : "");
  }

  /// Where an element of an axis begins on it; bins never reach over the ends of the groups asked for.
  [[nodiscard]] double x_of(std::size_t line) const {
    const auto bin = std::lower_bound(m_bins.begin(), m_bins.end(), line,
                                      [](const MapBin& each, std::size_t wanted) { return each.first < wanted; });
    return k_left + m_column_width * static_cast<double>(bin - m_bins.begin());
  }
  [[nodiscard]] double y_of(std::size_t sm) const { return k_top + m_row_height * static_cast<double>(sm); }

  void legend() {
    const double left = k_right - k_swatch * k_heat_shades;
    for (std::size_t shade = 0; shade < k_heat_shades; ++shade)
      m_svg.rect(left + k_swatch * static_cast<double>(shade), 48, k_swatch, 12, fmt::format("heat h{}", shade));
    const auto label = [&](double x, double cycles, std::string_view before, std::string_view anchor) {
      m_svg.text(x, 76, fmt::format("{}{:.1f}", before, cycles), "soft", anchor);
    };
    m_svg.text(left - 10, 58, "cycles", "ink", "end");
    label(left, m_scale.low, m_scale.below ? "≤ " : "", "start");
    if (m_scale.high <= m_scale.low) return;
    label((left + k_right) / 2, (m_scale.low + m_scale.high) / 2, "", "middle");
    label(k_right, m_scale.high, m_scale.above ? "≥ " : "", "end");
  }

  void shades() {
    constexpr std::size_t nothing_read = k_heat_shades;
    std::array<ShadePath, k_heat_shades + 1> paths;
    const auto shade = [&](double cycles) {
      return std::isnan(cycles) ? nothing_read : m_scale.shade(cycles, k_heat_shades);
    };
    for (std::size_t row = 0; row < m_cells.size(); ++row) {
      const auto& cells = m_cells[row];
      for (std::size_t from = 0, to = 0; from < cells.size(); from = to) {
        const auto of_run = shade(cells[from]);
        while (to < cells.size() && shade(cells[to]) == of_run) ++to;
        paths[of_run].add(row, from, to - from);
      }
    }
    // What is there most is the ground of the others.
    const auto most = std::max_element(paths.begin(), paths.end(),
                                       [](const auto& a, const auto& b) { return a.cells() < b.cells(); });
    const auto css = [&](std::size_t of) { return of == nothing_read ? "heat void" : fmt::format("heat h{}", of); };
    m_svg.rect(k_left, k_top, k_right - k_left, m_bottom - k_top, css(static_cast<std::size_t>(most - paths.begin())));
    m_svg.open_scaled(k_left, k_top, m_column_width, m_row_height);
    for (std::size_t of = 0; of < paths.size(); ++of)
      if (paths[of].cells() > 0 && &paths[of] != &*most) m_svg.path(paths[of].data(), css(of));
    m_svg.close_group();
  }

  void separators() {
    const auto slices = slices_of_lines(m_map);
    const bool room = (k_right - k_left) / static_cast<double>(slices.size()) >= 4;
    if (within_slices() && room)
      for (std::size_t i = 1; i < slices.size(); ++i) vertical(slices[i].first, "seam");
    for (const auto& side : sides_of_lines(m_map))
      if (side.first > 0) vertical(side.first, "seam wide");
    for (const auto& side : sides_of_sms(m_map))
      if (side.first > 0) m_svg.line(k_left, y_of(side.first), k_right, y_of(side.first), "seam wide");
  }
  void vertical(std::size_t line, std::string_view css) { m_svg.line(x_of(line), k_top, x_of(line), m_bottom, css); }

  /// Numbers of slices where there is room, sides below them.
  void line_axis() {
    if (within_slices()) {
      double free_from = k_left - 20;
      for (const auto& slice : slices_of_lines(m_map)) {
        const auto number = side_text(m_map.lines[slice.first].slice);
        const double middle = (x_of(slice.first) + x_of(slice.first + slice.count)) / 2;
        const double half = text_width(number, 12) / 2;
        if (middle - half < free_from) continue;
        m_svg.text(middle, m_bottom + 16, number, "soft", "middle");
        free_from = middle + half + 6;
      }
      m_svg.text(k_left - 10, m_bottom + 16, "slice", "soft", "end");
    }
    if (m_map.lines_have_sides) {
      double free_from = k_left - 20;
      for (const auto& side : sides_of_lines(m_map)) {
        const auto name = side_text(m_map.lines[side.first].home_side);
        const double room = x_of(side.first + side.count) - x_of(side.first);
        const auto whole = "at home on side " + name;
        const auto& label = text_width(whole, 12) <= room ? whole : name;
        const double half = text_width(label, 12) / 2;
        const double middle =
            std::clamp((x_of(side.first) + x_of(side.first + side.count)) / 2, k_left + half, k_right - half);
        if (middle - half < free_from) continue;
        m_svg.text(middle, m_bottom + 36, label, "ink strong", "middle");
        free_from = middle + half + 6;
      }
    }
    m_svg.text((k_left + k_right) / 2,
               m_bottom + (m_map.lines_have_sides ? 60
                           : within_slices()      ? 44
                                                  : 26),
               m_map.lines_have_sides    ? "lines, by the side they are at home on, slice and place"
               : m_map.lines_have_slices ? "lines, by slice and place"
                                         : m_words.columns_title,
               "ink", "middle");
  }

  void sm_axis() {
    double free_from = 0;
    for (std::size_t row = 0; row < m_map.sms.size(); ++row) {
      const double middle = y_of(row) + m_row_height / 2;
      if (middle < free_from) continue;
      m_svg.text(k_left - 10, middle + 4, fmt::format("{}", m_map.sms[row].number), "soft", "end");
      free_from = middle + 13;
    }
    const double middle = (k_top + m_bottom) / 2;
    m_svg.text(k_left - 10, k_top - 10, m_words.row, "soft", "end");
    m_svg.text_upwards(28, middle, m_map.sms_have_sides ? "SMs, by side" : m_words.rows_title, "ink");
    if (!m_map.sms_have_sides) return;
    for (const auto& side : sides_of_sms(m_map)) {
      const auto label = fmt::format("side {}", side_text(m_map.sms[side.first].side));
      const double room = m_row_height * static_cast<double>(side.count);
      if (text_width(label, 12) > room) continue;
      m_svg.text_upwards(56, y_of(side.first) + room / 2, label, "ink strong");
    }
  }

  const LatencyMap& m_map;
  MapWords m_words;
  std::string m_name;
  std::string m_title;
  std::vector<MapBin> m_bins;
  std::vector<std::vector<double>> m_cells;
  HeatScale m_scale;
  double m_row_height;
  double m_column_width;
  double m_bottom;
  Svg m_svg;
};

std::optional<Figure> map_figure(const Run& run, std::string_view table, std::string name, std::string_view heading) {
  const auto map = latency_map(run.measurements, table);
  if (!map) return {};
  return MapFigure(*map, std::move(name), fmt::format("{}: {}", device_title(run.device), heading)).draw();
}

/// Blocks by blocks: means over launches. Nothing without the table.
std::optional<LatencyMap> cluster_map(const Measurements& measurements) {
  const auto* table = measurements.find("memories.cluster");
  if (table == nullptr) return {};
  const auto from = numbers(*table, "from_block");
  const auto to = numbers(*table, "to_block");
  const auto cycles = numbers(*table, "cycles_per_access");
  const auto rows = std::min({from.size(), to.size(), cycles.size()});
  if (rows == 0) return {};
  const auto blocks = static_cast<std::size_t>(*std::max_element(to.begin(), to.end())) + 1;
  if (blocks > 64) return {};  // no cluster is so large
  std::vector<double> sums(blocks * blocks, 0), counts(blocks * blocks, 0);
  LatencyMap map;
  map.least_cycles = map.most_cycles = cycles.front();
  for (std::size_t row = 0; row < rows; ++row) {
    if (from[row] < 0 || to[row] < 0 || static_cast<std::size_t>(from[row]) >= blocks) return {};
    const auto cell = static_cast<std::size_t>(from[row]) * blocks + static_cast<std::size_t>(to[row]);
    sums[cell] += cycles[row];
    counts[cell] += 1;
    map.least_cycles = std::min(map.least_cycles, cycles[row]);
    map.most_cycles = std::max(map.most_cycles, cycles[row]);
    map.mean_cycles += cycles[row] / static_cast<double>(rows);
  }
  constexpr double unknown = std::numeric_limits<double>::quiet_NaN();
  for (std::size_t block = 0; block < blocks; ++block) {
    map.sms.push_back({block, unknown, {}});
    map.lines.push_back({block, 128 * block, unknown, unknown});
    for (std::size_t other = 0; other < blocks; ++other)
      map.sms.back().eighth_cycles.push_back(8 * sums[block * blocks + other] / counts[block * blocks + other]);
  }
  return map;
}

}  // namespace

std::optional<Figure> cluster_map_figure(const Run& run) {
  const auto map = cluster_map(run.measurements);
  if (!map) return {};
  const MapWords words{"block", "block", "block that loads", "block whose shared memory is loaded"};
  return MapFigure(*map, "memories.cluster", fmt::format("{}: {}", device_title(run.device), k_cluster_map_heading),
                   words)
      .draw();
}

std::optional<Figure> load_map_figure(const Run& run) {
  return map_figure(run, "slices.load", "slices.map", k_map_heading);
}

std::optional<Figure> atomic_map_figure(const Run& run) {
  // With one side it is the map of loads over again.
  if (const auto* sides = run.finding("l2.partitions"); sides != nullptr && sides->value)
    if (const auto* count = std::get_if<double>(&*sides->value); count != nullptr && *count == 1) return std::nullopt;
  return map_figure(run, "slices.atomic", "slices.atomic", k_atomic_map_heading);
}

}  // namespace gpusonde::report
