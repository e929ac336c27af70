// Latency against bandwidth, as more and more loads are under way.
#pragma once

#include <optional>
#include <span>

namespace gpusonde {

/// One point: so many bytes under way at a time, each for a mean latency, which by Little's law makes a bandwidth while
/// all are under way; and what was moved over the whole time, at whose end some are alone.
struct LoadPoint {
  double bytes_under_way = 0;
  double latency_cycles = 0;
  double over_all_bytes_per_cycle = 0;

  [[nodiscard]] double bytes_per_cycle() const noexcept { return bytes_under_way / latency_cycles; }
  /// 1 when all begin and end together.
  [[nodiscard]] double together() const noexcept { return over_all_bytes_per_cycle / bytes_per_cycle(); }
};

/// Latency at the knee, in units of the idle one.
inline constexpr double k_knee_factor = 1.5;

/// Where latency first reaches `k_knee_factor` times `idle_cycles`, linearly between the points on either side; nothing
/// when it never does, or does so at the first point. Points ascend by bytes under way.
[[nodiscard]] std::optional<LoadPoint> knee_of(std::span<const LoadPoint> points, double idle_cycles);

}  // namespace gpusonde
