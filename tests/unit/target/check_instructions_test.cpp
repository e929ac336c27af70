// What every target refuses of experiments on operations, memories and clusters.
#include <gtest/gtest.h>

#include <string>

#include "core/units.hpp"
#include "target/target.hpp"

namespace gpusonde {
namespace {

Capabilities some_capabilities() {
  Capabilities capabilities;
  capabilities.max_ring_bytes = k_gib;
  capabilities.max_shared_ring_bytes = 16 * k_kib;
  capabilities.operations = {Operation::ffma, Operation::shared_predicate};
  capabilities.memories = {MemoryKind::constant, MemoryKind::texture, MemoryKind::read_only, MemoryKind::shared};
  capabilities.max_constant_bytes = 64 * k_kib;
  capabilities.max_cluster_blocks = 8;
  return capabilities;
}

template <class Kind>
std::string said(const Kind& experiment, const Capabilities& capabilities = some_capabilities()) {
  const auto result = check(experiment, capabilities);
  return result ? "" : result.error().message;
}

TEST(CheckInstruction, TakesWhatTheTargetHas) {
  EXPECT_EQ(said(InstructionExperiment{Operation::ffma, 16, 1024}), "");
  EXPECT_EQ(said(InstructionExperiment{Operation::shared_predicate, 1, 1}), "");
  EXPECT_EQ(said(InstructionExperiment{Operation::dfma, 1, 1}), "the operation dfma cannot be timed on this device");
  EXPECT_EQ(said(InstructionExperiment{Operation::ffma, 17, 1}), "17 chains of ffma: give 1 to 16");
  EXPECT_EQ(said(InstructionExperiment{Operation::ffma, 0, 1}), "0 chains of ffma: give 1 to 16");
  EXPECT_EQ(said(InstructionExperiment{Operation::shared_predicate, 2, 1}), "2 chains of shared_predicate: give 1");
  EXPECT_EQ(said(InstructionExperiment{Operation::ffma, 1, 0}), "0 repetitions: give 1 to 1024");
}

TEST(CheckMemoryChase, KeepsWithinEachMemory) {
  const auto of = [](MemoryKind kind, std::uint64_t bytes, std::uint32_t stride = 64, std::uint32_t hops = 8,
                     std::uint32_t repetitions = 1) {
    return said(MemoryChaseExperiment{kind, bytes, stride, hops, repetitions});
  };
  EXPECT_EQ(of(MemoryKind::constant, 64 * k_kib), "");
  EXPECT_EQ(of(MemoryKind::constant, 64 * k_kib + 64),
            "64.06 KiB of constant memory: this device has 64 KiB; choose less");
  EXPECT_EQ(of(MemoryKind::shared, 16 * k_kib + 64), "16.06 KiB of shared memory: this device has 16 KiB; choose less");
  EXPECT_EQ(of(MemoryKind::texture, 16 * k_mib), "");
  EXPECT_EQ(of(MemoryKind::texture, 32 * k_mib), "524288 nodes: at most 262144");
  EXPECT_EQ(of(MemoryKind::constant, 1000),
            "1000 bytes, a node every 64: give a stride that is a multiple of 8, and a multiple of it");
  EXPECT_EQ(of(MemoryKind::constant, 1200, 12),
            "1200 bytes, a node every 12: give a stride that is a multiple of 8, and a multiple of it");
  EXPECT_EQ(of(MemoryKind::constant, 1024, 64, 12),
            "12 hops, 1 repetitions: give a multiple of 8, and at least one repetition");
  EXPECT_EQ(of(MemoryKind::constant, 1024, 64, 1024, 513), "1024 hops, 513 times: at most 524288 in all");
  auto without = some_capabilities();
  without.memories = {MemoryKind::shared};
  EXPECT_EQ(said(MemoryChaseExperiment{MemoryKind::texture, 1024, 64, 8, 1}, without),
            "this device has no loads of texture memory");
}

TEST(CheckStorageSharing, TakesWholeKibibytes) {
  const auto of = [](MemoryKind kind, std::uint64_t l1, std::uint64_t other, std::uint32_t repetitions = 1) {
    return said(StorageSharingExperiment{kind, l1, other, repetitions});
  };
  EXPECT_EQ(of(MemoryKind::texture, 1024, k_mib), "");
  EXPECT_EQ(of(MemoryKind::constant, k_mib, 64 * k_kib), "");
  EXPECT_EQ(of(MemoryKind::constant, 1024, 65 * k_kib),
            "65 KiB of constant memory: this device has 64 KiB; choose less");
  EXPECT_EQ(of(MemoryKind::texture, 1000, 1024), "1000 bytes in L1 and 1024 others: give multiples of 1024");
  EXPECT_EQ(of(MemoryKind::texture, 2 * k_mib, 1024), "2 MiB in L1 and 1 KiB others: at most 1 MiB of either");
  EXPECT_EQ(of(MemoryKind::texture, 1024, 1024, 65), "65 repetitions: give 1 to 64");
  EXPECT_EQ(of(MemoryKind::shared, 1024, 1024),
            "how L1 and shared memory share is set at each launch; compare L1's capacity over storage splits");
}

TEST(CheckCluster, HasAsManyBlocksAsTheTargetTakes) {
  EXPECT_EQ(said(ClusterExperiment{8, 4096}), "");
  EXPECT_EQ(said(ClusterExperiment{9, 64}), "a cluster of 9 blocks: give 2 to 8");
  EXPECT_EQ(said(ClusterExperiment{1, 64}), "a cluster of 1 blocks: give 2 to 8");
  EXPECT_EQ(said(ClusterExperiment{8, 4104}), "4104 hops: give a multiple of 8, up to 4096");
  auto without = some_capabilities();
  without.max_cluster_blocks = 0;
  without.why_no_clusters = "too old";
  EXPECT_EQ(said(ClusterExperiment{}, without), "too old");
}

}  // namespace
}  // namespace gpusonde
