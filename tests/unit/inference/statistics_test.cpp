#include "inference/statistics.hpp"

#include <gtest/gtest.h>

#include "core/random.hpp"

namespace gpusonde {
namespace {

TEST(Statistics, MedianAndQuantilesOfKnownValues) {
  const std::vector<double> odd{5, 1, 3};
  const std::vector<double> even{4, 1, 3, 2};
  EXPECT_EQ(median(odd), 3);
  EXPECT_EQ(median(even), 2.5);
  EXPECT_EQ(quantile(even, 0), 1);
  EXPECT_EQ(quantile(even, 1), 4);
  EXPECT_NEAR(quantile(even, 0.25), 1.75, 1e-12);  // R's type 7
  EXPECT_EQ(odd, (std::vector<double>{5, 1, 3})) << "the input stays as it is";
}

TEST(Statistics, MadIgnoresOutliers) {
  const std::vector<double> values{1, 2, 3, 4, 1000};
  EXPECT_NEAR(mad_sigma(values), 1.4826, 1e-12);
}

// Tabulated ranks of the 95 % sign-test interval: n = 10 gives the 2nd and 9th value, n = 20 the 6th and
// 15th, n = 50 the 18th and 33rd; below 6 values no interval reaches 95 %.
TEST(Statistics, MedianIntervalHasTheTabulatedRanks) {
  const auto interval = [](int n) {
    std::vector<double> values;
    for (int i = 1; i <= n; ++i) values.push_back(i);
    return median_interval(values);
  };
  EXPECT_EQ(interval(5).low, 1);
  EXPECT_EQ(interval(5).high, 5);
  EXPECT_EQ(interval(10).low, 2);
  EXPECT_EQ(interval(10).high, 9);
  EXPECT_EQ(interval(20).low, 6);
  EXPECT_EQ(interval(20).high, 15);
  EXPECT_EQ(interval(50).low, 18);
  EXPECT_EQ(interval(50).high, 33);
  EXPECT_EQ(interval(1).low, 1);
}

TEST(Statistics, MedianIntervalCoversTheMedian) {
  int covered = 0;
  for (std::uint64_t seed = 1; seed <= 2000; ++seed) {
    Random random(seed);
    std::vector<double> values;
    for (int i = 0; i < 15; ++i) values.push_back(random.normal());
    const auto interval = median_interval(values);
    covered += interval.low <= 0 && 0 <= interval.high ? 1 : 0;
  }
  EXPECT_GE(covered, 1900 - 30);
}

TEST(Statistics, DifferenceSigmaIsTheNoiseDespiteSteps) {
  Random random(3);
  std::vector<double> values;
  for (int i = 0; i < 2000; ++i) values.push_back((i / 100) * 50.0 + 2 * random.normal());
  EXPECT_NEAR(difference_sigma(values), 2, 0.15);
  EXPECT_EQ(difference_sigma(std::vector<double>{1}), 0);
}

}  // namespace
}  // namespace gpusonde
