#include "target/sim/slice_distance.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "core/random.hpp"

namespace gpusonde::sim {

std::vector<double> slice_distances(const CacheModel& cache, std::uint32_t sm, std::uint64_t seed) {
  std::vector<double> distance(cache.slices, 0.0);
  if (cache.slices < 2 || cache.slice_spread_cycles == 0) return distance;
  const Random random(seed);
  const double sm_place = random.fork(2 * std::uint64_t{sm}).uniform();
  for (std::uint32_t slice = 0; slice < cache.slices; ++slice) {
    Random own = random.fork(2 * std::uint64_t{slice} + 1);
    const double slice_place = own.uniform();
    const double slice_part = own.uniform() - 0.5;
    distance[slice] = std::abs(sm_place - slice_place) + 0.5 * slice_part;
  }
  const double mean = std::accumulate(distance.begin(), distance.end(), 0.0) / cache.slices;
  double largest = 0;
  for (double& d : distance) largest = std::max(largest, std::abs(d -= mean));
  if (largest == 0) return distance;
  for (double& d : distance) d *= cache.slice_spread_cycles / 2 / largest;
  return distance;
}

}  // namespace gpusonde::sim
