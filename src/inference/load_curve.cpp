#include "inference/load_curve.hpp"

namespace gpusonde {

std::optional<LoadPoint> knee_of(std::span<const LoadPoint> points, double idle_cycles) {
  const double wanted = k_knee_factor * idle_cycles;
  for (std::size_t i = 1; i < points.size(); ++i) {
    const auto& before = points[i - 1];
    const auto& after = points[i];
    if (before.latency_cycles >= wanted) return std::nullopt;
    if (after.latency_cycles < wanted) continue;
    const double part = (wanted - before.latency_cycles) / (after.latency_cycles - before.latency_cycles);
    const double rate = before.bytes_per_cycle() + part * (after.bytes_per_cycle() - before.bytes_per_cycle());
    const double over_all =
        before.over_all_bytes_per_cycle + part * (after.over_all_bytes_per_cycle - before.over_all_bytes_per_cycle);
    return LoadPoint{rate * wanted, wanted, over_all};
  }
  return std::nullopt;
}

}  // namespace gpusonde
