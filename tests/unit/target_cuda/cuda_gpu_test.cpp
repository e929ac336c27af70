// The target on a fake driver: what is launched, with what, and what comes back.
#include "target/cuda/cuda_gpu.hpp"

#include <gtest/gtest.h>

#include "fake_target.hpp"
#include "target/cuda/device_list.hpp"

namespace gpusonde::cuda {
namespace {

using test::FakeDriver;
using test::open;
using test::run_one;

ChaseExperiment chase(std::uint64_t nodes) {
  ChaseExperiment e;
  e.ring.first_byte = 4096;
  e.ring.order = {.node_count = nodes, .stride_bytes = 128, .group_nodes = 0, .jitter_lines = 1, .seed = 5};
  e.hops = 64;
  return e;
}

// The walk over the ring as its definition has it: position `hops` of the ring order.
std::uint64_t expected_position(const ChaseExperiment& e, std::uint64_t hops) {
  return e.ring.first_byte + RingOrder(e.ring.order).offset(hops % e.ring.order.node_count);
}

TEST(CudaGpu, DescribesTheDevice) {
  FakeDriver fake;
  const auto target = open(fake);
  EXPECT_EQ(target->device().name, "Fake H200");
  EXPECT_EQ(target->device().sm_count, 132U);
  EXPECT_EQ(target->device().uuid, "GPU-00010203-0405-0607-0809-0a0b0c0d0e0f");
  EXPECT_EQ(target->capabilities().max_ring_bytes, (std::uint64_t{1} << 30) / 10 * 9);
  EXPECT_EQ(target->kernels_sha256().size(), 64U);
}

TEST(CudaGpu, ChasesWhereTheRingLeads) {
  FakeDriver fake;
  const auto target = open(fake);
  for (const auto kind : {ChainKind::pointer, ChainKind::index}) {
    fake.chases.clear();
    auto e = chase(100);
    e.chain = kind;
    const auto samples = run_one(*target, e);
    ASSERT_TRUE(samples.has_value()) << samples.error().message;
    const auto& s = std::get<ChaseSamples>(*samples);
    EXPECT_EQ(s.cycles, (std::vector<std::uint64_t>{640, 640, 640}));
    EXPECT_EQ(s.wall_ns, s.cycles);
    EXPECT_EQ(s.sm, 7U);
    EXPECT_EQ(s.hops, 64U);
    EXPECT_EQ(s.shared_config_bytes, 8U * 1024);
    ASSERT_EQ(fake.chases.size(), 1U);
    EXPECT_EQ(fake.chases[0].start, expected_position(e, 0));
  }
}

TEST(CudaGpu, GoesOnWhereTheLastLaunchEndedAndOnItsSm) {
  FakeDriver fake;
  const auto target = open(fake);
  auto e = chase(20'000);
  e.path = LoadPath::global_cg;
  e.warmup = Warmup::none;
  e.hops = 600'000;  // more than a launch may take
  e.repetitions = 2;
  const auto samples = run_one(*target, e);
  ASSERT_TRUE(samples.has_value()) << samples.error().message;
  EXPECT_EQ(std::get<ChaseSamples>(*samples).cycles, (std::vector<std::uint64_t>{6'000'000, 6'000'000}));
  ASSERT_GE(fake.chases.size(), 3U);
  std::uint64_t walked = 0;
  for (std::size_t i = 0; i < fake.chases.size(); ++i) {
    EXPECT_EQ(fake.chases[i].start, expected_position(e, walked)) << "launch " << i;
    EXPECT_EQ(fake.chases[i].sm, i == 0 ? k_any_sm : 7U);
    walked += fake.chases[i].lead_hops + fake.chases[i].hops * fake.chases[i].repetitions;
  }
  EXPECT_EQ(walked, 1'200'000U);
}

TEST(CudaGpu, TriesAgainUntilABlockRunsOnTheChosenSm) {
  FakeDriver fake;
  const auto target = open(fake);
  auto e = chase(16);
  e.sm = 131;
  fake.launches_until_sm = 3;
  const auto samples = run_one(*target, e);
  ASSERT_TRUE(samples.has_value());
  EXPECT_EQ(std::get<ChaseSamples>(*samples).sm, 131U);
  EXPECT_EQ(fake.chases.size(), 3U);
  EXPECT_GE(fake.launches.back().blocks, 132U);
}

TEST(CudaGpu, GivesUpOnAnSmWhereNothingRuns) {
  FakeDriver fake;
  const auto target = open(fake);
  auto e = chase(16);
  e.sm = 5;
  fake.launches_until_sm = 100;
  const auto samples = run_one(*target, e);
  ASSERT_FALSE(samples.has_value());
  EXPECT_EQ(samples.error().kind, ErrorKind::measurement);
  EXPECT_EQ(samples.error().message, "no block of kernel chase_ca_pointer came to run on SM 5");
}

TEST(CudaGpu, LinkAndChaseShareTheCarveOut) {
  FakeDriver fake;
  const auto target = open(fake);
  auto e = chase(16);
  e.split = {.carveout_percent = 50, .block_threads = 32};
  const auto samples = run_one(*target, e);
  ASSERT_TRUE(samples.has_value());
  EXPECT_EQ(fake.carveouts.at("link"), 50);
  EXPECT_EQ(fake.carveouts.at("chase_ca_pointer"), 50);
  EXPECT_EQ(std::get<ChaseSamples>(*samples).shared_config_bytes, 132U * 1024);
  EXPECT_EQ(fake.launches.back().threads, 32U);
}

TEST(CudaGpu, PerHopSamplesLieInSharedMemory) {
  FakeDriver fake;
  const auto target = open(fake);
  auto e = chase(16);
  e.timing = HopTiming::per_hop;
  const auto samples = run_one(*target, e);
  ASSERT_TRUE(samples.has_value());
  const auto& s = std::get<ChaseSamples>(*samples);
  ASSERT_EQ(s.hop_cycles.size(), 192U);
  EXPECT_EQ(s.hop_cycles[191], 191U);
  EXPECT_EQ(fake.launches.back().kernel, "chase_ca_pointer_timed");
  EXPECT_EQ(fake.launches.back().shared_bytes, 384U);
}

TEST(CudaGpu, ASharedRingIsNotLinkedInGlobalMemory) {
  FakeDriver fake;
  const auto target = open(fake);
  auto e = chase(16);
  e.path = LoadPath::shared;
  ASSERT_TRUE(run_one(*target, e).has_value());
  EXPECT_EQ(fake.launches.back().kernel, "chase_shared_pointer");
  EXPECT_EQ(fake.launches.back().shared_bytes, 4096U + 16 * 128);
  for (const auto& launch : fake.launches) EXPECT_NE(launch.kernel, "link");
}

TEST(CudaGpu, RaisesTheClocksBeforeTheFirstExperimentOnly) {
  FakeDriver fake;
  const auto target = open(fake);
  ASSERT_TRUE(run_one(*target, TimerExperiment{.repetitions = 4}).has_value());
  ASSERT_TRUE(run_one(*target, TimerExperiment{.repetitions = 4}).has_value());
  ASSERT_EQ(fake.launches.size(), 3U);
  EXPECT_EQ(fake.launches[0].kernel, "spin_clock");
  EXPECT_EQ(fake.launches[1].kernel, "timer");
  EXPECT_EQ(fake.launches[2].kernel, "timer");
}

TEST(CudaGpu, ALongSpinIsCutAndAddsUp) {
  FakeDriver fake;
  const auto target = open(fake);
  const auto samples = run_one(*target, ClockExperiment{.duration_ns = 1'000'000'000});
  ASSERT_TRUE(samples.has_value());
  EXPECT_EQ(std::get<ElapsedSamples>(*samples).wall_ns, 1'000'000'000U);
  EXPECT_EQ(std::get<ElapsedSamples>(*samples).cycles, 2'000'000'000U);
  EXPECT_EQ(fake.launches.size(), 1U + 3U);
}

TEST(CudaGpu, OutOfMemoryNamesWhatIsFree) {
  FakeDriver fake;
  const auto target = open(fake);
  fake.free_bytes = std::size_t{1} << 20;  // another program took the rest
  const auto samples = run_one(*target, chase(std::uint64_t{1} << 20));
  ASSERT_FALSE(samples.has_value());
  EXPECT_EQ(samples.error().kind, ErrorKind::measurement);
  EXPECT_NE(samples.error().message.find("1 MiB of 4 GiB are free"), std::string::npos) << samples.error().message;
}

TEST(CudaGpu, AKernelThatFailsIsNamed) {
  FakeDriver fake;
  const auto target = open(fake);
  ASSERT_TRUE(run_one(*target, TimerExperiment{}).has_value());
  fake.synchronize_result = 719;
  const auto samples = run_one(*target, chase(16));
  ASSERT_FALSE(samples.has_value());
  EXPECT_EQ(samples.error().kind, ErrorKind::measurement);
  EXPECT_EQ(samples.error().message, "kernel chase_ca_pointer failed: CUDA_ERROR_FAKE (719): a fake failure");
}

TEST(CudaGpu, TheWatchdogIsExplained) {
  FakeDriver fake;
  const auto target = open(fake);
  fake.synchronize_result = k_launch_timeout;
  const auto samples = run_one(*target, TimerExperiment{});
  ASSERT_FALSE(samples.has_value());
  EXPECT_NE(samples.error().message.find("display watchdog"), std::string::npos);
}

TEST(CudaGpu, ACompilationThatFailsGivesTheDriversFirstLine) {
  FakeDriver fake;
  const auto target = open(fake);
  fake.load_result = 218;
  fake.load_log = "\nptxas application ptx input, line 9; fatal : Unsupported .version\nptxas fatal : aborted\n";
  const auto samples = run_one(*target, TimerExperiment{});
  ASSERT_FALSE(samples.has_value());
  EXPECT_EQ(samples.error().kind, ErrorKind::unsupported);
  EXPECT_TRUE(samples.error().message.ends_with("line 9; fatal : Unsupported .version")) << samples.error().message;
}

TEST(CudaGpu, MalformedExperimentsAreUsageErrors) {
  FakeDriver fake;
  const auto target = open(fake);
  auto e = chase(16);
  e.sm = 132;
  EXPECT_EQ(run_one(*target, e).error().message, "there is no SM 132: this GPU has 132, counted from 0");
  e = chase(16);
  e.split.block_threads = 2000;
  EXPECT_EQ(run_one(*target, e).error().kind, ErrorKind::usage);
  e = chase(16);
  e.hops = 12;
  EXPECT_EQ(run_one(*target, e).error().kind, ErrorKind::usage);
}

TEST(CudaGpu, StopsBetweenLaunchesWhenAsked) {
  FakeDriver fake;
  const auto target = open(fake);
  CancelToken cancel;
  fake.on_launch = [&] {
    if (!fake.chases.empty()) cancel.request();
  };
  auto e = chase(20'000);
  e.path = LoadPath::global_cg;
  e.hops = 4'000'000;
  const Experiment experiment = e;
  const auto samples = target->run(std::span(&experiment, 1), {.cancel = &cancel, .on_done = {}});
  ASSERT_FALSE(samples.has_value());
  EXPECT_EQ(samples.error().kind, ErrorKind::interrupted);
  EXPECT_EQ(fake.chases.size(), 1U);
}

TEST(CudaGpu, GivesEverythingBack) {
  FakeDriver fake;
  {
    const auto target = open(fake);
    ASSERT_TRUE(run_one(*target, chase(1000)).has_value());
    EXPECT_EQ(fake.contexts, 1);
    EXPECT_EQ(fake.modules, 2);
  }
  EXPECT_EQ(fake.contexts, 0);
  EXPECT_EQ(fake.modules, 0);
  EXPECT_TRUE(fake.memory.empty());
}

TEST(CudaGpu, PascalIsTooOld) {
  FakeDriver fake;
  fake.compute_capability_major = 6;
  const auto target = CudaGpu::open(fake.table, nullptr, 0, list_devices(fake.table)->front());
  ASSERT_FALSE(target.has_value());
  EXPECT_EQ(target.error().kind, ErrorKind::unsupported);
}

TEST(Driver, TooOldIsNoDevice) {
  FakeDriver fake;
  fake.version = 8000;
  const auto started = start_driver(fake.table);
  ASSERT_FALSE(started.has_value());
  EXPECT_EQ(started.error().kind, ErrorKind::no_device);
  EXPECT_NE(started.error().message.find("it supports CUDA 8.0"), std::string::npos);
}

TEST(Driver, NoGpuIsNoDevice) {
  FakeDriver fake;
  fake.init_result = k_no_device;
  EXPECT_EQ(start_driver(fake.table).error().kind, ErrorKind::no_device);
}

}  // namespace
}  // namespace gpusonde::cuda
