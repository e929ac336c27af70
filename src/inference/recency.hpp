// How much is resident, counted instead of fitted: after a long lap over far more lines than the cache
// holds, the cache is full, so the share of lines still resident, summed over how long ago they were
// touched, is its capacity. That holds for every replacement policy, any number of ways, and any unevenness
// of the sets that the placement of pages causes.
#pragma once

#include <span>

#include "inference/estimate.hpp"

namespace gpusonde {

/// Mean latency of lines that were touched `bytes_back` of distinct lines ago. `hops` lines were sampled.
struct RecencyPoint {
  double bytes_back = 0;
  double latency = 0;  ///< cycles a hop
  double hops = 0;
};

/// Capacity = first.bytes_back + integral of (high - latency) / (high - low) from the first point on
/// (trapezoids), where `low` is the latency of a hit, from points up to `hit_bytes`, and `high` that of a
/// miss, from points beyond `miss_bytes`. Points ascend in bytes_back. The interval holds sampling, the
/// points' own scatter on the two plateaus, and the coarseness of the trapezoids (against every second
/// point). Inconclusive when a plateau has fewer than two points, when the levels lie within 4 sigma, or when
/// the interval is wider than 12 % of the value.
[[nodiscard]] Estimate resident_bytes(std::span<const RecencyPoint> points, double hit_bytes, double miss_bytes);

}  // namespace gpusonde
