// On a real GPU: the samples mean what they say. Nothing here depends on which GPU it is, only on what
// every one since Volta has in common.
#include "target/cuda/cuda_target.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdio>

namespace gpusonde {
namespace {

class OnDevice : public ::testing::Test {
 protected:
  void SetUp() override {
    auto target = open_cuda_target("0");
    if (!target && target.error().kind == ErrorKind::no_device) GTEST_SKIP() << target.error().message;
    ASSERT_TRUE(target.has_value()) << target.error().message;
    m_target = std::move(*target);
  }

  static ChaseExperiment chase(std::uint64_t bytes, Warmup warmup = Warmup::serial) {
    ChaseExperiment e;
    e.ring.order = {.node_count = bytes / 128, .stride_bytes = 128, .group_nodes = 0, .jitter_lines = 1, .seed = 3};
    e.warmup = warmup;
    return e;
  }

  template <class Kind>
  Kind run_as(const Experiment& experiment) {
    auto samples = m_target->run(std::span(&experiment, 1), {});
    EXPECT_TRUE(samples.has_value()) << samples.error().message;
    return samples ? std::get<Kind>(samples->front()) : Kind{};
  }
  ChaseSamples run(const Experiment& experiment) { return run_as<ChaseSamples>(experiment); }

  // One node a page, `apart_bytes` from one to the next, and one a line of the page that all of them are.
  static ListChaseExperiment aliases(std::uint64_t pages, std::uint64_t apart_bytes) {
    ListChaseExperiment e;
    e.region = Region::aliases;
    for (std::uint64_t i = 0; i < pages; ++i) e.places.push_back(i * apart_bytes + i * 1024);
    return e;
  }

  template <class Chase>
  double latency(const Chase& e) {
    auto cycles = run(e).cycles;
    if (cycles.empty()) return -1;
    std::sort(cycles.begin(), cycles.end());
    return static_cast<double>(cycles[cycles.size() / 2]) / static_cast<double>(e.hops);
  }

