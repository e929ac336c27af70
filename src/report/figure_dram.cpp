#include "report/figure_dram.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>

#include "report/columns.hpp"
#include "report/dram_view.hpp"
#include "report/escape.hpp"
#include "report/line_chart.hpp"
#include "report/quantity.hpp"
#include "report/svg.hpp"

namespace gpusonde::report {
namespace {

constexpr double k_width = 960;
constexpr double k_left = 150;
constexpr double k_right = 920;
constexpr double k_top = 76;
constexpr double k_row = 120;
constexpr double k_bars = 84;        // the highest bar of a row
constexpr double k_gap_cycles = 40;  // empty for so long: another heap
constexpr double k_least_heap_share = 0.005;

/// Neighbouring bins.
struct Heap {
  double first_cycles = 0;
  double last_cycles = 0;
  double loads = 0;
  double sum = 0;

  [[nodiscard]] double mean() const { return sum / loads; }
};

std::vector<Heap> heaps_of(const LatencyState& state) {
  std::vector<Heap> heaps;
  for (const auto& [cycles, loads] : state.bins) {
    if (heaps.empty() || cycles - heaps.back().last_cycles > k_gap_cycles) heaps.push_back({cycles, cycles, 0, 0});
    auto& heap = heaps.back();
    heap.last_cycles = cycles;
    heap.loads += loads;
    heap.sum += loads * cycles;
  }
  std::erase_if(heaps, [&](const Heap& heap) { return heap.loads < k_least_heap_share * state.loads; });
  return heaps;
}

double value_of(const Run& run, std::string_view id) {
  const auto* finding = run.finding(id);
  const auto* value = finding != nullptr && finding->value ? std::get_if<double>(&*finding->value) : nullptr;
  return value == nullptr ? 0 : *value;
}

/// What a heap is, by how far it lies from the state's largest: an open row below it, a refresh above it.
std::string heap_name(const Run& run, const LatencyState& state, double above_cycles) {
  if (above_cycles == 0) return state.title;
  const double mhz = run.environment.sm_mhz_measured;
  const auto near = [&](double ns) {
    const double cycles = ns * mhz / 1000;
    return cycles != 0 && std::abs(above_cycles - cycles) < 0.15 * std::abs(cycles);
  };
  if (near(value_of(run, "dram.refresh_stall_ns"))) return "refresh";
  if (near(-value_of(run, "dram.row_miss_extra_ns"))) return "row open by chance";
  return "";
}

class LatencyFigure {
 public:
  LatencyFigure(const Run& run, std::vector<LatencyState> states) : m_run(run), m_states(std::move(states)) {
    m_low = m_states.front().bins.front().first;
    m_high = m_low;
    for (const auto& state : m_states)
      for (const auto& [cycles, loads] : state.bins) {
        m_low = std::min(m_low, cycles);
        // A load that met an interrupt would take all of the axis.
        if (loads > 1) m_high = std::max(m_high, cycles);
      }
    m_low = std::floor(m_low / 100) * 100;
    m_high = std::ceil(m_high / 100) * 100;
  }

  Figure draw() {
    const auto title = fmt::format("{}: readings of single loads from DRAM", device_title(m_run.device));
    const double bottom = k_top + k_row * static_cast<double>(m_states.size());
    Svg svg(k_width, bottom + 48, title, "How many loads took how long, by what they were meant to meet.");
    svg.text(24, 32, title, "ink title");
    svg.text(24, 54, "bars by the square root of their share, so that few loads are seen", "soft");
    for (double cycles = m_low; cycles <= m_high; cycles += tick()) {
      svg.line(x(cycles), k_top, x(cycles), bottom, "grid");
      svg.text(x(cycles), bottom + 18, fmt::format("{:.0f}", cycles), "soft", "middle");
    }
    svg.text((k_left + k_right) / 2, bottom + 40, "cycles of a load, with what reading it adds", "ink", "middle");
    for (std::size_t i = 0; i < m_states.size(); ++i) row(svg, m_states[i], k_top + k_row * static_cast<double>(i + 1));
    return Figure{"dram.latency", title, std::move(svg).finish()};
  }

 private:
  [[nodiscard]] double x(double cycles) const {
    return k_left + (k_right - k_left) * (std::min(cycles, m_high) - m_low) / std::max(1.0, m_high - m_low);
  }
  [[nodiscard]] double tick() const {
    double step = 100;
    while ((m_high - m_low) / step > 10) step *= 2;
    return step;
  }

  void row(Svg& svg, const LatencyState& state, double base) const {
    svg.line(k_left, base, k_right, base, "axis");
    svg.text(k_left - 14, base - 20, state.title, "ink", "end");
    svg.text(k_left - 14, base - 4, fmt::format("{:.0f} loads", state.loads), "soft", "end");
    double most = 0;
    for (const auto& [cycles, loads] : state.bins) most = std::max(most, loads);
    for (const auto& [cycles, loads] : state.bins) {
      const double height = k_bars * std::sqrt(loads / most);
      svg.rect(x(cycles) - 1, base - height, 2, height, "bar");
    }
    const auto heaps = heaps_of(state);
    const auto main =
        std::max_element(heaps.begin(), heaps.end(), [](const Heap& a, const Heap& b) { return a.loads < b.loads; });
    for (const auto& heap : heaps) {
      const auto name = heap_name(m_run, state, &heap == &*main ? 0 : heap.mean() - main->mean());
      svg.text(x(heap.mean()), base - k_bars - 14,
               fmt::format("{}{:.0f} · {:.1f} %", name.empty() || &heap == &*main ? "" : name + " ", heap.mean(),
                           100 * heap.loads / state.loads),
               "ink", "middle");
    }
  }

  const Run& m_run;
  std::vector<LatencyState> m_states;
  double m_low = 0;
  double m_high = 0;
};

}  // namespace

std::optional<Figure> dram_latency_figure(const Run& run) {
  auto states = latency_states(run.measurements);
  std::erase_if(states, [](const LatencyState& state) { return state.bins.empty() || state.loads <= 0; });
  if (states.empty()) return {};
  return LatencyFigure(run, std::move(states)).draw();
}

std::optional<Figure> dram_costs_figure(const Run& run) {
  const auto* table = run.measurements.find("dram.costs");
  if (table == nullptr) return {};
  const auto of = texts(*table, "of");
  const auto series = numbers(*table, "series");
  const auto count = numbers(*table, "count");
  const auto cycles = numbers(*table, "memory_cycles");
  std::map<std::pair<std::string, double>, ChartLine> lines;
  for (std::size_t i = 0; i < std::min({of.size(), series.size(), count.size(), cycles.size()}); ++i) {
    auto& line = lines[{of[i], series[i]}];
    line.label = of[i];
    line.named = series[i] == 0;
    line.points.push_back({count[i], cycles[i], cycles[i], cycles[i]});
  }
  if (lines.empty()) return {};
  LineChart chart;
  chart.name = "dram.costs";
  chart.title = fmt::format("{}: several requests to DRAM at once", device_title(run.device));
  chart.description = "Cycles until the last one has come back, against how many there are.";
  chart.x_title = "requests at once";
  chart.y_title = "cycles until the last has come back";
  chart.line_title = "requests for";
  chart.x_unit = ChartUnit::count;
  chart.y_log = false;
  for (auto& [key, line] : lines) chart.lines.push_back(std::move(line));
  return line_chart(chart);
}

}  // namespace gpusonde::report
