#include "inference/clock_split.hpp"

#include <gtest/gtest.h>

#include "core/random.hpp"

namespace gpusonde {
namespace {

// The RTX 5080's table: cycles at SM clocks of 997 and 2932 MHz.
TEST(ClockSplit, Rtx5080L1FollowsTheSmClockAlone) {
  const std::vector<ClockPoint> points{{997, 43, 0.1}, {2932, 43, 0.1}};
  const auto split = split_clock_domains(points);
  ASSERT_TRUE(split.sm_cycles.ok());
  EXPECT_NEAR(split.sm_cycles.value, 43, 1e-9);
  EXPECT_NEAR(split.fixed_ns.value, 0, 1e-9);
  EXPECT_LE(split.fixed_ns.interval.low, 0);
  EXPECT_GE(split.fixed_ns.interval.high, 0);
}

TEST(ClockSplit, Rtx5080L2AndMemoryMix) {
  const std::vector<ClockPoint> l2{{997, 302, 0.5}, {2932, 366, 0.5}};
  const auto l2_split = split_clock_domains(l2);
  EXPECT_NEAR(l2_split.fixed_ns.value, 64 / 1.935, 1e-9);
  EXPECT_NEAR(l2_split.sm_cycles.value, 302 - 0.997 * 64 / 1.935, 1e-9);
  // The slope's error by hand: sqrt(0.5^2 + 0.5^2) / 1.935.
  EXPECT_NEAR(l2_split.fixed_ns.interval.high - l2_split.fixed_ns.value, 1.96 * 0.70711 / 1.935, 1e-4);
  const std::vector<ClockPoint> memory{{997, 520, 1}, {2932, 922, 1}};
  const auto memory_split = split_clock_domains(memory);
  EXPECT_NEAR(memory_split.fixed_ns.value, 402 / 1.935, 1e-9);
  EXPECT_NEAR(memory_split.sm_cycles.value, 520 - 0.997 * 402 / 1.935, 1e-9);
}

TEST(ClockSplit, IntervalsCoverTheTruth) {
  int sm_covered = 0;
  int fixed_covered = 0;
  int ok = 0;
  for (std::uint64_t seed = 1; seed <= 3000; ++seed) {
    Random random(seed);
    const double sm_cycles = 30 + 300 * random.uniform();
    const double fixed_ns = 200 * random.uniform();
    std::vector<ClockPoint> points;
    const auto count = random.between(2, 6);
    for (std::uint64_t i = 0; i < count; ++i) {
      const double mhz = 900 + 400.0 * static_cast<double>(i);
      const double sigma = 0.2 + random.uniform();
      points.push_back({mhz, sm_cycles + fixed_ns * mhz / 1000 + sigma * random.normal(), sigma});
    }
    const auto split = split_clock_domains(points);
    if (!split.sm_cycles.ok()) continue;
    ++ok;
    const auto covers = [](const Estimate& e, double truth) {
      return e.interval.low <= truth && truth <= e.interval.high;
    };
    sm_covered += covers(split.sm_cycles, sm_cycles) ? 1 : 0;
    fixed_covered += covers(split.fixed_ns, fixed_ns) ? 1 : 0;
  }
  EXPECT_GT(ok, 2980);
  EXPECT_GT(sm_covered, 0.94 * ok);
  EXPECT_GT(fixed_covered, 0.94 * ok);
}

TEST(ClockSplit, WhatIsNoLineIsInconclusive) {
  const std::vector<ClockPoint> bent{{900, 300, 0.5}, {1900, 380, 0.5}, {2900, 390, 0.5}};
  EXPECT_EQ(split_clock_domains(bent).sm_cycles.outcome, Outcome::inconclusive);
  EXPECT_EQ(split_clock_domains(bent).fixed_ns.outcome, Outcome::inconclusive);
  const std::vector<ClockPoint> falling{{900, 300, 0.5}, {1900, 200, 0.5}};
  EXPECT_FALSE(split_clock_domains(falling).fixed_ns.ok());
  const std::vector<ClockPoint> close{{1000, 300, 0.5}, {1040, 302, 0.5}};
  EXPECT_FALSE(split_clock_domains(close).fixed_ns.ok());
  const std::vector<ClockPoint> one{{1000, 300, 0.5}};
  EXPECT_FALSE(split_clock_domains(one).fixed_ns.ok());
  EXPECT_FALSE(split_clock_domains({}).fixed_ns.ok());
  const std::vector<ClockPoint> broken{{0, 300, 0.5}, {2000, 302, 0.5}};
  EXPECT_FALSE(split_clock_domains(broken).fixed_ns.ok());
}

}  // namespace
}  // namespace gpusonde
