// Chases of many warps, and streams, on a fake driver: what is launched, and what its times become.
#include "target/cuda/loads_runner.hpp"

#include <gtest/gtest.h>

#include "core/units.hpp"
#include "fake_target.hpp"

namespace gpusonde::cuda {
namespace {

using test::FakeDriver;
using test::open;
using test::run_one;

std::vector<std::string> kernels(const FakeDriver& fake) {
  std::vector<std::string> names;
  for (const auto& launch : fake.launches)
    if (launch.kernel != "spin_clock") names.push_back(launch.kernel);
  return names;
}

LoadedChaseExperiment chase() {
  LoadedChaseExperiment e;
  e.ring.order.node_count = 4096;
  e.ring.first_byte = 256;
  e.rounds = 64;
  e.warmup_rounds = 16;
  return e;
}

TEST(LoadedChaseRunner, LinksTouchesAndChases) {
  FakeDriver fake;
  const auto target = open(fake);
  auto e = chase();
  e.chains = 4;
  e.warps = 2;
  e.sms = 3;
  e.warm_parallel = true;
  const auto samples = run_one(*target, e);
  ASSERT_TRUE(samples.has_value()) << samples.error().message;
  EXPECT_EQ(kernels(fake), (std::vector<std::string>{"place_chains", "link", "touch_ring", "loaded_cg_word_4"}));
  const auto& launch = fake.launches.back();
  EXPECT_EQ(launch.blocks, 3U);
  EXPECT_EQ(launch.threads, 64U);
  EXPECT_GT(launch.shared_bytes, 233472U / 2);  // one block an SM
  ASSERT_EQ(fake.loaded_chases.size(), 3U);
  const auto& p = fake.loaded_chases.back();
  EXPECT_EQ(p.first_byte, 256U);
  EXPECT_EQ(p.order.p.node_count, 4096U);
  EXPECT_EQ(p.rounds, 64U);
  EXPECT_EQ(p.warmup_rounds, 16U);
  EXPECT_EQ(p.whole_lines, 0U);
  EXPECT_EQ(p.chains, 24U);
  EXPECT_EQ(fake.launches[fake.launches.size() - 4].blocks, 1U);
  const auto& s = std::get<LoadedChaseSamples>(*samples);
  // The fake's warps take 100 cycles a round, the last one 10 more for all of them.
  EXPECT_DOUBLE_EQ(s.round_cycles, (6 * 6400 + 10) / (6.0 * 64));
  EXPECT_DOUBLE_EQ(s.elapsed_cycles, 6410);
  EXPECT_EQ(s.wall_ns, 5000U);
  EXPECT_EQ(s.loads, 3U * 2 * 4 * 64);
  EXPECT_EQ(s.bytes, s.loads * 8);
  EXPECT_EQ(s.sm_count, 3U);
}

TEST(LoadedChaseRunner, WholeLinesHaveLinksOfTheirOwn) {
  FakeDriver fake;
  const auto target = open(fake);
  auto e = chase();
  e.whole_lines = true;
  e.sms = 0;
  const auto samples = run_one(*target, e);
  ASSERT_TRUE(samples.has_value()) << samples.error().message;
  EXPECT_EQ(kernels(fake), (std::vector<std::string>{"place_chains", "link_lines", "loaded_cg_line_1"}));
  EXPECT_EQ(fake.launches.back().blocks, 132U);
  EXPECT_EQ(fake.loaded_chases.back().whole_lines, 1U);
  const auto& s = std::get<LoadedChaseSamples>(*samples);
  EXPECT_EQ(s.loads, 132U * 64);
  EXPECT_EQ(s.bytes, s.loads * 128);
}

TEST(LoadedChaseRunner, BlocksThatWaitInVainAreAFailure) {
  FakeDriver fake;
  fake.blocks_that_arrive = 131;
  const auto target = open(fake);
  auto e = chase();
  e.sms = 0;
  const auto samples = run_one(*target, e);
  ASSERT_FALSE(samples.has_value());
  EXPECT_EQ(samples.error().kind, ErrorKind::measurement);
  EXPECT_EQ(samples.error().message, "not all SMs came to load at once; other work on the device holds some");
}

BandwidthExperiment stream(LoadPath path, Transfer transfer) {
  BandwidthExperiment e;
  e.path = path;
  e.transfer = transfer;
  e.bytes = 16 * k_mib;
  e.passes = 4;
  return e;
}

TEST(BandwidthRunner, AllBlocksShareASet) {
  FakeDriver fake;
  const auto target = open(fake);
  const auto samples = run_one(*target, stream(LoadPath::global_cg, Transfer::read));
  ASSERT_TRUE(samples.has_value()) << samples.error().message;
  const auto& launch = fake.launches.back();
  EXPECT_EQ(launch.kernel, "stream_cg_read_1");
  EXPECT_EQ(launch.blocks, 132U);
  EXPECT_EQ(launch.threads, 1024U);
  ASSERT_EQ(fake.streams.size(), 1U);
  const auto& p = fake.streams.back();
  EXPECT_EQ(p.quads, 1U << 20);
  EXPECT_EQ(p.own, 0U);
  // 132 times 1024 threads, 8 loads of each: a turn takes 1081344 of the 1048576 places.
  EXPECT_EQ(p.warm_turns, 1U);
  EXPECT_EQ(p.turns, 4U);
  const auto& s = std::get<BandwidthSamples>(*samples);
  EXPECT_EQ(s.bytes, 4ULL * 1081344 * 16);
  EXPECT_DOUBLE_EQ(s.cycles, 410);  // of the block that took longest
  EXPECT_EQ(s.wall_ns, 5000U);
  EXPECT_EQ(s.sm_count, 132U);
}

TEST(BandwidthRunner, TwoBlocksDivideAnSmsOwnSet) {
  FakeDriver fake;
  const auto target = open(fake);
  auto e = stream(LoadPath::shared, Transfer::copy);
  e.bytes = 64 * k_kib;
  e.threads_per_sm = 2048;
  const auto samples = run_one(*target, e);
  ASSERT_TRUE(samples.has_value()) << samples.error().message;
  const auto& launch = fake.launches.back();
  EXPECT_EQ(launch.kernel, "stream_shared_copy_2");
  EXPECT_EQ(launch.blocks, 264U);
  EXPECT_GT(3 * (launch.shared_bytes + 1024), 233472U);  // two blocks an SM, and no third
  EXPECT_LE(2 * (launch.shared_bytes + 1024), 233472U);
  const auto& p = fake.streams.back();
  EXPECT_EQ(p.own, 1U);
  EXPECT_EQ(p.quads, 1024U);  // half of a block's 32 KiB
  EXPECT_EQ(p.to_copy, 16U * 1024);
  EXPECT_EQ(p.turns, 1U);  // 4 passes of 1024 places by 1024 threads, 4 at a time
  EXPECT_EQ(std::get<BandwidthSamples>(*samples).bytes, 2ULL * 4 * 1024 * 264 * 16);
}

TEST(BandwidthRunner, MoreThreadsThanAnSmHoldsAreUnsupported) {
  FakeDriver fake;
  fake.resident_threads = 1536;
  const auto target = open(fake);
  auto e = stream(LoadPath::global_ca, Transfer::read);
  e.threads_per_sm = 2048;
  const auto samples = run_one(*target, e);
  ASSERT_FALSE(samples.has_value());
  EXPECT_EQ(samples.error().kind, ErrorKind::unsupported);
  EXPECT_EQ(samples.error().message, "an SM of this device does not hold 2048 threads; give 1024");
}

TEST(ThroughputRunner, SomeSmsAreSoManyBlocks) {
  FakeDriver fake;
  const auto target = open(fake);
  ThroughputExperiment e;
  e.places = {0, 128};
  e.sms = 2;
  const auto samples = run_one(*target, e);
  ASSERT_TRUE(samples.has_value()) << samples.error().message;
  EXPECT_EQ(fake.launches.back().blocks, 2U);
  EXPECT_EQ(std::get<ThroughputSamples>(*samples).sm_count, 2U);
  EXPECT_EQ(std::get<ThroughputSamples>(*samples).lines, 2U * 512 * 256);
}

}  // namespace
}  // namespace gpusonde::cuda
