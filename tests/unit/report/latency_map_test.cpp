// How a map of latencies is ordered, binned and shaded, against closed forms and against sums made one by one.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <random>

#include "map_sample.hpp"
#include "report/latency_map.hpp"

namespace gpusonde::report {
namespace {

using testing::ElementsAre;

std::vector<std::uint64_t> sm_numbers(const LatencyMap& map) {
  std::vector<std::uint64_t> out;
  for (const auto& sm : map.sms) out.push_back(sm.number);
  return out;
}

TEST(LatencyMap, SmsBySideAndLinesByHomeSliceAndPlace) {
  const sample::MapShape shape;
  const auto map = latency_map(sample::mapped(shape).measurements, "slices.load");
  ASSERT_TRUE(map);
  EXPECT_THAT(sm_numbers(*map), ElementsAre(0, 2, 4, 6, 1, 3, 5, 7));
  ASSERT_EQ(map->lines.size(), 64U);
  for (std::size_t i = 0; i < map->lines.size(); ++i) {
    const auto& line = map->lines[i];
    const auto slice = sample::slice_of(line.place_bytes / 128, shape);
    EXPECT_EQ(line.slice, static_cast<double>(slice));
    EXPECT_EQ(line.home_side, static_cast<double>(sample::side_of_slice(slice, shape)));
    if (i == 0) continue;
    const auto key = [](const MapLine& l) { return std::tuple(l.home_side, l.slice, l.place_bytes); };
    EXPECT_LT(key(map->lines[i - 1]), key(line));
  }
  EXPECT_EQ(sides_of_sms(*map).size(), 2U);
  EXPECT_EQ(sides_of_lines(*map).size(), 2U);
  EXPECT_EQ(slices_of_lines(*map).size(), 4U);
  EXPECT_EQ(map->least_cycles, 200);
  EXPECT_EQ(map->most_cycles, 283);
}

TEST(LatencyMap, EveryCellIsTheReadingOfItsSmAndLine) {
  const sample::MapShape shape{6, 40, 4};
  const auto map = latency_map(sample::mapped(shape).measurements, "slices.load");
  ASSERT_TRUE(map);
  double sum = 0;
  for (std::size_t s = 0; s < 6; ++s) {
    for (std::size_t i = 0; i < 40; ++i) {
      const auto wanted = sample::map_cycles(map->sms[s].number, map->lines[i].place_bytes / 128, shape);
      EXPECT_EQ(map->cycles({s, 1}, {i, 1}), static_cast<double>(wanted));
      sum += static_cast<double>(wanted);
    }
  }
  EXPECT_NEAR(map->cycles({0, 6}, {0, 40}), sum / 240, 1e-9);
  EXPECT_NEAR(map->mean_cycles, sum / 240, 1e-9);
}

TEST(LatencyMap, InTheOrderGivenWithoutSlicesAndSides) {
  gpusonde::Run run;
  sample::add_map(run, {4, 10, 2});
  const auto map = latency_map(run.measurements, "slices.load");
  ASSERT_TRUE(map);
  EXPECT_THAT(sm_numbers(*map), ElementsAre(0, 1, 2, 3));
  for (std::size_t i = 0; i < 10; ++i) EXPECT_EQ(map->lines[i].place_bytes, 128 * i);
  EXPECT_FALSE(map->sms_have_sides || map->lines_have_sides || map->lines_have_slices);
  EXPECT_EQ(slices_of_lines(*map).size(), 1U);
}

TEST(LatencyMap, LinesAreFoundByPlaceNotByRow) {
  const sample::MapShape shape{4, 30, 4};
  auto run = sample::mapped(shape);
  // Another table of the same run with the odd lines alone.
  auto& atomics = run.measurements.table("slices.atomic");
  for (std::uint64_t line = 1; line < 30; line += 2) {
    atomics.make<std::uint64_t>("place_bytes").push_back(128 * line);
    atomics.make<std::uint64_t>("sm_1_eighth_cycles").push_back(8 * 300);
  }
  const auto map = latency_map(run.measurements, "slices.atomic");
  ASSERT_TRUE(map);
  ASSERT_EQ(map->lines.size(), 15U);
  for (const auto& line : map->lines)
    EXPECT_EQ(line.slice, static_cast<double>(sample::slice_of(line.place_bytes / 128, shape)));
  EXPECT_EQ(map->sms[0].side, 1);
}

TEST(LatencyMap, WhatIsNotClearComesLast) {
  auto run = sample::mapped();
  run.measurements.table("derived.slices.lines").make<double>("slice")[0] = sample::k_nan;
  run.measurements.table("derived.slices.lines").make<double>("home_side")[0] = sample::k_nan;
  run.measurements.table("derived.slices.sms").make<double>("side")[0] = sample::k_nan;
  const auto map = latency_map(run.measurements, "slices.load");
  ASSERT_TRUE(map);
  EXPECT_EQ(map->lines.back().place_bytes, 0U);
  EXPECT_THAT(sm_numbers(*map), ElementsAre(2, 4, 6, 1, 3, 5, 7, 0));
  EXPECT_EQ(sides_of_sms(*map).size(), 3U);
  EXPECT_EQ(side_text(map->sms.back().side), "?");
}

TEST(LatencyMap, AReadingOfZeroIsNone) {
  gpusonde::Run run;
  auto& table = run.measurements.table("slices.load");
  table.make<std::uint64_t>("place_bytes") = {0, 128, 256};
  table.make<std::uint64_t>("sm_0_eighth_cycles") = {0, 1600, 2400};
  table.make<std::uint64_t>("sm_1_eighth_cycles") = {0, 800, 0};
  const auto map = latency_map(run.measurements, "slices.load");
  ASSERT_TRUE(map);
  EXPECT_EQ(map->least_cycles, 100);
  EXPECT_EQ(map->mean_cycles, 200);
  EXPECT_EQ(map->cycles({0, 1}, {0, 3}), 250);
  EXPECT_TRUE(std::isnan(map->cycles({0, 2}, {0, 1})));
}

TEST(LatencyMap, TablesThatHoldNoneGiveNone) {
  gpusonde::Run run;
  EXPECT_FALSE(latency_map(run.measurements, "slices.load"));
  auto& table = run.measurements.table("slices.load");
  table.make<std::uint64_t>("place_bytes") = {0, 128};
  for (const char* name : {"sm__eighth_cycles", "sm_x_eighth_cycles", "sm_1_cycles", "sm_1x_eighth_cycles",
                           "sm_99999999999999999999_eighth_cycles"})
    table.make<std::uint64_t>(name) = {8, 8};
  EXPECT_FALSE(latency_map(run.measurements, "slices.load"));
  table.make<std::uint64_t>("sm_1_eighth_cycles") = {0, 0};
  EXPECT_FALSE(latency_map(run.measurements, "slices.load")) << "no reading";
}

TEST(MapBins, CoverEveryElementOnceAndStayWithinTheirGroups) {
  std::mt19937_64 random(7);
  for (int round = 0; round < 500; ++round) {
    std::vector<MapBin> groups;
    std::size_t elements = 0;
    for (std::size_t n = 1 + random() % 40; n > 0; --n) {
      groups.push_back({elements, 1 + random() % (round % 3 == 0 ? 3 : 400)});
      elements += groups.back().count;
    }
    const auto most = groups.size() + random() % 700;
    const auto bins = bins_within(groups, most);
    EXPECT_LE(bins.size(), most);
    if (elements <= most) {
      EXPECT_EQ(bins.size(), elements);
    }
    std::size_t next = 0, group = 0;
    for (const auto& bin : bins) {
      ASSERT_EQ(bin.first, next);
      ASSERT_GT(bin.count, 0U);
      while (bin.first >= groups[group].first + groups[group].count) ++group;
      EXPECT_LE(bin.first + bin.count, groups[group].first + groups[group].count);
      next = bin.first + bin.count;
    }
    EXPECT_EQ(next, elements);
  }
}

TEST(MapBins, GiveUpSlicesBeforeSides) {
  const auto map = latency_map(sample::mapped({4, 4000, 100}).measurements, "slices.load");
  ASSERT_TRUE(map);
  const auto crossings = [&](const std::vector<MapBin>& bins, auto member) {
    return std::count_if(bins.begin(), bins.end(), [&](const MapBin& bin) {
      return map->lines[bin.first].*member != map->lines[bin.first + bin.count - 1].*member;
    });
  };
  EXPECT_EQ(crossings(bins_of_lines(*map, 150), &MapLine::slice), 0);
  EXPECT_GT(crossings(bins_of_lines(*map, 60), &MapLine::slice), 0);
  EXPECT_EQ(crossings(bins_of_lines(*map, 60), &MapLine::home_side), 0);
  EXPECT_EQ(bins_of_lines(*map, 1).size(), 1U);
}

TEST(HeatScale, AFewOutliersDoNotTakeTheShades) {
  std::vector<std::vector<double>> cells(1);
  for (int i = 0; i < 1000; ++i) cells[0].push_back(200 + i * 0.1);
  for (int i = 0; i < 5; ++i) cells[0][static_cast<std::size_t>(200 * i)] = 5000;
  cells[0].push_back(sample::k_nan);
  const auto scale = heat_scale(cells);
  EXPECT_NEAR(scale.low, 201, 0.5);
  EXPECT_NEAR(scale.high, 299.5, 0.5);
  EXPECT_TRUE(scale.above && scale.below);
  EXPECT_EQ(scale.shade(0, 16), 0U);
  EXPECT_EQ(scale.shade(5000, 16), 15U);
  EXPECT_EQ(scale.shade((scale.low + scale.high) / 2 + 0.01, 16), 8U);
}

TEST(HeatScale, FewCellsReachToTheirEndsAndEqualOnesHaveOneShade) {
  const auto few = heat_scale({{10, 20}, {30, 26}});
  EXPECT_EQ(few.low, 10);
  EXPECT_EQ(few.high, 30);
  EXPECT_FALSE(few.above || few.below);
  EXPECT_EQ(few.shade(30, 5), 4U);
  EXPECT_EQ(few.shade(17.9, 5), 1U);
  const auto flat = heat_scale({{7, 7}});
  EXPECT_EQ(flat.shade(7, 5), 0U);
  EXPECT_EQ(heat_scale({{sample::k_nan}}).high, 0);
}

}  // namespace
}  // namespace gpusonde::report
