// What `map` says on a terminal: how latency lies over SMs and lines, small enough for a window.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <map>

#include "report/latency_map.hpp"
#include "report/quantity.hpp"
#include "report/report.hpp"
#include "report/text_page.hpp"
#include "report/text_table.hpp"

namespace gpusonde {
namespace {

using namespace report;

constexpr std::size_t k_most_rows = 40;

/// One character a cell, from few cycles to many.
constexpr std::array<std::string_view, 5> k_shades{" ", "░", "▒", "▓", "█"};
constexpr std::array<std::string_view, 10> k_plain_shades{" ", ".", ":", "-", "=", "+", "*", "#", "%", "@"};
/// Of the 256 colours, those nearest to the figures' shades.
constexpr std::array<int, 11> k_paints{53, 54, 60, 30, 36, 72, 77, 113, 149, 184, 220};

class HeatText {
 public:
  HeatText(const LatencyMap& map, TextPage& page) : m_map(map), m_page(page) {}

  void write() {
    const auto sms =
        bins_of_sms(m_map, k_most_rows - std::min<std::size_t>(sides_of_sms(m_map).size(), k_most_rows / 2));
    label_width();
    // The line between home sides takes a column of its own.
    const auto seams = std::min(sides_of_lines(m_map).size() - 1, m_page.width() / 4);
    const auto lines = bins_of_lines(m_map, m_page.width() - m_label_width - 1 - seams);
    const auto cells = map_cells(m_map, sms, lines);
    m_scale = heat_scale(cells);
    head(lines);
    for (std::size_t row = 0; row < sms.size(); ++row) {
      const auto& first = m_map.sms[sms[row].first];
      if (row > 0 && side_text(first.side) != side_text(m_map.sms[sms[row - 1].first].side)) m_page.blank();
      const bool begins = row == 0 || side_text(first.side) != side_text(m_map.sms[sms[row - 1].first].side);
      row_text(begins ? first.side : 0, begins && m_map.sms_have_sides, first.number, lines, cells[row]);
    }
    m_page.blank();
    legend();
    m_page.indented(what_a_cell_is(sms, lines), k_dim, 0);
  }

 private:
  void label_width() {
    std::uint64_t largest = 0;
    for (const auto& sm : m_map.sms) largest = std::max(largest, sm.number);
    m_number_width = std::max<std::size_t>(fmt::formatted_size("{}", largest), 2);
    m_label_width = (m_map.sms_have_sides ? 8 : 0) + m_number_width;
  }
  [[nodiscard]] static std::string counted(const std::vector<MapBin>& bins, std::string_view noun) {
    const auto [least, most] =
        std::minmax_element(bins.begin(), bins.end(), [](const auto& a, const auto& b) { return a.count < b.count; });
    if (most->count == 1) return fmt::format("1 {}", noun);
    return least->count == most->count ? fmt::format("{} {}s", most->count, noun)
                                       : fmt::format("{} to {} {}s", least->count, most->count, noun);
  }
  [[nodiscard]] std::string what_a_cell_is(const std::vector<MapBin>& sms, const std::vector<MapBin>& lines) const {
    const bool single = sms.size() == m_map.sms.size() && lines.size() == m_map.lines.size();
    const bool ordered = m_map.sms_have_sides || m_map.lines_have_sides || m_map.lines_have_slices;
    return fmt::format("a cell is {}{} by {}{}", single ? "" : "the mean of ", counted(sms, "SM"),
                       counted(lines, "line"), ordered ? "" : ", in the order measured");
  }
  [[nodiscard]] bool side_ends_before(const std::vector<MapBin>& lines, std::size_t column) const {
    return column > 0 && side_text(m_map.lines[lines[column].first].home_side) !=
                             side_text(m_map.lines[lines[column - 1].first].home_side);
  }

  /// The home sides over their columns.
  void head(const std::vector<MapBin>& lines) {
    if (!m_map.lines_have_sides) return;
    std::string text = fmt::format("{:>{}} ", "SM", m_label_width);
    for (std::size_t column = 0, end = 0; column < lines.size(); column = end) {
      end = column + 1;
      while (end < lines.size() && !side_ends_before(lines, end)) ++end;
      const auto side = side_text(m_map.lines[lines[column].first].home_side);
      auto label = "at home on side " + side;
      if (label.size() > end - column) label = side;
      text += fmt::format("{}{:<{}}", column > 0 ? "│" : "", label, end - column);
    }
    text.erase(text.find_last_not_of(' ') + 1);
    m_page.line(text, k_dim);
  }

  void row_text(double side, bool with_side, std::uint64_t number, const std::vector<MapBin>& lines,
                const std::vector<double>& cells) {
    std::string text;
    if (m_map.sms_have_sides) text += fmt::format("{:<8}", with_side ? "side " + side_text(side) : "");
    text += fmt::format("{:>{}} ", number, m_number_width);
    for (std::size_t column = 0; column < cells.size(); ++column) {
      if (side_ends_before(lines, column)) text += reset() + (m_page.style().unicode ? "│" : "|");
      text += cell(cells[column]);
    }
    text += reset();
    m_page.raw_line(text);
  }

