// Locks and unlocks clocks over NVML, as the RTX 5080 document's script does with nvidia-smi. Never part
// of a measurement.
#pragma once

#include "target/cuda/cuda_target.hpp"
#include "target/cuda/nvml_table.hpp"

namespace gpusonde::cuda {

struct ClockRequest {
  std::uint32_t sm_mhz = 0;
  std::uint32_t memory_mhz = 0;  ///< 0: left alone
  bool dry_run = false;
  bool is_root = false;
};

/// Errors: usage (not root, a clock the card does not have), unsupported.
[[nodiscard]] Result<ClockChange> lock_clocks(const NvmlTable& nvml, NvmlDevice device, const ClockRequest& request);
[[nodiscard]] Result<ClockChange> unlock_clocks(const NvmlTable& nvml, NvmlDevice device, bool dry_run, bool is_root);

}  // namespace gpusonde::cuda
