// Working-set sizes of the latency study.
#pragma once

#include <cstdint>
#include <vector>

#include "gpusonde/error.hpp"
#include "probe/probe.hpp"

namespace gpusonde {

/// The 206 sizes of the RTX 5080 document: 4 to 256 KiB by 4 KiB, 320 KiB to 4 MiB by 64 KiB, 5 to 32 MiB
/// by 1 MiB, 36 to 128 MiB by 4 MiB, 160 MiB to 2 GiB by 64 MiB.
[[nodiscard]] std::vector<std::uint64_t> dense_sizes();

/// `points` an octave from low to high, both included, each rounded down to whole 128-byte lines.
/// Precondition: 128 <= low <= high, points >= 1.
[[nodiscard]] std::vector<std::uint64_t> log_sizes(std::uint64_t low, std::uint64_t high, std::uint32_t points);

/// The sizes asked for, ascending and distinct, cut to what the device can give. Errors: usage, one
/// sentence: a size of 0, not a multiple of 8, under one line, beyond the device, min above max.
[[nodiscard]] Result<std::vector<std::uint64_t>> sweep_sizes(const LatencyOptions& options, std::uint64_t largest_bytes,
                                                             std::uint64_t nominal_l2_bytes);

}  // namespace gpusonde