  /// One cell; a colour stays until another is asked for.
  std::string cell(double cycles) {
    if (std::isnan(cycles)) return reset() + "?";
    const auto& style = m_page.style();
    if (style.color) {
      const int paint = k_paints[m_scale.shade(cycles, k_paints.size())];
      if (paint == m_paint) return " ";
      m_paint = paint;
      return fmt::format("\x1b[48;5;{}m ", paint);
    }
    return std::string(style.unicode ? k_shades[m_scale.shade(cycles, k_shades.size())]
                                     : k_plain_shades[m_scale.shade(cycles, k_plain_shades.size())]);
  }
  std::string reset() {
    if (m_paint < 0) return {};
    m_paint = -1;
    return "\x1b[0m";
  }

  void legend() {
    const auto steps = m_page.style().color     ? k_paints.size()
                       : m_page.style().unicode ? k_shades.size()
                                                : k_plain_shades.size();
    std::string ramp;
    for (std::size_t step = 0; step < steps; ++step)
      ramp += cell(m_scale.low +
                   (m_scale.high - m_scale.low) * (static_cast<double>(step) + 0.5) / static_cast<double>(steps));
    ramp += reset();
    const auto low = fmt::format("{}{:.1f}", m_scale.below ? "≤ " : "", m_scale.low);
    const auto high = fmt::format("{}{:.1f}", m_scale.above ? "≥ " : "", m_scale.high);
    if (m_scale.high <= m_scale.low) return m_page.line(low + " cycles everywhere");
    m_page.raw_line(m_page.shown(low + " [") + ramp + m_page.shown("] " + high + " cycles"));
  }

  const LatencyMap& m_map;
  TextPage& m_page;
  HeatScale m_scale;
  std::size_t m_number_width = 0;
  std::size_t m_label_width = 0;
  int m_paint = -1;  ///< colour that the terminal is set to; -1: none
};

/// `2 sides of SMs: 66 + 66`, in the order of sides; empty where none is known.
std::string sides_part(const std::vector<MapBin>& sides, bool known, std::string_view noun) {
  if (!known) return {};
  std::string out = fmt::format("{} by side:", noun);
  for (std::size_t i = 0; i < sides.size(); ++i) out += fmt::format("{}{}", i == 0 ? " " : " + ", sides[i].count);
  return out;
}

std::string slices_part(const LatencyMap& map) {
  if (!map.lines_have_slices) return {};
  std::map<double, std::size_t> lines_of;
  std::size_t unclear = 0;
  for (const auto& line : map.lines) {
    if (std::isnan(line.slice))
      ++unclear;
    else
      ++lines_of[line.slice];
  }
  const auto [least, most] = std::minmax_element(lines_of.begin(), lines_of.end(),
                                                 [](const auto& a, const auto& b) { return a.second < b.second; });
  auto out = fmt::format("{} slice{} of {}", lines_of.size(), lines_of.size() == 1 ? "" : "s", least->second);
  if (most->second != least->second) out += fmt::format(" to {}", most->second);
  out += " lines";
  if (unclear > 0) out += fmt::format(", {} in no clear slice", unclear);
  return out;
}

void add_counts(TextPage& page, const LatencyMap& map, std::string_view before) {
  page.paragraph({fmt::format("{}{} SM{} × {} line{}", before, map.sms.size(), map.sms.size() == 1 ? "" : "s",
                              map.lines.size(), map.lines.size() == 1 ? "" : "s"),
                  fmt::format("{:.1f} to {:.1f} cycles", map.least_cycles, map.most_cycles),
                  fmt::format("mean {:.1f}", map.mean_cycles)});
}

}  // namespace

std::string map_text(const Run& run, const TextStyle& style) {
  TextPage page(style);
  add_device_line(page, run);
  const auto loads = latency_map(run.measurements, "slices.load");
  const auto atomics = latency_map(run.measurements, "slices.atomic");
  if (loads) add_counts(page, *loads, "");
  if (atomics) add_counts(page, *atomics, "atomics: ");
  const auto& shown = loads ? loads : atomics;
  if (!shown) {
    page.line("nothing was measured");
    return std::move(page).finish();
  }
  const auto parts = std::vector<std::string>{slices_part(*shown),
                                              sides_part(sides_of_lines(*shown), shown->lines_have_sides, "lines"),
                                              sides_part(sides_of_sms(*shown), shown->sms_have_sides, "SMs")};
  const bool told = std::any_of(parts.begin(), parts.end(), [](const auto& part) { return !part.empty(); });
  if (told)
    page.paragraph(parts);
  else
    page.line("neither slices nor sides are known");
  page.blank();
  HeatText(*shown, page).write();
  return std::move(page).finish();
}

}  // namespace gpusonde
