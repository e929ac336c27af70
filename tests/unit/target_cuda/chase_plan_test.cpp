// A plan does all the work that was asked for, in launches short enough for a watchdog.
#include "target/cuda/chase_plan.hpp"

#include <gtest/gtest.h>

#include <map>

namespace gpusonde::cuda {
namespace {

ChaseExperiment chase(std::uint64_t nodes, Warmup warmup) {
  ChaseExperiment e;
  e.ring.order.node_count = nodes;
  e.warmup = warmup;
  return e;
}

std::map<std::uint32_t, std::uint64_t> hops_by_repetition(const std::vector<ChaseLaunch>& plan) {
  std::map<std::uint32_t, std::uint64_t> hops;
  for (const auto& launch : plan)
    for (std::uint32_t i = 0; i < launch.repetitions; ++i) hops[launch.first_repetition + i] += launch.hops;
  return hops;
}

std::uint64_t lead_hops(const std::vector<ChaseLaunch>& plan) {
  std::uint64_t sum = 0;
  for (const auto& launch : plan) sum += launch.lead_hops;
  return sum;
}

TEST(ChasePlan, ASmallRingIsOneLaunch) {
  const auto plan = plan_chase(chase(1024, Warmup::serial));
  ASSERT_EQ(plan.size(), 1U);
  EXPECT_EQ(plan[0], (ChaseLaunch{.lead_hops = 1024, .hops = 4096, .repetitions = 3}));
}

TEST(ChasePlan, SerialWarmUpIsWholeTurnsOfEight) {
  EXPECT_EQ(plan_chase(chase(1001, Warmup::serial))[0].lead_hops, 1008U);
}

TEST(ChasePlan, NoWarmUpWalksNothing) {
  const auto plan = plan_chase(chase(std::uint64_t{1} << 20, Warmup::none));
  ASSERT_EQ(plan.size(), 1U);
  EXPECT_EQ(plan[0], (ChaseLaunch{.hops = 4096, .repetitions = 3}));
}

TEST(ChasePlan, ALongSerialWarmUpIsCut) {
  const auto plan = plan_chase(chase(std::uint64_t{1} << 24, Warmup::serial));
  EXPECT_EQ(lead_hops(plan), std::uint64_t{1} << 24);
  for (const auto& launch : plan)
    EXPECT_LE((launch.lead_hops + launch.hops * launch.repetitions) * 1200, 400'000'000U) << "ns, at 1200 a hop";
  EXPECT_EQ(hops_by_repetition(plan), (std::map<std::uint32_t, std::uint64_t>{{0, 4096}, {1, 4096}, {2, 4096}}));
}

TEST(ChasePlan, ALongRepetitionIsCutAndAddsUp) {
  auto e = chase(std::uint64_t{1} << 20, Warmup::none);
  e.hops = 1'000'000;
  e.repetitions = 2;
  const auto plan = plan_chase(e);
  EXPECT_GT(plan.size(), 2U);
  EXPECT_EQ(hops_by_repetition(plan), (std::map<std::uint32_t, std::uint64_t>{{0, 1'000'000}, {1, 1'000'000}}));
  for (const auto& launch : plan) EXPECT_EQ(launch.hops % 8, 0U);
}

TEST(ChasePlan, WhatL1HoldsIsWarmedAgainInEachLaunch) {
  auto e = chase(1000, Warmup::serial);
  e.hops = 800'000;
  const auto plan = plan_chase(e);
  ASSERT_EQ(plan.size(), 3U);
  for (const auto& launch : plan) EXPECT_EQ(launch.lead_hops, 1000U);
}

TEST(ChasePlan, WhatL2HoldsIsWarmedOnce) {
  auto e = chase(1000, Warmup::serial);
  e.path = LoadPath::global_cg;
  e.hops = 800'000;
  EXPECT_EQ(lead_hops(plan_chase(e)), 1000U);
}

TEST(ChasePlan, ParallelWarmUpCoversTheRingEachLap) {
  auto e = chase(std::uint64_t{100'000'000}, Warmup::parallel);
  e.warmup_laps = 2;
  std::uint64_t next = 0;
  std::uint64_t visits = 0;
  for (const auto& launch : plan_chase(e)) {
    if (launch.warm_count == 0) continue;
    EXPECT_EQ(launch.warm_first, next);
    EXPECT_LE(launch.warm_count, std::uint64_t{1} << 26);
    next = (next + launch.warm_count) % e.ring.order.node_count;
    visits += launch.warm_count;
  }
  EXPECT_EQ(visits, 200'000'000U);
}

TEST(ChasePlan, PerHopSamplesStayTogether) {
  auto e = chase(std::uint64_t{1} << 24, Warmup::parallel);
  e.timing = HopTiming::per_hop;
  e.hops = 4096;
  e.repetitions = 2;
  const auto plan = plan_chase(e);
  EXPECT_EQ(plan.back().repetitions, 2U);
  EXPECT_EQ(plan.back().hops, 4096U);
}

}  // namespace
}  // namespace gpusonde::cuda
