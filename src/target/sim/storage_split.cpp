#include "target/sim/storage_split.hpp"

#include <algorithm>

namespace gpusonde::sim {

std::uint64_t shared_part_bytes(const UnifiedStorageModel& unified, const StorageSplit& split,
                                std::uint64_t shared_ring_bytes) {
  const auto& choices = unified.shared_choices_bytes;
  if (choices.empty()) return 0;
  constexpr std::uint32_t warp_threads = 32;  // a block occupies whole warps
  const std::uint32_t threads = (std::max(1U, split.block_threads) + warp_threads - 1) / warp_threads * warp_threads;
  const std::uint32_t blocks = std::clamp(unified.max_threads / threads, 1U, std::max(1U, unified.max_blocks));
  const auto carveout = static_cast<std::uint64_t>(std::max(0, split.carveout_percent));
  const std::uint64_t asked = (choices.back() * carveout + 99) / 100;
  std::uint64_t needed = std::max(asked, blocks * unified.reserved_per_block_bytes);
  if (shared_ring_bytes > 0) needed = std::max(needed, shared_ring_bytes + unified.reserved_per_block_bytes);
  const auto choice = std::lower_bound(choices.begin(), choices.end(), needed);
  return choice == choices.end() ? choices.back() : *choice;
}

std::uint32_t sets_left(std::uint32_t sets, const UnifiedStorageModel& unified, std::uint64_t shared_bytes) {
  if (unified.total_bytes == 0) return sets;
  const std::uint64_t left = unified.total_bytes - std::min(shared_bytes, unified.total_bytes);
  return static_cast<std::uint32_t>(std::max<std::uint64_t>(1, sets * left / unified.total_bytes));
}

}  // namespace gpusonde::sim
