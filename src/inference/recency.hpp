// How much is resident, counted instead of fitted: after a long lap over far more lines than the cache
// holds, the cache is full, so the share of lines still resident, summed over how long ago they were
// touched, is its capacity. That holds for every replacement policy, any number of ways, and any unevenness
// of the sets that the placement of pages causes.
#pragma once

#include <span>

#include "inference/estimate.hpp"

namespace gpusonde {

/// A capacity whose interval is wider than this share of its value is not known.
inline constexpr double k_widest_capacity = 0.15;

/// Share of lines still resident that were touched `bytes_back` of distinct lines ago.
struct RecencyPoint {
  double bytes_back = 0;
  double resident = 0;  ///< 0 to 1, more or less
  double hops = 0;      ///< lines sampled
};

/// The integral of `resident` from 0 on (trapezoids; what was touched after the first point's lines counts as
/// resident as those and all are on average). Points ascend in bytes_back. `point_sigma`: noise of a share
/// beyond counting, 0 where hits are counted. The interval holds counting, that noise, the coarseness of the
/// trapezoids (against every second point) and 1 % for hits and misses taken for each other. Inconclusive with
/// fewer than eight points, when more than 3 % are still resident at the end, or when the interval is wider
/// than 15 % of the value.
[[nodiscard]] Estimate resident_bytes(std::span<const RecencyPoint> points, double point_sigma);

}  // namespace gpusonde
