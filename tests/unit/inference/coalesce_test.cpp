// What a warp's lanes become, by hand; and the size of a line from latencies that are made up.
#include "inference/coalesce.hpp"

#include <gtest/gtest.h>

namespace gpusonde {
namespace {

CoalescedLoad load_of(const LanePattern& pattern, std::uint32_t line = 128, std::uint32_t sector = 32) {
  const auto load = coalesce(pattern.lanes, pattern.width, line, sector);
  EXPECT_TRUE(load) << load.error().message;
  return load ? *load : CoalescedLoad{};
}

TEST(Coalesce, StridesOfWordsByHand) {
  // 32 lanes of 4 bytes, side by side, are 128 bytes: a line, its four sectors.
  EXPECT_EQ(load_of(stride_pattern(1, 4)), (CoalescedLoad{1, 4}));
  EXPECT_EQ(load_of(stride_pattern(2, 4)), (CoalescedLoad{2, 8}));
  EXPECT_EQ(load_of(stride_pattern(4, 4)), (CoalescedLoad{4, 16}));
  EXPECT_EQ(load_of(stride_pattern(8, 4)), (CoalescedLoad{8, 32}));
  EXPECT_EQ(load_of(stride_pattern(16, 4)), (CoalescedLoad{16, 32}));
  EXPECT_EQ(load_of(stride_pattern(32, 4)), (CoalescedLoad{32, 32}));
  EXPECT_EQ(load_of(stride_pattern(64, 4)), (CoalescedLoad{32, 32}));
  EXPECT_EQ(load_of(stride_pattern(0, 4)), (CoalescedLoad{1, 1}));
}

TEST(Coalesce, WiderLanesTakeMore) {
  EXPECT_EQ(load_of(stride_pattern(1, 8)), (CoalescedLoad{2, 8}));
  EXPECT_EQ(load_of(stride_pattern(1, 16)), (CoalescedLoad{4, 16}));
  EXPECT_EQ(load_of(stride_pattern(2, 16)), (CoalescedLoad{8, 32}));
  EXPECT_EQ(load_of({"", 16, {0, 16, 32, 0}}), (CoalescedLoad{1, 2}));  // a sector holds two
}

TEST(Coalesce, SizesOfLinesAndSectorsCount) {
  EXPECT_EQ(load_of(stride_pattern(1, 4), 64, 32), (CoalescedLoad{2, 4}));
  EXPECT_EQ(load_of(stride_pattern(32, 4), 256, 64), (CoalescedLoad{16, 32}));
}

TEST(Coalesce, ARandomPatternHasALineALane) {
  for (const std::uint64_t seed : {1, 2, 3}) {
    const auto pattern = random_pattern(4, seed);
    EXPECT_EQ(load_of(pattern), (CoalescedLoad{32, 32})) << seed;
    for (const auto lane : pattern.lanes) EXPECT_LT(lane, 1U << 20);
  }
  EXPECT_NE(random_pattern(4, 1).lanes, random_pattern(4, 2).lanes);
}

TEST(Coalesce, AMisalignedLaneIsNamed) {
  const auto load = coalesce(std::vector<std::uint64_t>{0, 8, 12}, 8);
  ASSERT_FALSE(load);
  EXPECT_EQ(load.error().kind, ErrorKind::usage);
  EXPECT_EQ(load.error().message, "lane 2 loads 8 B from 12, which is no multiple of 8; the next one is 16");
}

/// Latency that grows with lines of a size, so many looked up at a time.
std::vector<PatternLatency> latencies(std::uint32_t line_bytes, std::uint32_t at_a_time, double cycles) {
  std::vector<PatternLatency> all;
  for (auto& pattern : standard_patterns(1)) {
    const auto lines = coalesce(pattern.lanes, pattern.width, line_bytes)->lines;
    const double further = (lines + at_a_time - 1) / at_a_time - 1;
    all.push_back({std::move(pattern), 40 + further * cycles, 300});
  }
  return all;
}

TEST(LineSizeByLatency, IsFoundWhereLatencyGoesByIt) {
  for (const std::uint32_t line : {64, 128, 256}) {
    const auto size = line_size_by_latency(latencies(line, 1, 2), 1.5);
    ASSERT_TRUE(size.ok()) << line << ": " << size.reason;
    EXPECT_EQ(size.value, line);
  }
}

TEST(LineSizeByLatency, FourAtATimeDoAsWell) {
  const auto all = latencies(128, 4, 2);
  const auto size = line_size_by_latency(all, 1.5);
  ASSERT_TRUE(size.ok()) << size.reason;
  EXPECT_EQ(size.value, 128);
  const auto each = cycles_a_line(all, 128, 1.5);
  ASSERT_TRUE(each.ok()) << each.reason;
  EXPECT_NEAR(each.value, 14.0 / 31, 0.01);
}

TEST(LineSizeByLatency, EqualLatenciesSayNothing) {
  const auto all = latencies(128, 64, 2);
  EXPECT_EQ(line_size_by_latency(all, 1.5).outcome, Outcome::inconclusive);
  EXPECT_EQ(cycles_a_line(all, 128, 1.5).outcome, Outcome::inconclusive);
}

TEST(LineSizeByLatency, OneThatDoesNotFitIsNoAnswer) {
  auto all = latencies(128, 1, 2);
  all[7].l1_cycles += 30;  // stride 64, as many lines as stride 32
  EXPECT_EQ(line_size_by_latency(all, 1.5).outcome, Outcome::inconclusive);
}

TEST(CyclesALine, AreTheSlope) {
  const auto each = cycles_a_line(latencies(128, 1, 2), 128, 1.5);
  ASSERT_TRUE(each.ok());
  EXPECT_DOUBLE_EQ(each.value, 2);
  EXPECT_LT(each.interval.high - each.interval.low, 0.2);
}

TEST(SectorSize, IsTheFirstDistanceThatMisses) {
  using Readings = std::vector<std::pair<std::uint64_t, double>>;
  EXPECT_EQ(sector_size(Readings{{8, 40}, {16, 41}, {32, 270}, {64, 300}}, 40, 280).value, 32);
  EXPECT_EQ(sector_size(Readings{{8, 40}, {16, 41}, {32, 42}}, 40, 280).outcome, Outcome::inconclusive);
  EXPECT_EQ(sector_size(Readings{{8, 280}, {16, 280}}, 40, 280).outcome, Outcome::inconclusive);
  EXPECT_EQ(sector_size(Readings{{8, 40}, {16, 280}, {32, 40}}, 40, 280).outcome, Outcome::inconclusive);
  EXPECT_EQ(sector_size(Readings{{8, 40}, {16, 45}}, 40, 45).outcome, Outcome::inconclusive);
}

}  // namespace
}  // namespace gpusonde
