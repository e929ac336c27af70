// Chases through constants, textures, the read-only path, shared memory and clusters, on a fake driver that follows the
// rings in the memory where they are put.
#include "target/cuda/memory_runner.hpp"

#include <gtest/gtest.h>

#include "fake_target.hpp"

namespace gpusonde::cuda {
namespace {

using test::FakeDriver;
using test::open;
using test::run_one;

MemoryChaseExperiment chase(MemoryKind kind) { return {kind, 4096, 64, 72, 3}; }

TEST(MemoryRunner, EveryMemoryIsWalkedWhereItsRingLeads) {
  FakeDriver fake;
  const auto target = open(fake);
  for (const auto kind : {MemoryKind::constant, MemoryKind::texture, MemoryKind::read_only, MemoryKind::shared}) {
    const auto samples = run_one(*target, chase(kind));
    ASSERT_TRUE(samples.has_value()) << samples.error().message;
    const auto& s = std::get<MemoryChaseSamples>(*samples);
    EXPECT_EQ(s.hops, 72U);
    EXPECT_EQ(s.cycles, (std::vector<std::uint64_t>{720, 721, 722}));
    const auto& p = fake.memories.chases.back();
    EXPECT_EQ(p.lead_hops, 64U);  // one lap
    EXPECT_EQ(fake.launches.back().kernel, "memory_" + std::string(to_string(kind)));
    EXPECT_EQ(fake.launches.back().threads, 32U);
    EXPECT_EQ(fake.launches.back().shared_bytes, kind == MemoryKind::shared ? 4096U : 0U);
  }
  EXPECT_TRUE(fake.memories.textures.alive.empty());
  EXPECT_EQ(fake.carveouts["memory_texture"], 0);
}

TEST(MemoryRunner, AWalkThatEndsElsewhereIsAFailure) {
  FakeDriver fake;
  fake.memories.chase_goes_astray = true;
  const auto samples = run_one(*open(fake), chase(MemoryKind::constant));
  ASSERT_FALSE(samples.has_value());
  EXPECT_EQ(samples.error().kind, ErrorKind::measurement);
  EXPECT_NE(samples.error().message.find("the chase of kernel memory_constant ended at byte"), std::string::npos);
}

TEST(MemoryRunner, WhatTheDriverLacksIsUnsupported) {
  FakeDriver fake;
  fake.table.module_get_global = nullptr;
  fake.table.texture_create = nullptr;
  const auto target = open(fake);
  EXPECT_EQ(target->capabilities().memories, (std::vector<MemoryKind>{MemoryKind::read_only, MemoryKind::shared}));
  const auto samples = run_one(*target, chase(MemoryKind::texture));
  ASSERT_FALSE(samples.has_value());
  EXPECT_EQ(samples.error().message, "this device has no loads of texture memory");
}

TEST(SharingRunner, TheRingLiesBeforeTheOtherBytes) {
  FakeDriver fake;
  const auto target = open(fake);
  for (const auto kind : {MemoryKind::texture, MemoryKind::read_only, MemoryKind::constant}) {
    const auto samples = run_one(*target, StorageSharingExperiment{kind, 8192, 16384, 2});
    ASSERT_TRUE(samples.has_value()) << samples.error().message;
    const auto& s = std::get<StorageSharingSamples>(*samples);
    EXPECT_EQ(s.hops, 64U);
    EXPECT_EQ(s.before_cycles, (std::vector<std::uint64_t>{2048, 2048}));
    EXPECT_EQ(s.after_cycles[0], kind == MemoryKind::constant ? 2048U : 12800U);
    const auto& p = fake.memories.sharings.back();
    EXPECT_EQ(p.other, p.ring + 8192);
    EXPECT_EQ(p.other_bytes, 16384U);
    EXPECT_EQ(p.texture != 0, kind == MemoryKind::texture);
    // Before it, shared memory takes all of L1 on every SM.
    const auto& before = fake.launches[fake.launches.size() - 2];
    EXPECT_EQ(before.kernel, "memory_shared");
    EXPECT_EQ(before.blocks, 132U);
    EXPECT_EQ(before.shared_bytes, 232448U);
  }
  EXPECT_EQ(fake.memories.sharings.size(), 6U);  // a launch a repetition, so that L1 begins empty
  EXPECT_TRUE(fake.memories.textures.alive.empty());
}

TEST(SharingRunner, StopsBetweenLaunchesWhenAsked) {
  FakeDriver fake;
  const auto target = open(fake);
  CancelToken cancel;
  fake.on_launch = [&] {
    if (fake.memories.sharings.size() == 2) cancel.request();
  };
  const Experiment experiment = StorageSharingExperiment{MemoryKind::read_only, 8192, 8192, 5};
  const auto samples = target->run(std::span(&experiment, 1), {.cancel = &cancel, .on_done = {}});
  ASSERT_FALSE(samples.has_value());
  EXPECT_EQ(samples.error().kind, ErrorKind::interrupted);
  EXPECT_EQ(fake.memories.sharings.size(), 2U);
}

TEST(ClusterRunner, IsOneClusterAndAMatrix) {
  FakeDriver fake;
  const auto samples = run_one(*open(fake), ClusterExperiment{4, 64});
  ASSERT_TRUE(samples.has_value()) << samples.error().message;
  const auto& s = std::get<ClusterSamples>(*samples);
  EXPECT_EQ(s.sms, (std::vector<std::uint32_t>{1, 3, 5, 7}));
  ASSERT_EQ(s.cycles.size(), 16U);
  EXPECT_EQ(s.cycles[0], 33);
  EXPECT_EQ(s.cycles[4 * 2 + 1], 185);  // from 2 to 1
  EXPECT_EQ(s.cycles[4 * 1 + 2], 184);
  EXPECT_EQ(fake.memories.cluster_shape, (std::array<unsigned, 3>{4, 1, 1}));
  EXPECT_EQ(fake.launches.back().blocks, 4U);
  EXPECT_GT(fake.launches.back().shared_bytes, 233472U / 2);  // one block an SM
}

TEST(ClusterRunner, BlocksOnOneSmAreAFailure) {
  FakeDriver fake;
  fake.memories.cluster_on_one_sm = true;
  EXPECT_EQ(run_one(*open(fake), ClusterExperiment{}).error().message,
            "blocks of the cluster ran on the same SM; other work on the device holds some");
}

TEST(ClusterRunner, SaysWhyThereAreNone) {
  FakeDriver fake;
  fake.compute_capability_major = 8;
  EXPECT_EQ(run_one(*open(fake), ClusterExperiment{}).error().message,
            "clusters of blocks need compute capability 9.0 or later");
  fake.compute_capability_major = 9;
  fake.memories.cluster_result = 912;
  const auto refused = run_one(*open(fake), ClusterExperiment{});
  EXPECT_EQ(refused.error().kind, ErrorKind::unsupported);
  EXPECT_EQ(refused.error().message,
            "cannot launch kernel cluster_latency as a cluster of 8: CUDA_ERROR_FAKE (912): a fake failure");
  fake.table.launch_kernel_ex = nullptr;
  EXPECT_EQ(run_one(*open(fake), ClusterExperiment{}).error().message,
            "the driver cannot launch clusters; it takes one of CUDA 11.8 or later");
}

}  // namespace
}  // namespace gpusonde::cuda
