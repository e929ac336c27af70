#include "report/dram_view.hpp"

#include <algorithm>

#include "report/columns.hpp"

namespace gpusonde::report {
namespace {

double quantile(const LatencyState& state, double share) {
  double seen = 0;
  for (const auto& [cycles, loads] : state.bins) {
    seen += loads;
    if (seen >= share * state.loads) return cycles;
  }
  return state.bins.empty() ? 0 : state.bins.back().first;
}

}  // namespace

std::vector<LatencyState> latency_states(const Measurements& measurements) {
  std::vector<LatencyState> states;
  const auto* table = measurements.find("dram.latency");
  if (table == nullptr) return states;
  const auto titles = texts(*table, "state");
  const auto cycles = numbers(*table, "latency_cycles");
  const auto loads = numbers(*table, "loads");
  for (std::size_t i = 0; i < std::min({titles.size(), cycles.size(), loads.size()}); ++i) {
    auto state = std::find_if(states.begin(), states.end(), [&](const auto& s) { return s.title == titles[i]; });
    if (state == states.end()) state = states.insert(states.end(), LatencyState{titles[i], {}, 0, 0, 0, 0});
    state->bins.emplace_back(cycles[i], loads[i]);
    state->loads += loads[i];
  }
  for (auto& state : states) {
    std::sort(state.bins.begin(), state.bins.end());
    state.peak_cycles = quantile(state, 0.5);
    state.low_cycles = quantile(state, 0.05);
    state.high_cycles = quantile(state, 0.95);
  }
  return states;
}

}  // namespace gpusonde::report
