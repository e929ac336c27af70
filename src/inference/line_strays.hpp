// Lines that fit into no class yet resemble each other: a class that was missed, because it is small or because its
// slice is noisier than the rest. Internal to the clustering of lines.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "inference/line_model.hpp"

namespace gpusonde {

/// `strays` are indices into `lines`, and so are the groups, of two and more. Two lines belong together when they lie
/// less than half as far from each other as each does from its nearest class. Of many strays an even choice is grouped.
[[nodiscard]] std::vector<std::vector<std::size_t>> group_strays(const LineTable& table,
                                                                 std::span<const std::size_t> lines,
                                                                 std::span<const std::size_t> strays,
                                                                 const LineModel& model);

}  // namespace gpusonde
