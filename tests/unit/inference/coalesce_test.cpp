// What a warp's lanes become, by hand; and what one more of something costs.
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

TEST(Wavefronts, AreTheMostWordsOfOneBank) {
  EXPECT_EQ(wavefronts(stride_pattern(0, 4).lanes, 4), 1U);
  EXPECT_EQ(wavefronts(stride_pattern(1, 4).lanes, 4), 1U);
  EXPECT_EQ(wavefronts(stride_pattern(2, 4).lanes, 4), 2U);
  EXPECT_EQ(wavefronts(stride_pattern(8, 4).lanes, 4), 8U);
  EXPECT_EQ(wavefronts(stride_pattern(32, 4).lanes, 4), 32U);
  EXPECT_EQ(wavefronts(stride_pattern(33, 4).lanes, 4), 1U);  // a line each, but a bank each too
  EXPECT_EQ(wavefronts(stride_pattern(1, 8).lanes, 8), 2U);
  EXPECT_EQ(wavefronts(stride_pattern(1, 16).lanes, 16), 4U);
  const auto random = wavefronts(random_pattern(4, 1).lanes, 4);
  EXPECT_GT(random, 2U);
  EXPECT_LT(random, 9U);
}

using ByNumber = std::vector<std::pair<double, double>>;

TEST(CyclesOfEach, AreTheSlope) {
  const auto each = cycles_of_each(ByNumber{{1, 40}, {2, 42}, {4, 46}, {8, 54}, {32, 102}}, 1.5);
  ASSERT_TRUE(each.ok()) << each.reason;
  EXPECT_NEAR(each.value, 2, 0.01);
  EXPECT_LE(each.interval.low, 2);
  EXPECT_GE(each.interval.high, 2);
}

TEST(CyclesOfEach, NeedALine) {
  EXPECT_EQ(cycles_of_each(ByNumber{{1, 40}, {2, 42}, {32, 102}}, 1.5).outcome, Outcome::inconclusive);
  EXPECT_EQ(cycles_of_each(ByNumber{{1, 40}, {2, 40}, {8, 40}, {32, 40}}, 1.5).outcome, Outcome::inconclusive);
  EXPECT_EQ(cycles_of_each(ByNumber{{1, 40}, {2, 42}, {4, 46}, {32, 102}, {32, 60}}, 1.5).outcome,
            Outcome::inconclusive);
}

// L1 hits of an H200, as measured: 2.2 cycles for each further wavefront; random lanes tell these from lines.
TEST(CyclesOfEach, OfAnH200GoByWavefronts) {
  const std::vector<std::pair<std::uint32_t, double>> measured{{1, 77},   {2, 79},   {4, 83},  {8, 92},
                                                               {16, 110}, {32, 146}, {64, 147}};
  ByNumber strides;
  for (const auto& [stride, cycles] : measured) {
    const auto pattern = stride_pattern(stride, 4);
    EXPECT_EQ(coalesce(pattern.lanes, 4)->lines, wavefronts(pattern.lanes, 4)) << stride;
    strides.emplace_back(wavefronts(pattern.lanes, 4), cycles);
  }
  const auto each = cycles_of_each(strides, 1.5);
  ASSERT_TRUE(each.ok()) << each.reason;
  EXPECT_NEAR(each.value, 2.25, 0.05);
  const auto random = random_pattern(4, 1);
  EXPECT_EQ(what_hits_pay_for(93, 77 + 31 * each.value, 77 + (wavefronts(random.lanes, 4) - 1) * each.value),
            HitCost::wavefronts);
}

TEST(WhatHitsPayFor, IsWhatForetellsFarBetter) {
  EXPECT_EQ(what_hits_pay_for(112, 112, 56), HitCost::lines);
  EXPECT_EQ(what_hits_pay_for(58, 112, 56), HitCost::wavefronts);
  EXPECT_EQ(what_hits_pay_for(84, 112, 56), HitCost::unclear);
  EXPECT_EQ(what_hits_pay_for(80, 80, 80), HitCost::unclear);
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
