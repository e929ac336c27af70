#include "target/sim/slice_distance.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <set>

#include "small_model.hpp"

namespace gpusonde {
namespace {

CacheModel sliced(std::uint32_t slices, double spread) {
  CacheModel cache;
  cache.slices = slices;
  cache.slice_spread_cycles = spread;
  return cache;
}

TEST(SliceDistance, HasMeanZeroAndHalfTheSpreadForEverySm) {
  const auto cache = sliced(36, 60);
  for (std::uint32_t sm = 0; sm < 128; ++sm) {
    const auto distances = sim::slice_distances(cache, sm, 1);
    ASSERT_EQ(distances.size(), 36U);
    EXPECT_NEAR(std::accumulate(distances.begin(), distances.end(), 0.0), 0, 1e-9);
    double largest = 0;
    for (const double d : distances) largest = std::max(largest, std::abs(d));
    EXPECT_NEAR(largest, 30, 1e-9);
  }
}

TEST(SliceDistance, DependsOnSmSliceAndSeed) {
  const auto cache = sliced(36, 60);
  const auto one = sim::slice_distances(cache, 0, 1);
  EXPECT_NE(one, sim::slice_distances(cache, 1, 1));
  EXPECT_NE(one, sim::slice_distances(cache, 0, 2));
  EXPECT_EQ(one, sim::slice_distances(cache, 0, 1));
  EXPECT_GT(std::set<double>(one.begin(), one.end()).size(), 30U);
}

TEST(SliceDistance, IsZeroForOneSliceOrNoSpread) {
  EXPECT_EQ(sim::slice_distances(sliced(1, 60), 3, 1), std::vector<double>{0.0});
  EXPECT_EQ(sim::slice_distances(sliced(4, 0), 3, 1), std::vector<double>(4, 0.0));
}

// A self-loop times one line from one SM: the hit, more or less the distance.
TEST(SliceDistance, ShowsInTheLatencyOfSingleLines) {
  auto model = small_model();
  model.caches[1].slices = 4;
  model.caches[1].slice_spread_cycles = 64;
  model.caches[1].slice_function = AddressFunction::modulo(128, 4);
  model.caches[1].set_function = AddressFunction::modulo(512, 8);
  const auto target = make(model);
  for (const std::uint32_t sm : {0U, 3U}) {
    double sum = 0;
    double largest = 0;
    for (std::uint64_t line = 0; line < 4; ++line) {
      auto chase = chase_of(1, LoadPath::global_cg);
      chase.ring.first_byte = line * 128;
      chase.sm = sm;
      const auto samples = run_chase_on(*target, chase);
      EXPECT_EQ(samples.sm, sm);
      const double latency = (static_cast<double>(samples.cycles.front()) - k_timer_cycles) / 1024;
      sum += latency;
      largest = std::max(largest, std::abs(latency - 200));
    }
    EXPECT_NEAR(sum / 4, 200, 0.001);
    EXPECT_NEAR(largest, 32, 0.001);
  }
}

}  // namespace
}  // namespace gpusonde
