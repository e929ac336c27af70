// Rows, banks, costs and refresh from readings that are made up.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "core/random.hpp"
#include "inference/dram_banks.hpp"
#include "inference/dram_costs.hpp"
#include "inference/dram_refresh.hpp"
#include "inference/dram_rows.hpp"
#include "inference/dram_translation.hpp"

namespace gpusonde {
namespace {

/// What lines took more than usual: some close the row, the others met something by chance.
std::vector<double> more_cycles(std::size_t closing, std::size_t others, double cost, double noise) {
  Random random(5);
  std::vector<double> more;
  for (std::size_t i = 0; i < closing; ++i) more.push_back(cost + noise * random.normal());
  for (std::size_t i = 0; i < others; ++i) more.push_back(noise * random.normal());
  return more;
}

TEST(RowContrast, IsWhatThoseThatCloseTheRowCost) {
  const auto contrast = row_contrast(more_cycles(20, 150, 130, 4), 8000, 10);
  ASSERT_TRUE(contrast.ok()) << contrast.reason;
  EXPECT_NEAR(contrast.value, 130, 4);
  EXPECT_LE(contrast.interval.low, contrast.value);
  EXPECT_GE(contrast.interval.high, contrast.value);
}

TEST(RowContrast, IsNoneWithoutSuchLines) {
  EXPECT_EQ(row_contrast(more_cycles(0, 150, 0, 4), 8000, 10).outcome, Outcome::inconclusive);
  EXPECT_EQ(row_contrast({}, 8000, 1).outcome, Outcome::inconclusive);
  EXPECT_EQ(row_contrast(more_cycles(2, 150, 130, 4), 8000, 10).outcome, Outcome::inconclusive);  // two are chance
}

TEST(RowContrast, IsNoneWhereCostsAreSpreadOut) {
  std::vector<double> more;
  for (int i = 0; i < 60; ++i) more.push_back(5.0 * i);
  EXPECT_EQ(row_contrast(more, 8000, 2).outcome, Outcome::inconclusive);
}

constexpr std::uint64_t k_page = 2ULL << 20;

/// Rows of eight lines 48 KiB apart, and those of the page's end with fewer.
std::vector<RowMembers> rows(std::size_t whole, std::size_t cut) {
  std::vector<RowMembers> all;
  for (std::size_t i = 0; i < whole + cut; ++i) {
    RowMembers row{i * 128, {}, 0};
    for (std::uint64_t k = 1; k < (i < whole ? 8U : 5U); ++k) row.others.push_back(row.anchor + k * 48 * 1024);
    all.push_back(row);
  }
  return all;
}

TEST(RowSize, IsWhatMostRowsHave) {
  const auto size = row_size(rows(6, 2), k_page, 128);
  ASSERT_TRUE(size.ok()) << size.reason;
  EXPECT_EQ(size.value, 1024);
  EXPECT_EQ(row_size(rows(4, 4), k_page, 128).outcome, Outcome::inconclusive);
  EXPECT_EQ(row_size(rows(3, 0), k_page, 128).outcome, Outcome::inconclusive);
}

TEST(RowSize, MayNotBeSeenFromAPage) {
  auto all = rows(8, 0);
  for (auto& row : all)
    for (std::size_t k = 0; k < 7; ++k) row.others[k] = row.anchor + (k + 1) * 256 * 1024;
  EXPECT_EQ(row_size(all, k_page, 128).outcome, Outcome::inconclusive);
}

TEST(RowSize, OneLineMoreOrManyUnclearAreNoAnswer) {
  auto all = rows(8, 0);
  for (auto& row : all) row.others.push_back(row.anchor + 500 * 1024);
  EXPECT_EQ(row_size(all, k_page, 128).outcome, Outcome::inconclusive);  // nine lines
  all = rows(8, 0);
  for (auto& row : all) row.unclear = 3;
  EXPECT_EQ(row_size(all, k_page, 128).outcome, Outcome::inconclusive);
  std::vector<RowMembers> alone(8);
  EXPECT_EQ(row_size(alone, k_page, 128).outcome, Outcome::inconclusive);
}

TEST(KindsOfPairs, AreThreeHeaps) {
  std::vector<double> extra(500, 200.0);
  extra.insert(extra.end(), 80, 208.0);
  extra.insert(extra.end(), 5, 330.0);
  extra.push_back(235);  // of one row: waits for its columns
  const auto pairs = kinds_of_pairs(extra, 130);
  ASSERT_EQ(pairs.kinds.size(), extra.size()) << pairs.trouble;
  EXPECT_EQ(pairs.channel_cycles, 8);
  EXPECT_EQ(std::count(pairs.kinds.begin(), pairs.kinds.end(), PairKind::same_channel), 80);
  EXPECT_EQ(std::count(pairs.kinds.begin(), pairs.kinds.end(), PairKind::same_bank), 5);
  EXPECT_EQ(pairs.kinds.back(), PairKind::apart);
}

TEST(KindsOfPairs, DoNotPartInNoise) {
  Random random(3);
  std::vector<double> extra;
  for (int i = 0; i < 600; ++i) extra.push_back((i % 6 == 0 ? 208 : 200) + 6 * random.normal());
  EXPECT_TRUE(kinds_of_pairs(extra, 130).kinds.empty());
  EXPECT_TRUE(kinds_of_pairs(std::vector<double>(600, 200.0), 130).kinds.empty());
  EXPECT_FALSE(kinds_of_pairs(std::vector<double>(600, 200.0), 130).trouble.empty());
}

/// Line i is of bank i % banks and of row i / banks / 2: lines of one row do not wait for each other.
std::vector<std::vector<bool>> waits(std::size_t lines, std::size_t banks) {
  std::vector<std::vector<bool>> all(lines, std::vector<bool>(lines));
  for (std::size_t a = 0; a < lines; ++a)
    for (std::size_t b = 0; b < lines; ++b) all[a][b] = a % banks == b % banks && a / banks / 2 != b / banks / 2;
  return all;
}

TEST(BankGroups, AreWhatWaitsForEachOther) {
  const auto groups = group_banks(waits(160, 16));
  EXPECT_EQ(groups.banks, 16U);
  EXPECT_EQ(groups.contradictions, 0U);
  for (std::size_t i = 0; i < 160; ++i) EXPECT_EQ(groups.bank[i], i % 16) << i;
  const auto count = bank_count(groups);
  ASSERT_TRUE(count.ok()) << count.reason;
  EXPECT_EQ(count.value, 16);
}

TEST(BankGroups, TooFewLinesMayMissABank) {
  EXPECT_EQ(bank_count(group_banks(waits(40, 16))).outcome, Outcome::inconclusive);
  EXPECT_EQ(bank_count(group_banks({})).outcome, Outcome::inconclusive);
}

TEST(BankGroups, FalseWaitsAreSeen) {
  auto all = waits(160, 16);
  for (std::size_t bank = 1; bank < 16; ++bank) all[0][bank] = all[bank][0] = true;
  const auto groups = group_banks(all);
  EXPECT_EQ(groups.banks, 1U);
  EXPECT_EQ(bank_count(groups).outcome, Outcome::inconclusive);
}

TEST(CostOfOne, IsTheSlope) {
  const std::vector<CostSeries> series{{{1, 500}, {2, 509}, {3, 518}, {4, 527}},
                                       {{1, 512}, {2, 521}, {3, 529}, {4, 538}}};
  const auto cost = cost_of_one(series);
  ASSERT_TRUE(cost.ok()) << cost.reason;
  EXPECT_NEAR(cost.value, 8.8, 0.2);
  EXPECT_LE(cost.interval.low, 8.84);
  EXPECT_GE(cost.interval.high, 8.84);
}

TEST(CostOfOne, NeedsALineAndAgreement) {
  EXPECT_EQ(cost_of_one({}).outcome, Outcome::inconclusive);
  EXPECT_EQ(cost_of_one(std::vector<CostSeries>{{{1, 500}, {2, 500}, {3, 500}, {4, 500}}}).outcome,
            Outcome::inconclusive);
  EXPECT_EQ(cost_of_one(std::vector<CostSeries>{{{1, 500}, {2, 500}, {3, 560}, {4, 560}}}).outcome,
            Outcome::inconclusive);
  EXPECT_EQ(
      cost_of_one(std::vector<CostSeries>{{{1, 500}, {2, 520}, {3, 540}}, {{1, 500}, {2, 560}, {3, 620}}}).outcome,
      Outcome::inconclusive);
}

/// Loads of which a share comes late by as much, with noise.
LateHistogram loads(std::uint64_t count, double share, double stall, double noise) {
  Random random(11);
  LateHistogram bins;
  for (std::uint64_t i = 0; i < count; ++i)
    bins.emplace_back((random.uniform() < share ? stall : 0) + noise * random.normal(), 1);
  return bins;
}

TEST(LateLoads, AreCountedAndMeasured) {
  for (const double noise : {0.0, 12.0}) {
    const auto late = late_loads(loads(60'000, 0.02, 546, noise));
    ASSERT_TRUE(late.fraction.ok()) << late.fraction.reason;
    EXPECT_EQ(late.kind, LateKind::fixed);
    EXPECT_LE(late.fraction.interval.low, 0.02);
    EXPECT_GE(late.fraction.interval.high, 0.02);
    EXPECT_LT(late.fraction.interval.high - late.fraction.interval.low, 0.007);
    EXPECT_NEAR(late.stall_cycles.value, 546, 2);
    EXPECT_LE(late.stall_cycles.interval.low, 546);
    EXPECT_GE(late.stall_cycles.interval.high, 546);
  }
}

TEST(LateLoads, AreNoneOrOfNoCommonSize) {
  EXPECT_EQ(late_loads(loads(20'000, 0, 0, 12)).fraction.outcome, Outcome::inconclusive);
  EXPECT_EQ(late_loads(loads(100, 0.1, 500, 1)).fraction.outcome, Outcome::inconclusive);
  LateHistogram spread = loads(20'000, 0, 0, 3);
  // Fewer and fewer the later they are: neither of one length nor the rest of one.
  for (int i = 0; i < 2000; ++i) spread.emplace_back(-150 * std::log(1 - (i + 0.5) / 2000), 1);
  EXPECT_EQ(late_loads(spread).fraction.outcome, Outcome::inconclusive);
}

TEST(LateLoads, MayWaitForTheRestOfARefresh) {
  Random random(4);
  LateHistogram bins;
  for (int i = 0; i < 60'000; ++i)
    bins.emplace_back((random.uniform() < 0.13 ? 515 * random.uniform() : 0) + 4 * random.normal(), 1);
  const auto late = late_loads(bins);
  ASSERT_EQ(late.kind, LateKind::rest) << late.fraction.reason;
  EXPECT_LE(late.fraction.interval.low, 0.13);
  EXPECT_GE(late.fraction.interval.high, 0.13);
  EXPECT_LE(late.stall_cycles.interval.low, 515);
  EXPECT_GE(late.stall_cycles.interval.high, 515);
  EXPECT_LT(late.stall_cycles.interval.high - late.stall_cycles.interval.low, 60);
}

/// When loads of one line began, and which met a window that comes again and again.
struct Loads {
  std::vector<double> all;
  std::vector<double> late;
};
Loads loads_of_a_line(double period, double window, std::size_t count) {
  Random random(7);
  Loads loads;
  double now = 1234;
  for (std::size_t i = 0; i < count; ++i) {
    loads.all.push_back(now);
    const double phase = std::fmod(now, period);
    const bool late = phase < window;
    if (late) loads.late.push_back(now);
    now += 520 + (late ? 546 : 0) + 330 * static_cast<double>(random.below(4));
  }
  return loads;
}

TEST(EventPeriod, IsFound) {
  for (const double period : {10140.0, 3333.3}) {
    const auto loads = loads_of_a_line(period, 0.03 * period, 30'000);
    const auto found = event_period(loads.late, loads.all, 1000, 130'000);
    ASSERT_TRUE(found.ok()) << period << ": " << found.reason;
    EXPECT_LE(found.interval.low, period);
    EXPECT_GE(found.interval.high, period);
    EXPECT_LT(found.interval.high - found.interval.low, 0.002 * period);
  }
}

TEST(EventPeriod, IsNoneInChance) {
  Random random(9);
  Loads loads;
  double now = 0;
  for (int i = 0; i < 30'000; ++i) {
    loads.all.push_back(now);
    if (random.uniform() < 0.02) loads.late.push_back(now);
    now += 520 + 330 * static_cast<double>(random.below(4));
  }
  EXPECT_EQ(event_period(loads.late, loads.all, 1000, 130'000).outcome, Outcome::inconclusive);
  EXPECT_EQ(event_period(std::span(loads.late).first(20), loads.all, 520, 130'000).outcome, Outcome::inconclusive);
}

TEST(EventPeriod, OfAllLoadsIsNotThatOfTheLateOnes) {
  Random random(9);
  Loads loads;
  for (int i = 0; i < 30'000; ++i) {
    loads.all.push_back(1000.0 * i);
    if (random.uniform() < 0.02) loads.late.push_back(1000.0 * i);
  }
  EXPECT_EQ(event_period(loads.late, loads.all, 1000, 130'000).outcome, Outcome::inconclusive);
}

TEST(FirstMissCycles, AreTheFirstPlateau) {
  const std::vector<PagesCost> two{{4, 0, -1, 1},   {8, 0, -1, 1},        {16, 10, 9, 11},     {32, 10, 9, 11},
                                   {64, 10, 9, 11}, {128, 104, 103, 105}, {256, 104, 103, 105}};
  const auto cost = first_miss_cycles(two);
  ASSERT_TRUE(cost.ok()) << cost.reason;
  EXPECT_EQ(cost.value, 10);
  const std::vector<PagesCost> slope{{4, 0, -1, 1}, {8, 10, 9, 11}, {16, 30, 29, 31}, {32, 90, 89, 91}};
  EXPECT_EQ(first_miss_cycles(slope).outcome, Outcome::inconclusive);
  const std::vector<PagesCost> flat{{4, 0, -1, 1}, {8, 0, -1, 1}, {16, 0, -1, 1}};
  EXPECT_EQ(first_miss_cycles(flat).outcome, Outcome::inconclusive);
  const std::vector<PagesCost> high{{4, 40, 39, 41}, {8, 40, 39, 41}, {16, 40, 39, 41}};
  EXPECT_EQ(first_miss_cycles(high).outcome, Outcome::inconclusive);
}

}  // namespace
}  // namespace gpusonde
