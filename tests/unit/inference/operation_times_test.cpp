// Slopes of chains of two lengths, and when an interval is saturated.
#include "inference/operation_times.hpp"

#include <gtest/gtest.h>

#include <algorithm>

#include "core/random.hpp"

namespace gpusonde {
namespace {

/// A pipeline of so many cycles, and 40 around it.
ChainTimes times(std::uint64_t chains, double latency, double interval, double noise = 0, std::uint64_t seed = 1) {
  Random random(seed + chains);
  ChainTimes result;
  result.chains = chains;
  result.short_length = 8;
  result.long_length = 24;
  const double round = std::max(latency, interval * static_cast<double>(chains));
  for (int i = 0; i < 16; ++i) {
    result.short_cycles.push_back((40 + 8 * round) * (1 + noise * random.normal()));
    result.long_cycles.push_back((40 + 24 * round) * (1 + noise * random.normal()));
  }
  return result;
}

std::vector<ChainTimes> curve(double latency, double interval, double noise = 0) {
  std::vector<ChainTimes> points;
  for (const std::uint64_t chains : {1, 2, 3, 4, 6, 8, 12, 16})
    points.push_back(times(chains, latency, interval, noise));
  return points;
}

TEST(OperationTimes, TheSlopeLeavesOutWhatIsAround) {
  const auto estimate = cycles_a_link(times(1, 4, 1));
  ASSERT_TRUE(estimate.ok()) << estimate.reason;
  EXPECT_EQ(estimate.value, 4);  // (136 - 72) / 16
  EXPECT_EQ(estimate.interval.low, 4 - 1.0 / 16);
  EXPECT_EQ(estimate.interval.high, 4 + 1.0 / 16);
  EXPECT_EQ(cycles_an_operation(times(4, 4, 2)).value, 2);
}

TEST(OperationTimes, ALatencyIsOfOneChainAndAnIntervalOfMany) {
  EXPECT_EQ(true_latency(curve(18, 4)).value, 18);
  const auto interval = completion_interval(curve(18, 4));
  ASSERT_TRUE(interval.ok()) << interval.reason;
  EXPECT_EQ(interval.value, 4);
}

TEST(OperationTimes, SixteenChainsThatDoNotFillAPipelineSaySo) {
  const auto interval = completion_interval(curve(24, 1));
  EXPECT_EQ(interval.outcome, Outcome::inconclusive);
  EXPECT_EQ(interval.reason, "from 12 chains to 16 it still falls from 2.00 cycles to 1.50");
}

TEST(OperationTimes, AnIntervalThatRisesIsNoInterval) {
  auto points = curve(4, 1);
  points.back() = times(16, 4, 1.3);
  EXPECT_EQ(completion_interval(points).reason, "from 12 chains to 16 it goes from 1.00 cycles to 1.30");
}

// As HFMA2 over two units does on an H200.
TEST(OperationTimes, AWobbleIsCoveredByTheInterval) {
  auto points = curve(8, 2);
  points.back() = times(16, 8, 2.25);
  const auto rises = completion_interval(points);
  ASSERT_TRUE(rises.ok()) << rises.reason;
  EXPECT_EQ(rises.value, 2);
  EXPECT_LE(rises.interval.low, 2);
  EXPECT_GE(rises.interval.high, 2.25);
  // It falls, but four chains were as fast.
  points.back() = times(16, 8, 2);
  points[points.size() - 2] = times(12, 8, 2.25);
  EXPECT_EQ(completion_interval(points).value, 2);
}

TEST(OperationTimes, WithoutOneChainThereIsNoLatency) {
  auto points = curve(4, 1);
  points.erase(points.begin());
  EXPECT_EQ(true_latency(points).reason, "one chain alone was not timed");
  EXPECT_FALSE(completion_interval(points).ok());
}

TEST(OperationTimes, RepetitionsThatDifferAreNotAveraged) {
  auto apart = times(1, 4, 1);
  for (std::size_t i = 0; i < apart.long_cycles.size(); i += 2) apart.long_cycles[i] += 20;
  EXPECT_EQ(cycles_a_link(apart).outcome, Outcome::inconclusive);
  auto few = times(1, 4, 1);
  few.short_cycles.resize(5);
  EXPECT_EQ(cycles_a_link(few).reason, "fewer than 6 repetitions");
  auto level = times(1, 4, 1);
  level.long_cycles = level.short_cycles;
  EXPECT_EQ(cycles_a_link(level).reason, "a chain of three times the length took no longer");
}

TEST(OperationTimes, NoiseWidensTheIntervalAroundTheTruth) {
  int inside = 0, ok = 0;
  for (std::uint64_t seed = 0; seed < 500; ++seed) {
    const auto estimate = cycles_a_link(times(1, 30, 1, 0.01, 100 * seed));
    if (!estimate.ok()) continue;
    ++ok;
    inside += estimate.interval.low <= 30 && 30 <= estimate.interval.high ? 1 : 0;
  }
  EXPECT_GT(ok, 300);
  EXPECT_GE(inside, ok - 1);
}

TEST(OperationTimes, ADifferenceCarriesBothErrors) {
  const Estimate more{Outcome::ok, 37, {36.9, 37.1}, {}};
  const Estimate less{Outcome::ok, 36, {35.9, 36.1}, {}};
  const auto read = difference(more, less);
  ASSERT_TRUE(read.ok());
  EXPECT_EQ(read.value, 1);
  EXPECT_NEAR(read.interval.low, 0.8, 1e-9);
  EXPECT_NEAR(read.interval.high, 1.2, 1e-9);
  const Estimate vague{Outcome::ok, 36, {35.4, 36.6}, {}};
  EXPECT_EQ(difference(more, vague).reason, "the two differ by 1.0 cycles, give or take 0.7");
  EXPECT_EQ(difference(more, inconclusive("noise")).reason, "noise");
}

}  // namespace
}  // namespace gpusonde
