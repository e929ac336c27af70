// Levels and capacities of caches for constants, from curves over strides whose shape is worked out by hand.
#include "inference/constant_levels.hpp"

#include <gtest/gtest.h>

namespace gpusonde {
namespace {

/// A step curve: up to each edge so many cycles, and `last` beyond.
StrideCurve steps(std::uint64_t stride, const std::vector<std::pair<double, double>>& levels, double last) {
  StrideCurve curve;
  curve.stride_bytes = stride;
  for (double bytes = 256; bytes <= 65536; bytes += static_cast<double>(stride) * (bytes < 4096 ? 1 : 4)) {
    double cycles = last;
    for (auto level = levels.rbegin(); level != levels.rend(); ++level)
      if (bytes <= level->first) cycles = level->second;
    curve.points.push_back({bytes, cycles, cycles, cycles});
  }
  return curve;
}

constexpr double k_l2 = 260;

TEST(ConstantLevels, TheLeastCapacityOverStridesIsTheCaches) {
  // Lines of 64 bytes: at 128 every line seems twice as large, at 32 two nodes share one and hit a little beyond.
  const std::vector curves{steps(32, {{2112, 27}, {33000, 90}}, 280), steps(64, {{2048, 27}, {32768, 90}}, 280),
                           steps(128, {{4096, 27}, {65536, 90}}, 280)};
  const auto levels = constant_levels(curves, k_l2);
  ASSERT_EQ(levels.size(), 2U);
  EXPECT_EQ(levels[0].latency.value, 27);
  EXPECT_EQ(levels[0].capacity.value, 2048);
  EXPECT_EQ(levels[0].capacity.interval.high, 2112);
  EXPECT_EQ(levels[0].stride_bytes, 64U);
  EXPECT_EQ(levels[1].latency.value, 90);
  EXPECT_EQ(levels[1].capacity.value, 32768);
}

TEST(ConstantLevels, WhatIsAsSlowAsL2IsL2) {
  const std::vector curves{steps(32, {{2048, 27}}, 230), steps(64, {{2048, 27}}, 230), steps(128, {{2048, 27}}, 230)};
  EXPECT_EQ(constant_levels(curves, k_l2).size(), 1U);
  EXPECT_EQ(constant_levels(curves, 300).size(), 2U);
}

TEST(ConstantLevels, ALevelThatHoldsTheBankHasNoCapacity) {
  const std::vector curves{steps(32, {{2048, 27}}, 90), steps(64, {{2048, 27}}, 90), steps(128, {{2048, 27}}, 90)};
  const auto levels = constant_levels(curves, k_l2);
  ASSERT_EQ(levels.size(), 2U);
  EXPECT_TRUE(levels[0].capacity.ok());
  EXPECT_EQ(levels[1].capacity.outcome, Outcome::inconclusive);
  EXPECT_EQ(levels[1].capacity.reason.find("it holds all constants that a program can have"), 0U);
}

TEST(ConstantLevels, AFlatPartOfASlowTransitionIsNoLevel) {
  // At 64 bytes, below the line, a part of the way from 27 to 90 cycles looks flat; at the others it is a step.
  const std::vector curves{steps(32, {{2048, 27}, {32768, 90}}, 280),
                           steps(64, {{2048, 27}, {4096, 55}, {32768, 90}}, 280),
                           steps(128, {{2048, 27}, {32768, 90}}, 280), steps(256, {{2048, 27}, {32768, 90}}, 280)};
  const auto levels = constant_levels(curves, k_l2);
  ASSERT_EQ(levels.size(), 2U);
  EXPECT_EQ(levels[1].latency.value, 90);
}

TEST(ConstantLevels, WhatLiesBehindADoubtfulLevelHasNoNumber) {
  // At the two coarsest strides, where nothing is slow, there is one more: is 90 the second or the third?
  const std::vector curves{steps(32, {{2048, 27}, {32768, 90}}, 280), steps(64, {{2048, 27}, {32768, 90}}, 280),
                           steps(128, {{2048, 27}, {8192, 55}, {32768, 90}}, 280),
                           steps(256, {{2048, 27}, {8192, 55}, {32768, 90}}, 280)};
  EXPECT_EQ(constant_levels(curves, k_l2).size(), 1U);
}

TEST(ConstantLevels, SizesThatDisagreeAreSaid) {
  std::vector curves{steps(32, {{2048, 27}}, 90), steps(64, {{2048, 27}}, 90), steps(128, {{2048, 27}}, 90)};
  curves[2].points[4].latency = 60;  // 768 bytes, and 1 KiB stays
  const auto levels = constant_levels(curves, k_l2);
  ASSERT_FALSE(levels.empty());
  EXPECT_EQ(levels[0].capacity.reason, "answers disagree: 768 B does not stay, 2 KiB does");
}

}  // namespace
}  // namespace gpusonde