  std::unique_ptr<Target> m_target;
};

TEST_F(OnDevice, LevelsAreInOrder) {
  auto shared = chase(16 << 10);
  shared.path = LoadPath::shared;
  auto l2 = chase(16 << 10);
  l2.path = LoadPath::global_cg;
  const double in_shared = latency(shared);
  const double in_l1 = latency(chase(16 << 10));
  const double in_l2 = latency(l2);
  const double in_dram = latency(chase(std::uint64_t{1} << 30, Warmup::parallel));
  EXPECT_GT(in_shared, 10);
  EXPECT_LT(in_shared, in_l1);
  EXPECT_LT(in_l1, 60);
  EXPECT_GT(in_l2, 3 * in_l1);
  EXPECT_GT(in_dram, 1.3 * in_l2);
}

TEST_F(OnDevice, AnIndexChainAddsAddressArithmetic) {
  auto index = chase(16 << 10);
  index.chain = ChainKind::index;
  const double added = latency(index) - latency(chase(16 << 10));
  EXPECT_GT(added, 2);
  EXPECT_LT(added, 12);
}

TEST_F(OnDevice, ParallelAndSerialWarmUpAgreeInL1AndL2) {
  EXPECT_NEAR(latency(chase(64 << 10, Warmup::parallel)), latency(chase(64 << 10)), 0.5);
  auto serial = chase(4 << 20);
  auto parallel = chase(4 << 20, Warmup::parallel);
  EXPECT_NEAR(latency(parallel) / latency(serial), 1.0, 0.02);
}

TEST_F(OnDevice, WithoutWarmUpTheFirstHopsMiss) {
  auto e = chase(64 << 10, Warmup::none);
  e.hops = 64;
  e.repetitions = 1;
  EXPECT_GT(latency(e), 3 * latency(chase(64 << 10)));
}

TEST_F(OnDevice, ARepetitionInPiecesAddsUp) {
  auto e = chase(8 << 20);
  e.path = LoadPath::global_cg;
  e.hops = 1 << 20;  // several launches
  e.repetitions = 1;
  auto short_one = e;
  short_one.hops = 1 << 14;
  EXPECT_NEAR(latency(e) / latency(short_one), 1.0, 0.03);
}

TEST_F(OnDevice, PerHopTimesEveryHop) {
  auto e = chase(16 << 10);
  e.timing = HopTiming::per_hop;
  e.hops = 1024;
  e.repetitions = 2;
  const auto samples = run(e);
  ASSERT_EQ(samples.hop_cycles.size(), 2048U);
  const auto [least, most] = std::minmax_element(samples.hop_cycles.begin(), samples.hop_cycles.end());
  EXPECT_GE(*least, static_cast<std::uint32_t>(latency(chase(16 << 10))));
  EXPECT_LT(*least, 120U);
  EXPECT_LT(*most, 65535U);
}

TEST_F(OnDevice, RunsOnTheChosenSm) {
  const auto last = m_target->device().sm_count - 1;
  for (const std::uint32_t sm : {0U, last / 2, last}) {
    auto e = chase(16 << 10);
    e.sm = sm;
    EXPECT_EQ(run(e).sm, sm);
  }
}

TEST_F(OnDevice, AliasesOfALineAreOneLineInL2) {
  if (const auto space = m_target->alias_space(); space.page_bytes == 0) GTEST_SKIP() << space.why_not;
  auto apart = aliases(8, 32 << 20);
  apart.warmup_hops = 1024;
  apart.hops = 4096;
  apart.repetitions = 5;
  auto together = apart;
  for (auto& place : together.places) place %= 32 << 20;
  // On one SM, since not every SM is as far from a line's L2 slice.
  together.sm = apart.sm = 0;
  const double of_one_page = latency(together);
  const double of_many = latency(apart);
  std::printf("%.1f cycles a hop through one page, %.1f through eight\n", of_one_page, of_many);
  EXPECT_GT(of_one_page, 100);
  EXPECT_NEAR(of_many / of_one_page, 1.0, 0.01);
  m_target->release_aliases();
  EXPECT_NEAR(latency(apart) / of_one_page, 1.0, 0.01);
}

// L1 goes by virtual addresses: a line that it holds under one is missed under another.
TEST_F(OnDevice, ALineMissesL1ThroughAnotherAliasOnce) {
  if (const auto space = m_target->alias_space(); space.page_bytes == 0) GTEST_SKIP() << space.why_not;
  constexpr std::uint64_t k_second_page = 32 << 20;
  ListChaseExperiment e;
  e.region = Region::aliases;
  // A line; another one of the second page, which fetches the translation; the first line through that page.
  e.places = {0, k_second_page + 4096, k_second_page + 8};
  e.path = LoadPath::global_ca;
  e.timing = HopTiming::per_hop;
  e.hops = 8;
  e.repetitions = 1;
  const auto samples = run(e);
  ASSERT_EQ(samples.hop_cycles.size(), 8U);
  const auto first_touch = samples.hop_cycles[2];
  const auto second_touch = samples.hop_cycles[5];
  std::printf("first touch through a second alias %u cycles, second touch %u\n", first_touch, second_touch);
  EXPECT_GT(first_touch, 2 * second_touch);
}

TEST_F(OnDevice, AListIsWarmedOnAnotherSm) {
  ListChaseExperiment e;
  for (std::uint64_t i = 0; i < 64; ++i) e.places.push_back(i * 37 % 64 * 4096);
  e.path = LoadPath::global_ca;
  e.warmup_hops = 64;
  e.repetitions = 1;
  e.sm = 1;
  const auto warm = run(e);
  e.warmup_sm = m_target->device().sm_count - 1;
  const auto cold = run(e);
  EXPECT_EQ(warm.sm, 1U);
  EXPECT_EQ(cold.sm, 1U);
  ASSERT_FALSE(warm.cycles.empty() || cold.cycles.empty());
  EXPECT_GT(cold.cycles[0], 3 * warm.cycles[0]);  // what is warm in one SM's L1 is not in another's
}

TEST_F(OnDevice, ASecondTimedLoadHitsL1) {
  SequenceExperiment e;
  e.places = {0, 4096, 64 << 10, 1 << 20};
  e.steps = {{StepKind::time, 0, 4, 2}, {StepKind::time, 0, 4, 1}};
  e.tests = {0, 1};
  e.path = LoadPath::global_ca;
  const auto cycles = run_as<SequenceSamples>(e).cycles;
  ASSERT_EQ(cycles.size(), 12U);
  for (std::size_t i = 0; i < 4; ++i) {
    EXPECT_GT(cycles[i], 2 * cycles[4 + i]) << i;  // L1 is empty at the beginning of a test
    EXPECT_LT(cycles[4 + i], 120U) << i;
    EXPECT_GT(cycles[8 + i], 2 * cycles[4 + i]) << i;  // and of the next
  }
}

TEST_F(OnDevice, ADroppedLineTakesLongerThanOneThatL2Has) {
  if (!m_target->capabilities().drops_lines) GTEST_SKIP() << "this GPU has no instruction that drops a line";
  constexpr std::uint32_t k_lines = 32;
  SequenceExperiment e;
  for (std::uint64_t i = 0; i < k_lines; ++i) e.places.push_back(i * 64 << 10);
  e.steps = {{StepKind::walk, 0, k_lines, 2},
             {StepKind::time, 0, k_lines, 1},
             {StepKind::drop, 0, k_lines, 1},
             {StepKind::time, 0, k_lines, 1}};
  const auto cycles = run_as<SequenceSamples>(e).cycles;
  ASSERT_EQ(cycles.size(), 2 * k_lines);
  const auto median = [&](std::size_t first) {
    std::vector<std::uint32_t> some(cycles.begin() + static_cast<std::ptrdiff_t>(first),
                                    cycles.begin() + static_cast<std::ptrdiff_t>(first + k_lines));
    std::sort(some.begin(), some.end());
    return some[k_lines / 2];
  };
  std::printf("median of a hit in L2 %u cycles, after a drop %u\n", median(0), median(k_lines));
  EXPECT_GT(median(k_lines), 1.3 * median(0));
}

TEST_F(OnDevice, ALineMapHasARowAnSm) {
  LineMapExperiment e;
  for (std::uint64_t i = 0; i < 64; ++i) e.places.push_back(i * 37 % 64 * 4096);
  const auto map = run_as<LineMapSamples>(e);
  const auto sms = m_target->device().sm_count;
  ASSERT_EQ(map.sms.size(), sms);
  ASSERT_EQ(map.eighth_cycles.size(), std::size_t{64} * sms);
  EXPECT_EQ(map.sms.back(), sms - 1);
  const auto [least, most] = std::minmax_element(map.eighth_cycles.begin(), map.eighth_cycles.end());
  EXPECT_GT(*least, 100 * 8);
  EXPECT_LT(*most, 1500 * 8);
  EXPECT_LT(*least, *most);
}

// A single line would not do: lanes of a warp that ask for the same one are answered together.
TEST_F(OnDevice, ManyLinesAreServedFasterThanFew) {
  const auto lines_per_cycle = [&](std::uint64_t lines) {
    ThroughputExperiment e;
    for (std::uint64_t i = 0; i < lines; ++i) e.places.push_back(i * 128);
    const auto samples = run_as<ThroughputSamples>(e);
    return static_cast<double>(samples.lines) / samples.cycles;
  };
  const double of_few = lines_per_cycle(64);
  const double of_many = lines_per_cycle(4096);
  std::printf("%.2f lines a cycle of 64 lines, %.2f of 4096\n", of_few, of_many);
  EXPECT_GT(of_few, 0.05);
  EXPECT_GT(of_many, 1.5 * of_few);
}

// What every chip since Volta does: the same chase by two kernels, whole cycles, and no more than pins carry.
TEST_F(OnDevice, OneChainTakesWhatAChaseTakes) {
  auto alone = chase(4096 * 128, Warmup::parallel);
  alone.path = LoadPath::global_cg;
  LoadedChaseExperiment loaded;
  loaded.ring = alone.ring;
  loaded.warmup_rounds = 4096;  // by itself: another SM may stand on the other side of L2
  loaded.rounds = 1024;
  const auto samples = run_as<LoadedChaseSamples>(loaded);
  EXPECT_NEAR(samples.round_cycles, latency(alone), 0.1 * latency(alone));  // on another SM
  EXPECT_EQ(samples.loads, 1024U);
}

TEST_F(OnDevice, IndependentChainsOverlap) {
  LoadedChaseExperiment loaded;
  loaded.ring = chase(4096 * 128).ring;
  loaded.warmup_rounds = 4096;
  const auto one = run_as<LoadedChaseSamples>(loaded);
  loaded.chains = 8;
  const auto eight = run_as<LoadedChaseSamples>(loaded);
  EXPECT_GT(eight.round_cycles, one.round_cycles);
  EXPECT_LT(eight.round_cycles, 3 * one.round_cycles);
}

TEST_F(OnDevice, StreamsBringNoMoreThanPinsCarry) {
  const auto& nominal = m_target->device().nominal;
  if (nominal.memory_clock_mhz == 0 || nominal.bus_width_bits == 0) GTEST_SKIP() << "the driver does not say how fast";
  BandwidthExperiment e;
  e.bytes = std::uint64_t{1} << 30;
  e.passes = 2;
  const auto samples = run_as<BandwidthSamples>(e);
  const double bytes_per_ns = static_cast<double>(samples.bytes) / static_cast<double>(samples.wall_ns);
  const double pins = 2e-3 * nominal.memory_clock_mhz * nominal.bus_width_bits / 8;
  EXPECT_LT(bytes_per_ns, pins);
  EXPECT_GT(bytes_per_ns, 0.3 * pins);
}

TEST_F(OnDevice, AnFfmaWaitsFourCycles) {
  InstructionExperiment e;
  const auto samples = run_as<InstructionSamples>(e);
  ASSERT_FALSE(samples.short_cycles.empty());
  const auto least = [](const std::vector<std::uint64_t>& c) {
    return static_cast<double>(*std::min_element(c.begin(), c.end()));
  };
  const double slope = (least(samples.long_cycles) - least(samples.short_cycles)) /
                       static_cast<double>(samples.long_length - samples.short_length);
  EXPECT_NEAR(slope, 4, 0.1);
}

TEST_F(OnDevice, ReadOnlyLoadsHitWhereOrdinaryOnesDo) {
  MemoryChaseExperiment e;
  e.kind = MemoryKind::read_only;
  e.bytes = 8192;
  e.stride_bytes = 128;
  const auto samples = run_as<MemoryChaseSamples>(e);
  ASSERT_FALSE(samples.cycles.empty());
  const double cycles = static_cast<double>(samples.cycles.back()) / static_cast<double>(samples.hops);
  EXPECT_NEAR(cycles, latency(chase(8192)), 2);
}

TEST_F(OnDevice, AWholeWarpOnOneLineTakesAboutOneLoad) {
  SequenceExperiment e;
  e.path = LoadPath::global_cg;
  for (std::uint64_t lane = 0; lane < 32; ++lane) e.places.push_back(lane * 4);
  e.lane_bytes = 4;
  e.steps = {{StepKind::gather, 0, 32, 8}, {StepKind::time, 0, 1, 8}};
  const auto samples = run_as<SequenceSamples>(e);
  ASSERT_EQ(samples.cycles.size(), 16U);
  EXPECT_NEAR(samples.cycles[7], samples.cycles[15], 0.25 * samples.cycles[15]);
}

TEST_F(OnDevice, AClustersOwnSharedMemoryIsNearest) {
  if (m_target->capabilities().max_cluster_blocks == 0) GTEST_SKIP() << m_target->capabilities().why_no_clusters;
  ClusterExperiment e;
  const auto samples = run_as<ClusterSamples>(e);
  ASSERT_EQ(samples.cycles.size(), std::size_t{e.blocks} * e.blocks);
  for (std::size_t from = 0; from < e.blocks; ++from) {
    const auto* of_block = &samples.cycles[from * e.blocks];
    for (std::size_t to = 0; to < e.blocks; ++to)
      EXPECT_TRUE(to == from || of_block[to] > 2 * of_block[from]) << from << " to " << to;
  }
}

TEST_F(OnDevice, BothClocksAgree) {
  const std::vector<Experiment> experiments{ClockExperiment{}, TimerExperiment{}, LoopOverheadExperiment{}};
  const auto samples = m_target->run(experiments, {});
  ASSERT_TRUE(samples.has_value()) << samples.error().message;
  const auto& clock = std::get<ElapsedSamples>((*samples)[0]);
  const double mhz = 1000.0 * static_cast<double>(clock.cycles) / static_cast<double>(clock.wall_ns);
  EXPECT_GT(mhz, 200);
  EXPECT_LT(mhz, 1.02 * m_target->device().nominal.sm_clock_mhz);
  for (const auto cycles : std::get<TimerSamples>((*samples)[1]).cycles) EXPECT_LT(cycles, 100U);
  const auto& loop = std::get<ElapsedSamples>((*samples)[2]);
  EXPECT_GT(static_cast<double>(loop.cycles) / static_cast<double>(loop.iterations), 3.5);
}

TEST_F(OnDevice, MoreSharedMemoryLeavesLessL1) {
  auto e = chase(96 << 10);
  e.split.carveout_percent = 0;
  const auto most_l1 = run(e);
  e.split.carveout_percent = 100;
  const auto least_l1 = run(e);
  EXPECT_LT(most_l1.shared_config_bytes, least_l1.shared_config_bytes);
  EXPECT_LE(most_l1.cycles[1], least_l1.cycles[1]);
}

TEST_F(OnDevice, EnvironmentNamesTheDriver) {
  const auto environment = m_target->environment();
  EXPECT_FALSE(environment.cuda_version.empty());
  EXPECT_FALSE(environment.host.empty());
}

TEST_F(OnDevice, MachineCodePassesItsChecks) {
  const auto report = inspect_kernels("0", "");
  ASSERT_TRUE(report.has_value()) << report.error().message;
  for (const auto& module : report->modules) EXPECT_GT(module.cubin.size(), 1000U) << module.name;
  if (report->disassembler.empty()) GTEST_SKIP() << "no nvdisasm or cuobjdump here";
  for (const auto& kernel : report->kernels)
    for (const auto& check : kernel.checks)
      EXPECT_TRUE(check.passed) << kernel.name << ": " << check.what << ": " << check.detail;
}

TEST_F(OnDevice, AnImpossibleDeviceIsNamed) {
  const auto target = open_cuda_target("99");
  ASSERT_FALSE(target.has_value());
  EXPECT_EQ(target.error().kind, ErrorKind::no_device);
}

}  // namespace
}  // namespace gpusonde
