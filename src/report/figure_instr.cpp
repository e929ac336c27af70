#include "report/figure_instr.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "report/columns.hpp"
#include "report/line_chart.hpp"
#include "report/quantity.hpp"

namespace gpusonde::report {

std::optional<Figure> intervals_figure(const Run& run) {
  const auto* table = run.measurements.find("derived.instr.intervals");
  if (table == nullptr) return {};
  const auto names = texts(*table, "operation");
  const auto chains = numbers(*table, "chains");
  const auto cycles = numbers(*table, "cycles");
  const auto low = numbers(*table, "low_cycles");
  const auto high = numbers(*table, "high_cycles");
  LineChart chart;
  chart.name = "instr.intervals";
  chart.title = fmt::format("{}: {}", device_title(run.device), k_intervals_heading);
  chart.description =
      "Cycles of an operation of one warp against the number of independent chains, one line an operation.";
  chart.note = run.environment.sm_mhz_measured > 0 ? fmt::format("SM {:.0f} MHz", run.environment.sm_mhz_measured) : "";
  chart.x_title = "independent chains of one warp";
  chart.y_title = "cycles an operation";
  chart.line_title = "operation";
  chart.x_unit = ChartUnit::count;
  for (std::size_t row = 0; row < std::min({names.size(), chains.size(), cycles.size(), low.size(), high.size()});
       ++row) {
    if (!(cycles[row] > 0) || !(low[row] > 0) || !(chains[row] > 0)) continue;
    if (chart.lines.empty() || chart.lines.back().label != names[row])
      chart.lines.push_back({names[row], true, {}, {}, {}});
    chart.lines.back().points.push_back({chains[row], cycles[row], low[row], high[row]});
  }
  if (chart.lines.empty()) return {};
  return line_chart(chart);
}

}  // namespace gpusonde::report
