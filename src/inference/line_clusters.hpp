// Cache lines into classes by their latency from many SMs: lines of one slice look alike from everywhere. Neither how
// many slices there are nor how noisy a reading is need be known.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "gpusonde/finding.hpp"
#include "inference/line_map.hpp"

namespace gpusonde {

inline constexpr std::int32_t k_unlabelled = -1;  ///< of a line far from all classes or in the middle between two

struct LineClusterOptions {
  /// Lines were chosen so that each slice has the same share of them, as random addresses over much memory do. Classes
  /// must then be even in size, and slices that every SM sees alike are noticed as a class twice the size of others.
  /// Otherwise a count is of classes that the SMs tell apart, which are at least as many slices.
  bool even_spread = false;
  std::size_t sample_lines = 2048;  ///< clustered against each other; the rest joins the classes found
  std::uint64_t seed = 1;           ///< of the sample
};

/// Labels, centres and figures are those of the best partition found also when it is not ok, to be drawn and not to be
/// believed; without any they are empty.
struct LineClusters {
  Outcome outcome = Outcome::inconclusive;
  std::string reason;     ///< one sentence when not ok
  std::size_t count = 0;  ///< of classes
  Interval count_range;   ///< count to count when ok; else what cannot be told apart, 0 to 0 when nothing is known
  std::vector<std::int32_t> label;                ///< of each line: 0 to count - 1 by first appearance, or k_unlabelled
  std::vector<std::size_t> sizes;                 ///< labelled lines of each class
  std::vector<std::vector<float>> centre_cycles;  ///< [class][sm]
  std::vector<double> sigma_cycles;               ///< noise of one reading, by SM
  std::vector<double> spread;  ///< of each class: mean square of its lines' noise over that of all, at least 1
  double noise_cycles = 0;     ///< median of sigma_cycles
  /// Root mean square over SMs. The largest leaves out readings beyond the noise, and one line in a thousand.
  double largest_inside_cycles = 0;
  double smallest_between_cycles = 0;  ///< of two centres; 0 with one class
  double gap_sigmas = 0;               ///< of the two closest classes, along the line through both; 0 with one class
  /// Two slices of equal size that differ by this much, as a root mean square over SMs, do not pass for one class.
  double resolution_cycles = 0;

  [[nodiscard]] bool ok() const noexcept { return outcome == Outcome::ok; }
};

/// Single linkage over a sample (the shortest tree, cut at its widest relative steps and where the noise ends) proposes
/// partitions. Classes closer than the noise are joined, classes with two heaps split, all lines are put to the nearest
/// centre, and what remains must stand four checks that use no threshold of the linkage:
/// - no class spreads along any direction by more than noise does (largest eigenvalue), nor is it flat;
/// - neighbouring classes lie 8 standard deviations apart with next to nothing in the middle;
/// - centres from half of the lines put the other half right through either half of the SMs;
/// - with `even_spread`, sizes are even.
/// The finest partition that stands is taken, since it refutes coarser ones; it is ok only when no finer proposal comes
/// near, when at most a tenth of the lines fits nowhere and these are not alike among themselves, and when two slices
/// in one class would have been noticed down to 1 cycle (or at least 8 classes are even in size). Lines evicted alike
/// from nearly all SMs look like a slice far away; only `even_spread` tells them from one. Needs 64 lines or more.
[[nodiscard]] LineClusters cluster_lines(const LineMap& map, const LineClusterOptions& options = {});

/// Labels for the lines of another map of the same SMs in the same order; all k_unlabelled when that does not fit.
[[nodiscard]] std::vector<std::int32_t> assign(const LineClusters& clusters, const LineMap& more);

}  // namespace gpusonde
