#include "report/figure_loads.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "report/columns.hpp"
#include "report/line_chart.hpp"
#include "report/quantity.hpp"
#include "report/svg.hpp"

namespace gpusonde::report {
namespace {

constexpr double k_width = 960;
constexpr double k_left = 150;
constexpr double k_right = 800;
constexpr double k_first_row = 64;
constexpr double k_row = 26;

struct Bar {
  std::string title;
  double value = 0;
  std::optional<Interval> interval;
};

std::vector<Bar> bars_of(const Run& run) {
  constexpr std::string_view prefix = "bandwidth.";
  std::vector<Bar> bars;
  for (const auto& finding : run.findings) {
    const auto* value = finding.value ? std::get_if<double>(&*finding.value) : nullptr;
    if (value == nullptr || !finding.id.starts_with(prefix)) continue;
    const auto name = finding.id.substr(prefix.size());
    const auto dot = std::min(name.find('.'), name.size());
    const auto level = name.substr(0, dot);
    bars.push_back({fmt::format("{} {}", level == "shared" ? level : level_title(level),
                                dot < name.size() ? name.substr(dot + 1) : ""),
                    *value, finding.interval});
  }
  return bars;
}

const double* number(const Run& run, const std::string& id) {
  const auto* finding = run.finding(id);
  return finding == nullptr || !finding->value ? nullptr : std::get_if<double>(&*finding->value);
}

}  // namespace

std::optional<Figure> bandwidth_figure(const Run& run) {
  const auto bars = bars_of(run);
  double largest = 0;
  for (const auto& bar : bars) largest = std::max(largest, bar.value);
  if (!(largest > 0)) return {};
  const auto x = [&](double value) { return k_left + (k_right - k_left) * value / largest; };
  const double bottom = k_first_row + k_row * static_cast<double>(bars.size()) + 4;
  const auto title = fmt::format("{}: bandwidth of all SMs", device_title(run.device));
  Svg svg(k_width, bottom + 24, title, "Bytes a second that all SMs together read, write and copy, by level.");
  svg.text(24, 32, title, "ink title");
  svg.line(k_left, k_first_row, k_left, bottom, "axis");
  for (std::size_t row = 0; row < bars.size(); ++row) {
    const auto& bar = bars[row];
    const double top = k_first_row + 4 + k_row * static_cast<double>(row);
    svg.text(k_left - 14, top + 14, bar.title, "ink", "end");
    svg.rect(k_left, top, x(bar.value) - k_left, k_row - 8, "bar", 2);
    if (bar.interval && bar.interval->high > bar.interval->low)
      svg.line(x(std::max(0.0, bar.interval->low)), top + 9, std::min(x(bar.interval->high), k_right + 20), top + 9,
               "edge");
    svg.text(std::max(x(bar.value), bar.interval ? std::min(x(bar.interval->high), k_right + 20) : 0) + 8, top + 14,
             quantity(bar.value, "bytes/s"), "ink strong");
  }
  return Figure{"bandwidth", title, std::move(svg).finish()};
}

std::optional<Figure> load_figure(const Run& run) {
  const auto* table = run.measurements.find("derived.load.curve");
  if (table == nullptr) return {};
  const auto levels = texts(*table, "level");
  const auto cycles = numbers(*table, "latency_cycles");
  const auto rates = numbers(*table, "bytes_per_second");
  const auto rows = std::min({levels.size(), cycles.size(), rates.size()});
  LineChart chart;
  chart.name = "load.curve";
  chart.title = fmt::format("{}: latency against bandwidth", device_title(run.device));
  chart.description = "Cycles that a load of a whole line takes against the bandwidth of all loads under way.";
  chart.x_title = "GB/s of whole lines at random, all SMs";
  chart.y_title = "cycles a load";
  chart.line_title = "level";
  chart.mark_title = "knee: 1.5 times the idle latency";
  chart.x_unit = ChartUnit::count;
  for (const std::string level : {"l2", "dram"}) {
    ChartLine line{level_title(level), true, {}, {}, {}};
    for (std::size_t row = 0; row < rows; ++row)
      if (levels[row] == level && rates[row] > 0 && cycles[row] > 0)
        line.points.push_back({rates[row] / 1e9, cycles[row], cycles[row], cycles[row]});
    if (line.points.empty()) continue;
    const auto* knee = number(run, fmt::format("load.{}.knee", level));
    const auto* idle = number(run, fmt::format("load.{}.idle_latency", level));
    if (knee != nullptr && idle != nullptr && *knee > 0)
      line.marks.push_back({*knee / 1e9, 1.5 * *idle, quantity(*knee, "bytes/s")});
    chart.lines.push_back(std::move(line));
  }
  if (chart.lines.empty()) return {};
  return line_chart(chart);
}

}  // namespace gpusonde::report
