#include "report/figure_tlb.hpp"

#include <fmt/format.h>

#include "report/escape.hpp"
#include "report/figure_latency.hpp"
#include "report/line_chart.hpp"
#include "report/quantity.hpp"

namespace gpusonde::report {
namespace {

/// `NVIDIA H200: ` before a title; empty for a table that came without its device.
std::string of_device(const Run& run) { return run.device.name.empty() ? "" : device_title(run.device) + ": "; }

std::string nodes_text(double nodes) {
  return fmt::format("{} {}", plain_number(nodes), nodes == 1 ? "node" : "nodes");
}

/// A step in words: for those who cannot see the picture.
std::string described(const SweepLine& line) {
  std::string out;
  for (const auto& step : line.steps)
    out += fmt::format(" Stride {}: from {} to {} after {}.", quantity(line.stride_bytes, "bytes"),
                       quantity(step.from_cycles, "cycles"), quantity(step.to_cycles, "cycles"),
                       nodes_text(line.points[step.last].nodes));
  return out;
}

LineChart sweep_chart(const SweepView& view, const Run& run, SweepAxis axis) {
  const bool by_nodes = axis == SweepAxis::nodes;
  LineChart chart;
  chart.name = "tlb.sweep." + file_stem(view.policy);
  chart.title = fmt::format("{}TLB sweep, {}", of_device(run), policy_title(view.policy));
  chart.description = fmt::format("Cycles a dependent load takes against the {}, one line a stride.",
                                  by_nodes ? "number of nodes" : "size of the working set");
  chart.note = view.sm_mhz > 0 ? fmt::format("SM {:.0f} MHz", view.sm_mhz) : "";
  chart.x_title = by_nodes ? "nodes: working set / stride" : "working set: nodes × stride";
  chart.y_title = "cycles a load";
  chart.line_title = "stride";
  chart.mark_title = "last before a step";
  chart.x_unit = by_nodes ? ChartUnit::count : ChartUnit::bytes;
  chart.marks_in_common = by_nodes;
  const auto named = named_lines(view.lines);
  for (std::size_t i = 0; i < view.lines.size(); ++i) {
    const auto& line = view.lines[i];
    const auto x = [&](const SweepPoint& point) { return by_nodes ? point.nodes : point.bytes; };
    ChartLine drawn{quantity(line.stride_bytes, "bytes"), named[i], {}, {}, {}};
    for (const auto& point : line.points) drawn.points.push_back({x(point), point.cycles, point.low, point.high});
    for (const auto& step : line.steps) {
      const auto& last = line.points[step.last];
      drawn.marks.push_back(
          {x(last), last.cycles, by_nodes ? plain_number(last.nodes) : quantity(last.bytes, "bytes")});
    }
    if (named[i]) chart.description += described(line);
    chart.lines.push_back(std::move(drawn));
  }
  return chart;
}

}  // namespace

std::vector<Figure> sweep_figures(const Run& run, SweepAxis axis) {
  std::vector<Figure> out;
  for (const auto& view : sweep_views(run.measurements)) out.push_back(line_chart(sweep_chart(view, run, axis)));
  return out;
}

std::optional<Figure> alias_figure(const Run& run) {
  const auto lines = alias_lines(run.measurements);
  if (lines.empty()) return {};
  LineChart chart;
  chart.name = "tlb.alias";
  chart.title = of_device(run).append(k_alias_title);
  chart.description = "Cycles that translation adds to a load against the number of nodes, one line a stride.";
  chart.x_title = "nodes";
  chart.y_title = "cycles added to a load";
  chart.line_title = "stride";
  chart.dashed_title = "predicted";
  chart.x_unit = ChartUnit::count;
  chart.y_log = false;
  const auto named = named_lines(lines);
  for (std::size_t i = 0; i < lines.size(); ++i) {
    ChartLine drawn{quantity(lines[i].stride_bytes, "bytes"), named[i], {}, lines[i].predicted, {}};
    for (const auto& point : lines[i].points)
      drawn.points.push_back({point.nodes, point.cycles, point.low, point.high});
    chart.lines.push_back(std::move(drawn));
  }
  return line_chart(chart);
}

}  // namespace gpusonde::report
