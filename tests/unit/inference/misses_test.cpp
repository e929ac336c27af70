// Counting misses, the threshold between hits and misses, and bisection.
#include <gtest/gtest.h>

#include "core/random.hpp"
#include "inference/capacity.hpp"

namespace gpusonde {
namespace {

using Hops = std::vector<std::uint32_t>;

TEST(LapMisses, CountsPositionsThatMissInMostLaps) {
  // Four positions, three laps: position 1 always misses, position 3 once.
  const Hops hops{30, 300, 30, 30, 30, 300, 30, 300, 30, 300, 30, 30};
  const auto misses = count_lap_misses(hops, 4, 100);
  EXPECT_EQ(misses.positions, 4U);
  EXPECT_EQ(misses.consistent, 1U);
  EXPECT_DOUBLE_EQ(misses.miss_fraction, 4.0 / 12);
  EXPECT_DOUBLE_EQ(misses.stray_fraction, 1.0 / 12);
}

TEST(LapMisses, APositionSeenOnceIsNeverConsistent) {
  const Hops hops{30, 300, 30, 30, 30};  // one lap and one hop
  const auto misses = count_lap_misses(hops, 4, 100);
  EXPECT_EQ(misses.positions, 1U);
  EXPECT_EQ(misses.consistent, 0U);
  EXPECT_DOUBLE_EQ(misses.stray_fraction, 0.2);
  EXPECT_EQ(count_lap_misses({}, 4, 100).positions, 0U);
  EXPECT_EQ(count_lap_misses(hops, 0, 100).positions, 0U);
}

TEST(LapMisses, StrayMissesDoNotLookConsistent) {
  for (std::uint64_t seed = 1; seed <= 200; ++seed) {
    Random random(seed);
    const std::uint64_t lap = random.between(20, 2000);
    std::vector<bool> real(lap);
    std::uint64_t count = 0;
    for (std::uint64_t i = 0; i < lap; ++i) {
      real[i] = random.below(10) == 0;
      count += real[i] ? 1U : 0U;
    }
    Hops hops;
    for (int l = 0; l < 9; ++l)
      for (std::uint64_t i = 0; i < lap; ++i) hops.push_back(real[i] || random.below(100) == 0 ? 280 : 32);
    const auto misses = count_lap_misses(hops, lap, 150);
    EXPECT_EQ(misses.consistent, count) << "seed " << seed;
    EXPECT_EQ(misses.positions, lap);
    EXPECT_NEAR(misses.stray_fraction, 0.009, 0.03) << "seed " << seed;
  }
}

Hops normal_hops(Random& random, double mean, double sigma, int count) {
  Hops hops;
  for (int i = 0; i < count; ++i)
    hops.push_back(static_cast<std::uint32_t>(std::max(1.0, mean + sigma * random.normal())));
  return hops;
}

TEST(HitMissThreshold, LiesBetweenThePopulations) {
  for (std::uint64_t seed = 1; seed <= 300; ++seed) {
    Random random(seed);
    auto hits = normal_hops(random, 40, 1.5, 500);
    const auto misses = normal_hops(random, 300, 15, 500);
    for (int i = 0; i < 15; ++i) hits[random.below(hits.size())] = 900;  // refreshes, interrupts
    const auto threshold = hit_miss_threshold(hits, misses);
    ASSERT_TRUE(threshold.ok()) << "seed " << seed << ' ' << threshold.reason;
    EXPECT_GE(threshold.value, 40 + 65 - 1);
    EXPECT_LE(threshold.value, 300 - 65 + 1);
    EXPECT_LE(threshold.interval.low, threshold.value);
    EXPECT_GE(threshold.interval.high, threshold.value);
  }
}

TEST(HitMissThreshold, AvoidsAThirdPopulationInTheMiddle) {
  const Hops hits(100, 32);
  Hops misses(100, 432);
  for (int i = 0; i < 10; ++i) misses[static_cast<std::size_t>(i)] = 300;  // some answered nearer
  const auto threshold = hit_miss_threshold(hits, misses);
  ASSERT_TRUE(threshold.ok());
  EXPECT_GE(threshold.value, 132);
  EXPECT_LT(threshold.value, 300);
}

TEST(HitMissThreshold, OverlapIsInconclusive) {
  for (std::uint64_t seed = 1; seed <= 300; ++seed) {
    Random random(seed);
    const auto threshold = hit_miss_threshold(normal_hops(random, 330, 20, 400), normal_hops(random, 400, 20, 400));
    EXPECT_EQ(threshold.outcome, Outcome::inconclusive) << "seed " << seed;
    EXPECT_FALSE(threshold.reason.empty());
  }
  const Hops some(10, 30);
  EXPECT_FALSE(hit_miss_threshold({}, some).ok());
  EXPECT_FALSE(hit_miss_threshold(some, {}).ok());
  EXPECT_FALSE(hit_miss_threshold(some, some).ok());
}

TEST(BisectResident, FindsEveryEdge) {
  for (std::uint64_t edge = 1; edge < 100; ++edge) {
    int asked = 0;
    const auto found = bisect_resident(1, 100, [&](std::uint64_t n) -> Result<bool> {
      ++asked;
      return n <= edge;
    });
    ASSERT_TRUE(found.has_value());
    ASSERT_TRUE(found->ok());
    EXPECT_EQ(found->value, static_cast<double>(edge));
    EXPECT_LE(asked, 2 + 7 + 2);
  }
}

TEST(BisectResident, SaysWhenTheEdgeLiesOutside) {
  const auto all = [](std::uint64_t) -> Result<bool> { return true; };
  const auto none = [](std::uint64_t) -> Result<bool> { return false; };
  EXPECT_EQ(bisect_resident(1, 100, all)->outcome, Outcome::inconclusive);
  EXPECT_EQ(bisect_resident(1, 100, none)->outcome, Outcome::inconclusive);
  EXPECT_EQ(bisect_resident(5, 5, all)->outcome, Outcome::inconclusive);
  EXPECT_EQ(bisect_resident(6, 5, all)->outcome, Outcome::inconclusive);
}

TEST(BisectResident, PassesErrorsOn) {
  for (int fails_at = 1; fails_at <= 8; ++fails_at) {
    int asked = 0;
    const auto found = bisect_resident(1, 17, [&](std::uint64_t n) -> Result<bool> {
      if (++asked == fails_at) return fail(ErrorKind::measurement, "kernel failed");
      return n <= 9;
    });
    ASSERT_FALSE(found.has_value()) << fails_at;
    EXPECT_EQ(found.error().message, "kernel failed");
  }
}

TEST(BisectResident, ANoisyOracleIsRightOrInconclusive) {
  int wrong = 0;
  int found = 0;
  for (std::uint64_t seed = 1; seed <= 2000; ++seed) {
    Random random(seed);
    const auto edge = random.between(100, 900);
    const auto answer = bisect_resident(
        1, 1000, [&](std::uint64_t n) -> Result<bool> { return (n <= edge) != (random.below(100) == 0); });
    ASSERT_TRUE(answer.has_value());
    if (!answer->ok()) continue;
    ++found;
    if (answer->value != static_cast<double>(edge)) ++wrong;
  }
  EXPECT_GT(found, 1600);
  EXPECT_LE(wrong, 8);
}

}  // namespace
}  // namespace gpusonde
