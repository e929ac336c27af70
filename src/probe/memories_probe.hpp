// Memories behind instructions of their own: constants, textures, the read-only path, shared memory, and the shared
// memory of other SMs. How long a hit takes, how much stays near, and which of them lie in L1's storage.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "inference/levels.hpp"
#include "probe/probe.hpp"

namespace gpusonde {

[[nodiscard]] Result<void> measure_memories(ProbeContext& context);
[[nodiscard]] Analysis analyze_memories(const AnalysisInput& input);

/// Rows of `memories.chase` for one memory and stride, by ascending size.
[[nodiscard]] std::vector<CurvePoint> memory_curve(const Measurements& measurements, std::string_view kind,
                                                   std::uint64_t stride_bytes);
/// Strides of `memories.chase` for one memory, ascending.
[[nodiscard]] std::vector<std::uint64_t> memory_strides(const Measurements& measurements, std::string_view kind);
/// Cycles of a load in `memories.reference`: l1 or l2. 0 where not measured.
[[nodiscard]] double reference_cycles(const Measurements& measurements, std::string_view level);

/// Strides of the sweep over constants. That of a cache's line says its capacity, others say more.
inline constexpr std::uint64_t k_constant_strides_bytes[] = {32, 64, 128, 256, 512};
/// Two sizes that a texture's and the read-only path's lines surely stay at.
inline constexpr std::uint64_t k_small_bytes[] = {4096, 8192};
inline constexpr std::uint32_t k_small_stride_bytes = 128;

}  // namespace gpusonde
