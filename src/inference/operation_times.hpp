// How long an operation takes, from chains of two lengths: what is not of the operations themselves is the same in
// both, and cancels.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "inference/estimate.hpp"

namespace gpusonde {

/// One operation, so many chains of it that are independent of each other.
struct ChainTimes {
  std::uint64_t chains = 1;
  double short_length = 0;  ///< operations of a chain
  double long_length = 0;
  std::vector<double> short_cycles;  ///< one a repetition
  std::vector<double> long_cycles;
};

/// Of a median, so wide that hundreds of them may be asked at once: four standard errors, or the interval of 95 % where
/// that is wider. Precondition: values not empty.
[[nodiscard]] Interval sure_median_interval(std::span<const double> values);

/// Cycles from one operation of a chain to the next. Inconclusive: few repetitions, repetitions far apart, or a long
/// chain that took no longer.
[[nodiscard]] Estimate cycles_a_link(const ChainTimes& times);

/// The same shared by all chains: cycles an operation.
[[nodiscard]] Estimate cycles_an_operation(const ChainTimes& times);

/// From issue to use: of one chain. Precondition of both: ascending numbers of chains.
[[nodiscard]] Estimate true_latency(std::span<const ChainTimes> curve);
/// The mean time of an operation when independent ones overlap as much as they can: where more chains make it no
/// shorter. Where the last two numbers of chains differ by more than 2 %, and fewer chains were as fast, it is the
/// lesser with an interval over both; beyond 20 %, and where it still falls, inconclusive.
[[nodiscard]] Estimate completion_interval(std::span<const ChainTimes> curve);

/// What one operation takes more than another. Inconclusive when the error exceeds half a cycle.
[[nodiscard]] Estimate difference(const Estimate& more, const Estimate& less);

}  // namespace gpusonde
