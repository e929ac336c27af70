// Latency against bandwidth, as more and more loads are under way.
#pragma once

#include <optional>
#include <span>

namespace gpusonde {

/// One point: so many bytes under way at a time.
struct LoadPoint {
  double bytes_under_way = 0;
  double latency_cycles = 0;
  double bytes_per_cycle = 0;

  /// Little's law says 1: bytes under way are bandwidth times latency.
  [[nodiscard]] double little() const noexcept { return bytes_per_cycle * latency_cycles / bytes_under_way; }
};

/// Latency at the knee, in units of the idle one.
inline constexpr double k_knee_factor = 1.5;

/// Where latency first reaches `k_knee_factor` times `idle_cycles`, linearly between the points on either side; nothing
/// when it never does, or does so at the first point. Points ascend by bytes under way.
[[nodiscard]] std::optional<LoadPoint> knee_of(std::span<const LoadPoint> points, double idle_cycles);

}  // namespace gpusonde
