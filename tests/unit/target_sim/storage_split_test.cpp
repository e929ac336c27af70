// The split of unified storage, on the H200's choices.
#include "target/sim/storage_split.hpp"

#include <gtest/gtest.h>

#include "small_model.hpp"

namespace gpusonde {
namespace {

UnifiedStorageModel h200_storage() {
  UnifiedStorageModel unified;
  unified.total_bytes = 256 * k_kib;
  for (const std::uint64_t kib : {0, 8, 16, 32, 64, 100, 132, 164, 196, 228})
    unified.shared_choices_bytes.push_back(kib * k_kib);
  return unified;
}

std::uint64_t shared_kib(int carveout_percent, std::uint32_t block_threads, std::uint64_t ring_bytes = 0) {
  return sim::shared_part_bytes(h200_storage(), {carveout_percent, block_threads}, ring_bytes) / k_kib;
}

// Blocks of 1 to 64 threads: 32 an SM, 1 KiB each. Measured on an H200: L1 hits end at 219 KiB then, and at
// 241 with blocks of 1024 threads.
TEST(StorageSplit, ReservesForTheMostResidentBlocks) {
  EXPECT_EQ(shared_kib(0, 1024), 8U);  // 2 blocks
  EXPECT_EQ(shared_kib(0, 512), 8U);
  EXPECT_EQ(shared_kib(0, 256), 8U);   // 8 blocks fill 8 KiB
  EXPECT_EQ(shared_kib(0, 255), 8U);   // whole warps: as 256
  EXPECT_EQ(shared_kib(0, 224), 16U);  // 9 blocks
  EXPECT_EQ(shared_kib(0, 128), 16U);
  EXPECT_EQ(shared_kib(0, 64), 32U);
  EXPECT_EQ(shared_kib(0, 32), 32U);  // bounded by 32 blocks
  EXPECT_EQ(shared_kib(0, 1), 32U);
}

TEST(StorageSplit, HoldsTheCarveout) {
  EXPECT_EQ(shared_kib(50, 1024), 132U);  // 114 KiB
  EXPECT_EQ(shared_kib(100, 1024), 228U);
  EXPECT_EQ(shared_kib(1, 1024), 8U);    // 2.28 KiB
  EXPECT_EQ(shared_kib(10, 1024), 32U);  // 22.8 KiB
  EXPECT_EQ(shared_kib(5, 1), 32U);      // the blocks need more than the 11.4 KiB asked for
  EXPECT_EQ(shared_kib(-1, 1024), 8U);   // the driver's choice: what the blocks need
}

TEST(StorageSplit, HoldsARingInSharedMemory) {
  EXPECT_EQ(shared_kib(0, 1024, 15 * k_kib), 16U);
  EXPECT_EQ(shared_kib(0, 1024, 16 * k_kib), 32U);  // 1 KiB is reserved
}

TEST(StorageSplit, GivesTheLargestChoiceWhenNoneIsEnough) {
  auto unified = h200_storage();
  unified.reserved_per_block_bytes = 16 * k_kib;
  EXPECT_EQ(sim::shared_part_bytes(unified, {0, 32}), 228 * k_kib);
}

TEST(StorageSplit, L1KeepsSetsInProportion) {
  EXPECT_EQ(sim::sets_left(512, h200_storage(), 8 * k_kib), 496U);
  EXPECT_EQ(sim::sets_left(512, h200_storage(), 32 * k_kib), 448U);
  EXPECT_EQ(sim::sets_left(512, h200_storage(), 228 * k_kib), 56U);
  EXPECT_EQ(sim::sets_left(512, h200_storage(), 0), 512U);
}

/// L1 of 4 ways x 512 sets = 256 KiB.
double latency(const StorageSplit& split, std::uint64_t bytes, std::uint64_t& shared_bytes) {
  auto model = small_model();
  model.unified = h200_storage();
  model.caches[0].sets = 512;
  model.caches[0].ways = 4;
  model.caches[0].set_function = AddressFunction::modulo(128, 1 << 20);  // % sets in force is the set
  model.caches[1].sets = 4096;
  model.caches[1].set_function = AddressFunction::modulo(128, 4096);
  auto chase = chase_of(bytes / 128);
  chase.split = split;
  chase.hops = 8 * chase.ring.order.node_count;
  const auto samples = run_chase_on(*make(model), chase);
  shared_bytes = samples.shared_config_bytes;
  return (static_cast<double>(samples.cycles.front()) - k_timer_cycles) / static_cast<double>(chase.hops);
}

TEST(StorageSplit, BoundsWhatL1HoldsToTheLine) {
  std::uint64_t shared_bytes = 0;
  EXPECT_EQ(latency({0, 1024}, 248 * k_kib, shared_bytes), 30);
  EXPECT_EQ(shared_bytes, 8 * k_kib);
  EXPECT_GT(latency({0, 1024}, 248 * k_kib + 128, shared_bytes), 30);
  EXPECT_EQ(latency({0, 32}, 224 * k_kib, shared_bytes), 30);
  EXPECT_EQ(shared_bytes, 32 * k_kib);
  EXPECT_GT(latency({0, 32}, 224 * k_kib + 128, shared_bytes), 30);
  EXPECT_EQ(latency({100, 1024}, 28 * k_kib, shared_bytes), 30);
  EXPECT_EQ(shared_bytes, 228 * k_kib);
  EXPECT_GT(latency({100, 1024}, 28 * k_kib + 128, shared_bytes), 30);
}

}  // namespace
}  // namespace gpusonde
