// What Nsight Compute's command line prints with --csv: counters of kernels, launch by launch.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "gpusonde/error.hpp"

namespace gpusonde {

/// One launch: its counters by name.
struct CountedLaunch {
  std::vector<std::pair<std::string, double>> counters;

  [[nodiscard]] const double* find(std::string_view counter) const noexcept;
};

/// The launches of kernels whose names begin with `kernel`, in order. The text may hold other lines around the table.
/// Errors: unsupported: counters forbidden to this user, or no such table, with the remedy or with what was read.
[[nodiscard]] Result<std::vector<CountedLaunch>> parse_ncu_csv(std::string_view text, std::string_view kernel);

/// What one more load adds to a counter, from two launches that differ in how many loads there are.
/// Errors: unsupported, where a launch or the counter is missing.
[[nodiscard]] Result<double> counter_slope(const std::vector<CountedLaunch>& launches, std::string_view counter,
                                           double further_loads);

}  // namespace gpusonde
