// How an SM's unified L1 and shared storage is split for a kernel.
#pragma once

#include <cstdint>

namespace gpusonde::cuda {

struct StorageNeed {
  std::uint32_t compute_capability = 0;  ///< major * 10 + minor
  std::uint64_t shared_per_sm_bytes = 0;
  std::uint64_t reserved_per_block_bytes = 0;
  std::uint64_t shared_per_block_bytes = 0;  ///< static and dynamic
  std::uint32_t resident_blocks = 0;         ///< most that could be resident at once
  int carveout_percent = -1;
};

/// Bytes of shared memory the driver configures. The driver does not tell, so this is computed, after
/// what was measured on an H200: the smallest configuration of the chip that holds both the share asked
/// for and what the most resident blocks would need, the driver's reserve in each included.
/// 0 when not known (the driver's own choice, or a chip not listed).
[[nodiscard]] std::uint64_t shared_config_bytes(const StorageNeed& need);

}  // namespace gpusonde::cuda
