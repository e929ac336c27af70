// Working-set curves as they are stored: rows of `latency.curve` in, curves out.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "experiment/experiment.hpp"
#include "gpusonde/run.hpp"
#include "inference/levels.hpp"

namespace gpusonde {

/// What one chase at one size gave, per hop.
struct HopLatency {
  double cycles = 0;  ///< median over repetitions
  double low = 0;
  double high = 0;
};
/// Precondition: at least one repetition.
[[nodiscard]] HopLatency hop_latency(const ChaseSamples& samples);

/// Which curve a row belongs to.
struct CurveKey {
  std::string policy;
  std::string chain;
  bool operator==(const CurveKey&) const = default;
};

/// Adds a row of the curve's columns to a table.
void append_curve_row(Table& table, const ChaseExperiment& experiment, const ChaseSamples& samples, double sm_mhz);

/// The curves of a table, in order of first appearance.
[[nodiscard]] std::vector<CurveKey> curve_keys(const Table& table);

/// One curve, ascending in size. Where a size was measured more than once, a serially warmed row counts
/// before a parallel one, and later rows before earlier ones.
[[nodiscard]] std::vector<CurvePoint> read_curve(const Table& table, const CurveKey& key);

/// Sizes of a curve that were warmed in parallel only.
[[nodiscard]] std::vector<std::uint64_t> parallel_only_sizes(const Table& table, const CurveKey& key);

}  // namespace gpusonde
