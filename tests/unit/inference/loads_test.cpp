// Repetitions of one quantity, and the knee of latency against bandwidth, by figures worked out by hand.
#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "inference/load_curve.hpp"
#include "inference/repetitions.hpp"

namespace gpusonde {
namespace {

TEST(Repetitions, HaveAnIntervalByStudent) {
  // Mean 100, standard deviation 1; t of four degrees of freedom at 99.9 % is 8.610: 8.610 / sqrt(5) = 3.851.
  const std::vector<double> values{100 - std::sqrt(2), 100, 100, 100, 100 + std::sqrt(2)};
  const auto estimate = mean_of_repetitions(values);
  ASSERT_TRUE(estimate.ok()) << estimate.reason;
  EXPECT_NEAR(estimate.value, 100, 1e-9);
  EXPECT_NEAR(estimate.interval.low, 96.15, 0.005);
  EXPECT_NEAR(estimate.interval.high, 103.85, 0.005);
}

TEST(Repetitions, HaveErrorsInCommon) {
  const std::vector<double> same{50, 50, 50};
  const auto estimate = mean_of_repetitions(same, {.resolution = 0.01, .high_bias = 0.1});
  ASSERT_TRUE(estimate.ok());
  EXPECT_DOUBLE_EQ(estimate.interval.low, 49.5);
  EXPECT_DOUBLE_EQ(estimate.interval.high, 55.5);
}

TEST(Repetitions, ThatAreTooFewOrContradictSayNothing) {
  EXPECT_EQ(mean_of_repetitions(std::vector<double>{1, 1}).reason, "2 repetitions: too few for an interval");
  EXPECT_EQ(mean_of_repetitions(std::vector<double>{1, 0, 1}).reason, "a repetition took no time that could be told");
  const auto apart = mean_of_repetitions(std::vector<double>{100, 100, 130});
  EXPECT_EQ(apart.outcome, Outcome::inconclusive);
  EXPECT_EQ(apart.reason, "repetitions differ by 16 % of their mean (standard deviation of 3)");
  EXPECT_TRUE(mean_of_repetitions(std::vector<double>{100, 100, 130}, {.most_scatter = 0.2}).ok());
}

TEST(LoadCurve, TheKneeLiesBetweenPoints) {
  const std::vector<LoadPoint> points{{100, 100, 0.9}, {220, 110, 1.8}, {418, 190, 2.0}, {800, 400, 2.0}};
  const auto knee = knee_of(points, 100);
  ASSERT_TRUE(knee);
  EXPECT_DOUBLE_EQ(knee->latency_cycles, 150);
  EXPECT_DOUBLE_EQ(knee->bytes_per_cycle(), 2.1);  // half of the way from 2.0 to 2.2
  EXPECT_DOUBLE_EQ(knee->bytes_under_way, 315);
  EXPECT_DOUBLE_EQ(knee->over_all_bytes_per_cycle, 1.9);
  EXPECT_FALSE(knee_of(points, 300));  // never reached
  EXPECT_FALSE(knee_of(points, 60));   // passed before the first point
  EXPECT_FALSE(knee_of({}, 60));
}

TEST(LoadCurve, SomeThatEndLastAreAlone) {
  EXPECT_DOUBLE_EQ((LoadPoint{1000, 100, 10}).together(), 1);
  EXPECT_DOUBLE_EQ((LoadPoint{1000, 100, 9}).together(), 0.9);
}

}  // namespace
}  // namespace gpusonde
