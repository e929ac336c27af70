// The readings of single loads from DRAM, by what they met.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "gpusonde/run.hpp"

namespace gpusonde::report {

/// Loads that were meant to meet the same.
struct LatencyState {
  std::string title;                            ///< `row open`, `row to be opened`, `no translation`
  std::vector<std::pair<double, double>> bins;  ///< cycles and loads, ascending
  double loads = 0;
  double peak_cycles = 0;  ///< median
  double low_cycles = 0;   ///< 5 % are below
  double high_cycles = 0;  ///< 5 % are above
};
[[nodiscard]] std::vector<LatencyState> latency_states(const Measurements& measurements);

}  // namespace gpusonde::report
