// What is shown of classes of lines: how consecutive lines go round the slices, and an order of slices and SMs in
// which neighbours are alike.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "inference/line_clusters.hpp"

namespace gpusonde {

struct ConsecutivePattern {
  /// Longest run that nearly all changes of slice keep to: 2 where lines go to slices in pairs. 0 with fewer than four
  /// changes.
  std::size_t run_lines = 0;
  /// Classes of the first 32 lines, renumbered by first appearance: "0 0 1 1 0 0 1 1"; "?" for an unlabelled line.
  std::string text;
  /// Smallest shift under which all labels repeat, up to half of the lines, seen on at least half of them; 0: none.
  std::size_t period_lines = 0;
};
/// `labels` of consecutive lines, the first at an address that is a multiple of any run in question.
[[nodiscard]] ConsecutivePattern consecutive_pattern(std::span<const std::int32_t> labels);

/// Classes, or SMs, along the direction in which the centres differ most once the effect of each on its own is gone.
[[nodiscard]] std::vector<std::size_t> slice_order(const LineClusters& clusters);
[[nodiscard]] std::vector<std::size_t> sm_order(const LineClusters& clusters);

}  // namespace gpusonde
