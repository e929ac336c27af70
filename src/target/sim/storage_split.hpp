// How unified storage is split between shared memory and L1 for a launch.
#pragma once

#include <cstdint>

#include "experiment/experiment.hpp"
#include "model/device_model.hpp"

namespace gpusonde::sim {

/// The shared part: the smallest choice that holds what the carve-out asks for, what the most resident
/// blocks of the launch reserve, and a ring of `shared_ring_bytes` in shared memory. A carve-out of -1
/// asks for nothing. The largest choice if none is large enough; 0 without choices.
[[nodiscard]] std::uint64_t shared_part_bytes(const UnifiedStorageModel& unified, const StorageSplit& split,
                                              std::uint64_t shared_ring_bytes = 0);

/// Sets of the first cache when it keeps what the shared part leaves: in proportion, at least one.
[[nodiscard]] std::uint32_t sets_left(std::uint32_t sets, const UnifiedStorageModel& unified,
                                      std::uint64_t shared_bytes);

}  // namespace gpusonde::sim
