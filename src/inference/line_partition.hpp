// One proposal of how lines fall into classes, improved until it holds or is known not to. Internal to the clustering
// of lines.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include "inference/line_model.hpp"

namespace gpusonde {

/// Fewer lines make no class: any two outliers may be alike.
inline constexpr std::size_t k_least_class_lines = 4;
inline constexpr std::size_t k_most_classes = 512;

struct LinePartition {
  std::vector<std::size_t> labels;  ///< of each line given, or k_loose
  LineModel model;
  std::string trouble;     ///< empty when it stands all checks but that of sizes; else one sentence
  bool separated = false;  ///< its classes stand clear of each other

  [[nodiscard]] std::size_t count() const noexcept { return model.count(); }
};

/// Renumbers so that classes of at least `least` lines are 0, 1, ... and all others loose. Returns the count.
std::size_t keep_classes(std::vector<std::size_t>& labels, std::size_t least);

/// Joins classes that noise separates, splits those with two heaps, puts each line to its nearest centre, and checks.
/// Precondition: a label is below `count` or k_loose, and each class has a line.
[[nodiscard]] LinePartition settle(const LineTable& table, std::span<const std::size_t> lines,
                                   std::vector<std::size_t> labels, std::size_t count);

/// What the sample's tree proposes, settled. `best` is the finest that stands, which refutes coarser ones; `trouble`
/// says that none stands, or that a finer one nearly does.
struct SamplePartition {
  LinePartition best;
  std::string trouble;
  std::size_t fewest = 0;  ///< classes, over the proposals that come into question
  std::size_t most = 0;
};
[[nodiscard]] SamplePartition partition_sample(const LineTable& table, std::span<const std::size_t> sample);

}  // namespace gpusonde
