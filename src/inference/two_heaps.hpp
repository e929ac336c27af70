// Numbers that fall into two heaps, or do not; and the strongest product structure of a table, whose two vectors are
// what one looks for heaps in.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

namespace gpusonde {

struct TwoHeaps {
  std::size_t lower_count = 0;  ///< values below `cut`
  double cut = 0;               ///< the smallest value of the upper heap
  double low = 0;               ///< mean of either heap
  double high = 0;
  /// Share of the values in the middle fifth between both means: 0 for heaps, about 0.2 for an even spread.
  double share_between = 0;
};
/// Cuts where the sum of squares about two means is smallest. Precondition: at least two values.
[[nodiscard]] TwoHeaps two_heaps(std::span<const double> values);

struct LeadingPair {
  double value = 0;             ///< the largest singular value
  std::vector<double> rows;     ///< of length 1
  std::vector<double> columns;  ///< of length 1
};
/// By power iteration from a fixed start. `cells` is row after row; all 0 gives vectors of 0.
[[nodiscard]] LeadingPair leading_pair(std::span<const float> cells, std::size_t rows, std::size_t columns);

}  // namespace gpusonde
