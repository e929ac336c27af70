// What a partition of lines must stand before its classes count: nothing left to split inside a class, nothing between
// two classes, the same classes from half of the SMs and half of the lines, and even sizes where lines were chosen
// evenly. Internal to the clustering of lines.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include "inference/line_model.hpp"

namespace gpusonde {

/// Lines, with the class of each.
struct LabelledLines {
  const LineTable& table;
  std::span<const std::size_t> lines;
  std::span<const std::size_t> labels;  ///< k_loose where none
};

/// How the lines of one class lie along the direction in which they differ most.
struct ClassShape {
  bool alike = true;                 ///< no more spread than noise has along its strongest direction
  bool parted = false;               ///< two heaps along it, with next to nothing in the middle
  std::vector<std::size_t> members;  ///< those looked at, as indices into lines
  std::vector<bool> upper;           ///< which of the two heaps, when parted
};
/// Noise alone spreads the lines of a class along their strongest direction by no more than the largest eigenvalue of
/// a random matrix (Marchenko and Pastur's edge, Tracy and Widom's scale). Two slices in one class exceed that, unless
/// they lie closer than `resolution_cycles`. A flat distribution counts as unlike, too, whatever its width.
[[nodiscard]] ClassShape class_shape(const LabelledLines& lines, const LineModel& model, std::size_t label);

/// Root mean square difference, over SMs, that two slices of equal size in one class must have to be noticed, when the
/// class has so many lines.
[[nodiscard]] double resolution_cycles(const LineModel& model, std::size_t class_lines);

/// Empty when each class stands clear of its nearest; else one sentence.
[[nodiscard]] std::string check_separation(const LabelledLines& lines, const LineModel& model);

/// Empty when centres from one half of the lines put the other half where it belongs, through one half of the SMs as
/// through the other; else one sentence.
[[nodiscard]] std::string check_halves(const LabelledLines& lines, const LineModel& model);

struct SizeCheck {
  std::string trouble;     ///< empty: every class has the size of one slice
  std::size_t slices = 0;  ///< counting a class twice the usual size as two
};
/// For lines that are an unbiased sample of all.
[[nodiscard]] SizeCheck check_sizes(std::span<const std::size_t> sizes);

}  // namespace gpusonde
