// A map of latencies put together by closed form: SMs alternate between two sides, lines belong to slices by
// a multiplicative hash of their place, and each pair of sides and each slice has its own latency.
#pragma once

#include <cmath>
#include <cstdint>
#include <string>

#include "../survey/run_sample.hpp"

namespace gpusonde::sample {

struct MapShape {
  std::uint64_t sms = 8;
  std::uint64_t lines = 64;
  std::uint64_t slices = 4;  ///< the lower half at home on side 0
};

inline std::uint64_t slice_of(std::uint64_t line, const MapShape& shape) {
  return (line * 0x9e3779b97f4a7c15ULL >> 40) % shape.slices;
}
inline std::uint64_t side_of_sm(std::uint64_t sm) { return sm % 2; }
inline std::uint64_t side_of_slice(std::uint64_t slice, const MapShape& shape) {
  return slice < shape.slices / 2 ? 0 : 1;
}
/// 200 cycles, 80 more on the other side, one more a slice.
inline std::uint64_t map_cycles(std::uint64_t sm, std::uint64_t line, const MapShape& shape) {
  const auto slice = slice_of(line, shape);
  return 200 + (side_of_sm(sm) == side_of_slice(slice, shape) ? 0 : 80) + slice;
}

inline void add_map(Run& run, const MapShape& shape, const std::string& name = "slices.load") {
  auto& table = run.measurements.table(name);
  auto& places = table.make<std::uint64_t>("place_bytes");
  for (std::uint64_t line = 0; line < shape.lines; ++line) places.push_back(128 * line);
  for (std::uint64_t sm = 0; sm < shape.sms; ++sm) {
    auto& readings = table.make<std::uint64_t>("sm_" + std::to_string(sm) + "_eighth_cycles");
    for (std::uint64_t line = 0; line < shape.lines; ++line) readings.push_back(8 * map_cycles(sm, line, shape));
  }
}

inline void add_map_sides(Run& run, const MapShape& shape) {
  auto& lines = run.measurements.table("derived.slices.lines");
  for (std::uint64_t line = 0; line < shape.lines; ++line) {
    const auto slice = slice_of(line, shape);
    lines.make<std::uint64_t>("place_bytes").push_back(128 * line);
    lines.make<double>("slice").push_back(static_cast<double>(slice));
    lines.make<double>("home_side").push_back(static_cast<double>(side_of_slice(slice, shape)));
  }
  auto& sms = run.measurements.table("derived.slices.sms");
  for (std::uint64_t sm = 0; sm < shape.sms; ++sm) {
    sms.make<std::uint64_t>("sm").push_back(sm);
    sms.make<double>("side").push_back(static_cast<double>(side_of_sm(sm)));
    sms.make<double>("mean_cycles").push_back(240);
  }
}

inline Run mapped(const MapShape& shape = {}) {
  Run run;
  run.device.kind = DeviceKind::cuda;
  run.device.name = "Testchip";
  run.environment.sm_mhz_measured = 1980;
  add_map(run, shape);
  add_map_sides(run, shape);
  return run;
}

}  // namespace gpusonde::sample
