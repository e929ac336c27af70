// Against what was measured on an H200: where L1 hits end, by carve-out and block size.
#include "target/cuda/storage_split.hpp"

#include <gtest/gtest.h>

namespace gpusonde::cuda {
namespace {

constexpr std::uint64_t k_kib_bytes = 1024;

StorageNeed h200(std::uint32_t resident_blocks, int carveout_percent) {
  return {.compute_capability = 90,
          .shared_per_sm_bytes = 228 * k_kib_bytes,
          .reserved_per_block_bytes = k_kib_bytes,
          .shared_per_block_bytes = 0,
          .resident_blocks = resident_blocks,
          .carveout_percent = carveout_percent};
}

TEST(StorageSplit, TwoLargeBlocksReserveEightKib) {
  EXPECT_EQ(shared_config_bytes(h200(2, 0)), 8 * k_kib_bytes);  // hits to 241 of 256 KiB
}

TEST(StorageSplit, ThirtyTwoSmallBlocksReserveThirtyTwoKib) {
  EXPECT_EQ(shared_config_bytes(h200(32, 0)), 32 * k_kib_bytes);  // hits to 219 KiB
}

TEST(StorageSplit, HalfIsRoundedUpToAConfiguration) {
  EXPECT_EQ(shared_config_bytes(h200(2, 50)), 132 * k_kib_bytes);  // hits to 119 KiB
}

TEST(StorageSplit, AllSharedIsTheChipsMost) {
  EXPECT_EQ(shared_config_bytes(h200(2, 100)), 228 * k_kib_bytes);  // hits to about 20 KiB
}

TEST(StorageSplit, DynamicSharedMemoryCounts) {
  auto need = h200(2, 0);
  need.shared_per_block_bytes = 16 * k_kib_bytes;  // 2 * (16 + 1) = 34
  EXPECT_EQ(shared_config_bytes(need), 64 * k_kib_bytes);
}

TEST(StorageSplit, TuringHasTwoConfigurations) {
  auto need = h200(1, 0);
  need.compute_capability = 75;
  need.shared_per_sm_bytes = 64 * k_kib_bytes;
  EXPECT_EQ(shared_config_bytes(need), 32 * k_kib_bytes);
}

TEST(StorageSplit, TheDriversOwnChoiceIsNotKnown) { EXPECT_EQ(shared_config_bytes(h200(2, -1)), 0U); }

}  // namespace
}  // namespace gpusonde::cuda
