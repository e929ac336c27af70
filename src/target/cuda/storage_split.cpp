#include "target/cuda/storage_split.hpp"

#include <algorithm>
#include <array>

namespace gpusonde::cuda {
namespace {

// Shared-memory configurations in KiB, ascending. Source: CUDA C++ programming guide, compute
// capabilities. Larger ones than the chip's own maximum are cut by the caller.
constexpr std::array k_volta{0, 8, 16, 32, 64, 96};
constexpr std::array k_turing{32, 64};
constexpr std::array k_ampere_and_later{0, 8, 16, 32, 64, 100, 132, 164, 196, 228};

constexpr std::uint64_t k_small_bytes = 32 * 1024;

template <std::size_t N>
std::uint64_t smallest(const std::array<int, N>& configurations_kib, std::uint64_t bytes, std::uint64_t most_bytes) {
  for (const int kib : configurations_kib)
    if (static_cast<std::uint64_t>(kib) * 1024 >= bytes)
      return std::min<std::uint64_t>(static_cast<std::uint64_t>(kib) * 1024, most_bytes);
  return most_bytes;
}

}  // namespace

std::uint64_t shared_config_bytes(const StorageNeed& need) {
  if (need.carveout_percent < 0 || need.resident_blocks == 0) return 0;
  const auto asked = need.shared_per_sm_bytes * static_cast<std::uint64_t>(need.carveout_percent) / 100;
  const auto blocks = need.resident_blocks * (need.reserved_per_block_bytes + need.shared_per_block_bytes);
  // Below 32 KiB the driver gives more than its blocks reserve: 16 KiB for 4 blocks, 32 for 8 or more (seen on
  // an H200), by a rule that is not published.
  if (asked < k_small_bytes && blocks < k_small_bytes && need.resident_blocks > 2) return 0;
  const auto bytes = std::max(asked, blocks);
  if (need.compute_capability < 70 || need.compute_capability >= 130) return 0;
  if (need.compute_capability < 75) return smallest(k_volta, bytes, need.shared_per_sm_bytes);
  if (need.compute_capability < 80) return smallest(k_turing, bytes, need.shared_per_sm_bytes);
  return smallest(k_ampere_and_later, bytes, need.shared_per_sm_bytes);
}

}  // namespace gpusonde::cuda
