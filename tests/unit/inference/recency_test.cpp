// Recency curves whose capacity is known in closed form.
#include "inference/recency.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <vector>

#include "core/random.hpp"

namespace gpusonde {
namespace {

constexpr double k_capacity = 72.0 * 1024 * 1024;

std::vector<RecencyPoint> curve(const std::function<double(double)>& resident, std::uint64_t hops = 0,
                                std::uint64_t seed = 1) {
  std::vector<RecencyPoint> points;
  Random random(seed);
  for (double bytes = k_capacity / 16; bytes < 9 * k_capacity; bytes *= 1.1) {
    double share = resident(bytes);
    if (hops != 0) {
      std::uint64_t hits = 0;
      for (std::uint64_t i = 0; i < hops; ++i) hits += random.uniform() < share ? 1 : 0;
      share = static_cast<double>(hits) / static_cast<double>(hops);
    }
    points.push_back({bytes, share, hops == 0 ? 1e9 : static_cast<double>(hops)});
  }
  return points;
}

// Random replacement: each of r later lines leaves a line in place with probability 1 - 1/C.
double random_replacement(double bytes) { return std::exp(-bytes / k_capacity); }
// Hashed LRU sets filled by chance: the edge is a normal distribution's, a quarter of the capacity wide.
double soft_lru(double bytes) { return 0.5 * std::erfc((bytes - k_capacity) / (0.25 * k_capacity) / std::sqrt(2.0)); }

TEST(Recency, the_integral_is_the_capacity_whatever_the_replacement) {
  for (double (*shape)(double) : {&random_replacement, &soft_lru}) {
    const auto estimate = resident_bytes(curve(shape), 0);
    ASSERT_TRUE(estimate.ok()) << estimate.reason;
    EXPECT_NEAR(estimate.value, k_capacity, 0.01 * k_capacity);
    EXPECT_LE(estimate.interval.low, k_capacity);
    EXPECT_GE(estimate.interval.high, k_capacity);
  }
}

TEST(Recency, counting_noise_stays_inside_the_interval) {
  int outside = 0;
  for (std::uint64_t seed = 1; seed <= 200; ++seed) {
    const auto estimate = resident_bytes(curve(random_replacement, 1000, seed), 0);
    ASSERT_TRUE(estimate.ok()) << "seed " << seed << ": " << estimate.reason;
    if (estimate.interval.low > k_capacity || estimate.interval.high < k_capacity) ++outside;
  }
  EXPECT_LE(outside, 10);
}

TEST(Recency, lines_that_stay_to_the_end_leave_it_open) {
  const auto estimate = resident_bytes(curve([](double) { return 0.5; }), 0);
  EXPECT_EQ(estimate.outcome, Outcome::inconclusive);
}

TEST(Recency, noise_leaves_it_open) { EXPECT_EQ(resident_bytes(curve(soft_lru), 0.5).outcome, Outcome::inconclusive); }

TEST(Recency, too_few_points_leave_it_open) {
  const std::vector<RecencyPoint> few{{1, 1, 100}, {2, 0, 100}};
  EXPECT_EQ(resident_bytes(few, 0).outcome, Outcome::inconclusive);
}

}  // namespace
}  // namespace gpusonde
