// Latency maps made for tests: slices at known distances from SMs, lines that fall to them at random, noise, and
// readings that came late.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "core/random.hpp"
#include "inference/line_map.hpp"
#include "model/device_model.hpp"
#include "target/sim/slice_distance.hpp"

namespace gpusonde::test {

struct MadeMap {
  LineMap map;
  std::vector<std::size_t> slice;  ///< of each line
};

struct MapShape {
  std::size_t slices = 1;
  std::size_t sms = 1;
  std::size_t lines = 1024;
  double latency_cycles = 300;
  double spread_cycles = 60;  ///< between the nearest and the farthest slice of an SM
  double noise_cycles = 0;
  double late_share = 0;  ///< of readings that come 20 to 400 cycles late
};

/// Centres [slice][sm] of the simulated GPU: SMs and slices along a line, and a part of each slice's own.
inline std::vector<std::vector<double>> simulated_centres(const MapShape& shape, std::uint64_t seed) {
  CacheModel cache;
  cache.slices = static_cast<std::uint32_t>(shape.slices);
  cache.slice_spread_cycles = shape.spread_cycles;
  std::vector<std::vector<double>> centres(shape.slices, std::vector<double>(shape.sms));
  for (std::uint32_t sm = 0; sm < shape.sms; ++sm) {
    const auto distance = sim::slice_distances(cache, sm, seed);
    for (std::size_t k = 0; k < shape.slices; ++k) centres[k][sm] = shape.latency_cycles + distance[k];
  }
  return centres;
}

/// Every SM and slice at a distance of its own.
inline std::vector<std::vector<double>> random_centres(const MapShape& shape, Random& random) {
  std::vector<std::vector<double>> centres(shape.slices, std::vector<double>(shape.sms));
  for (auto& centre : centres)
    for (double& cycles : centre) cycles = shape.latency_cycles + shape.spread_cycles * (random.uniform() - 0.5);
  return centres;
}

inline MadeMap made_map(const MapShape& shape, const std::vector<std::vector<double>>& centres,
                        std::vector<std::size_t> slice_of_line, Random& random) {
  MadeMap made{{shape.sms, slice_of_line.size(), {}}, std::move(slice_of_line)};
  for (std::size_t sm = 0; sm < shape.sms; ++sm)
    for (const std::size_t slice : made.slice) {
      double cycles = centres[slice][sm] + shape.noise_cycles * random.normal();
      if (random.uniform() < shape.late_share) cycles += 20 + 380 * random.uniform();
      made.map.cycles.push_back(static_cast<float>(cycles));
    }
  return made;
}

inline std::vector<std::size_t> random_slices(const MapShape& shape, Random& random) {
  std::vector<std::size_t> slices;
  for (std::size_t i = 0; i < shape.lines; ++i) slices.push_back(static_cast<std::size_t>(random.below(shape.slices)));
  return slices;
}

}  // namespace gpusonde::test
