// Caches for constants, from working-set curves at several strides.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "inference/estimate.hpp"
#include "inference/levels.hpp"

namespace gpusonde {

/// Latency over the working set, with a node every so many bytes.
struct StrideCurve {
  std::uint64_t stride_bytes = 0;
  std::vector<CurvePoint> points;  ///< ascending
};

struct ConstantLevel {
  Estimate latency;                ///< cycles
  Estimate capacity;               ///< bytes
  std::uint64_t stride_bytes = 0;  ///< at which the capacity shows: that of a line; 0: none
};

/// Levels, nearest first, those that are no faster than L2 left out. A level is a plateau at three strides at least: a
/// stride below a line's size has slow transitions, parts of which may look flat. One at fewer strides ends the list,
/// since what comes behind it has no sure number, unless it is at one of the two finest strides alone. The latency is
/// that at the coarsest stride, the capacity the least over the strides: below a line's size nodes share lines, and hit
/// though their lines come and go; above it, lines that are never touched count as held.
[[nodiscard]] std::vector<ConstantLevel> constant_levels(std::span<const StrideCurve> curves, double l2_cycles);

}  // namespace gpusonde
