// Refresh of DRAM: loads that come late, how many, by how much, and how regularly.
#pragma once

#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "inference/estimate.hpp"

namespace gpusonde {

/// Loads by how much later than usual they came: cycles and how many, in any order.
using LateHistogram = std::vector<std::pair<double, std::uint64_t>>;

/// How long a load waits that meets a refresh: always as long, or until the refresh is over.
enum class LateKind : std::uint8_t { none, fixed, rest };

struct LateLoads {
  LateKind kind = LateKind::none;
  Estimate fraction;      ///< of loads
  Estimate stall_cycles;  ///< that such a load waits, at most
  double cut_cycles = 0;  ///< a load that is later than this waited; 0: none stands out
};
/// Waits of one length stand apart from the rest; waits for what is left of a refresh are spread evenly up to its
/// length.
[[nodiscard]] LateLoads late_loads(const LateHistogram& loads);

/// The period of events, in the unit of their times. `events`: when late loads of one line began; `all`: when any of
/// its loads began, which must not have that period. Both ascending.
[[nodiscard]] Estimate event_period(std::span<const double> events, std::span<const double> all, double shortest,
                                    double longest);

}  // namespace gpusonde
