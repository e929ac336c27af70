// The groups and pairs of a set function's fit as rows over GF(2), and what varies among the lines at all.
#pragma once

#include <cstdint>
#include <vector>

#include "inference/agreement.hpp"
#include "inference/set_function.hpp"

namespace gpusonde {

/// A group with two different lines or more.
struct UsableGroup {
  std::size_t index = 0;  ///< among the groups given
  std::uint32_t pool = 0;
  LineGroup lines;  ///< each once
};

struct SetLines {
  std::vector<UsableGroup> groups;  ///< in random order
  std::size_t held_out = 0;         ///< so many at the end take no part in finding the function
  /// Differences of each group's lines from its first, on the varying columns.
  std::vector<std::vector<BitRow>> differences;
  RowSpace variation;            ///< all differences of lines of one pool
  RowSpace constant;             ///< masks, over all columns, that are constant on every pool
  Background background;         ///< on the varying columns
  std::uint64_t unit_bytes = 0;  ///< all lines of one pool lie multiples of this apart; 0 when there is one line

  /// The mask that takes the same values on the varying columns alone.
  [[nodiscard]] BitRow on_varying_columns(const BitRow& mask) const;
};

[[nodiscard]] SetLines gather_lines(const std::vector<LineGroup>& groups, const std::vector<LinePair>& non_conflicts,
                                    const SetFeatures& features, const SetFitOptions& options);

}  // namespace gpusonde
