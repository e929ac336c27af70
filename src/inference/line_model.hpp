// Classes of lines as the clustering works with them: a centre each, the noise of a reading from each SM, and where a
// line belongs. Internal to the clustering of lines.
#pragma once

#include <cstddef>
#include <limits>
#include <span>
#include <vector>

#include "inference/line_table.hpp"

namespace gpusonde {

inline constexpr std::size_t k_loose = std::numeric_limits<std::size_t>::max();  ///< a line without a class

/// Distances are in units of the noise: a difference of sigma_cycles at one SM counts 1.
struct LineModel {
  LineTable centres;                 ///< one row a class
  std::vector<double> sigma_cycles;  ///< noise of one reading, by SM
  std::vector<float> weight;         ///< 1 / sigma, padded with 0
  std::vector<double> spread;        ///< mean square of a line's readings about its class, 1 where the noise is plain
  std::vector<std::size_t> sizes;
  std::vector<double> between;  ///< [class][class], as lines see it: capped at each SM

  [[nodiscard]] std::size_t count() const noexcept { return centres.lines(); }
};

/// A model of given centres and noise; sizes are 0.
[[nodiscard]] LineModel make_model(LineTable centres, std::vector<double> sigma_cycles, std::vector<double> spread);

/// From lines that have a class each (labels[i] of lines[i], or k_loose). A centre is the mean of the middle half of
/// its lines' readings, so a quarter of them may be wrong either way. The noise is the MAD over all classes, at least
/// that of a clock's rounding. Precondition: every class has a line.
[[nodiscard]] LineModel estimate_model(const LineTable& table, std::span<const std::size_t> lines,
                                       std::span<const std::size_t> labels, std::size_t count);

struct LinePlace {
  std::size_t nearest = 0;
  double square = 0;         ///< capped, in units of the noise
  double beyond_middle = 0;  ///< sigmas from the middle between the nearest and the second; large with one class
  bool far = false;          ///< no class explains this line

  /// The class, unless the line is far from all or less than a sigma from the middle between two.
  [[nodiscard]] std::size_t label() const noexcept { return far || beyond_middle < 1 ? k_loose : nearest; }
};
[[nodiscard]] LinePlace place_line(const LineModel& model, std::span<const float> row);

/// Uncapped distance of two centres less what the noise of the centres adds, in units of the noise.
[[nodiscard]] double centre_distance(const LineModel& model, std::size_t a, std::size_t b);
/// Root mean square over SMs of the difference of two centres, or of a row and a centre without the readings that
/// the noise does not explain.
[[nodiscard]] double centre_distance_cycles(const LineModel& model, std::size_t a, std::size_t b);
[[nodiscard]] double line_distance_cycles(const LineModel& model, std::span<const float> row, std::size_t a);

}  // namespace gpusonde
