// The shortest tree that joins lines by how alike they are. Cutting its edges above some length leaves the
// single-linkage clusters of that length. Internal to the clustering of lines.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "inference/line_table.hpp"

namespace gpusonde {

struct LineEdge {
  std::size_t a = 0;  ///< index into the sample
  std::size_t b = 0;
  float length = 0;  ///< root mean square over SMs of the capped differences, cycles
};

/// sample.size() - 1 edges, longest first (Prim, a distance a pair). Precondition: sample not empty.
[[nodiscard]] std::vector<LineEdge> line_tree(const LineTable& table, std::span<const std::size_t> sample,
                                              float cap_cycles);

/// Where the tree may be cut: the number of edges to cut, for the `most` widest relative steps between consecutive
/// lengths, widest first. Steps below `least_ratio` and lengths below `floor_cycles` do not count.
[[nodiscard]] std::vector<std::size_t> tree_cuts(std::span<const LineEdge> edges, std::size_t most, double least_ratio,
                                                 double floor_cycles);

/// Cluster of each sample line, 0 and up in order of appearance, once the `cut` longest edges are gone.
[[nodiscard]] std::vector<std::size_t> tree_clusters(std::span<const LineEdge> edges, std::size_t cut);

}  // namespace gpusonde
