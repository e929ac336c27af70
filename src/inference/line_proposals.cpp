// Proposals from the shortest tree over a sample of lines, and which of them stands.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>
#include <utility>

#include "inference/line_partition.hpp"
#include "inference/line_tree.hpp"
#include "inference/statistics.hpp"

namespace gpusonde {
namespace {

// Finer proposals that do not stand speak against one that does, but for one class in so many: a cut within the noise
// may leave fragments of a noisy class.
constexpr std::size_t k_classes_a_fragment = 32;
constexpr std::size_t k_cuts = 6;
constexpr double k_least_step = 1.15;
constexpr double k_least_cycles = 0.05;
// Through fewer the distance to the nearest line says little of the noise, and one late reading is much of a line.
constexpr std::size_t k_sms_for_caps = 8;

// Distance to the nearest other line, median over some lines, as the noise of one reading. Too small through few SMs.
double first_noise(const LineTable& table, std::span<const std::size_t> sample) {
  std::vector<float> weight(table.width(), 0.0F);
  std::fill_n(weight.begin(), table.sms(), 1.0F);
  std::vector<double> nearest;
  for (std::size_t i = 0; i < std::min<std::size_t>(sample.size(), 64); ++i) {
    float least = std::numeric_limits<float>::infinity();
    for (std::size_t j = 0; j < sample.size(); ++j)
      if (j != i)
        least = std::min(least, capped_distance(table.row(sample[i]), table.row(sample[j]), weight,
                                                std::numeric_limits<float>::max() / 4));
    nearest.push_back(std::sqrt(least / static_cast<double>(table.sms())));
  }
  return std::max(median(nearest) / std::numbers::sqrt2, k_least_cycles);
}

}  // namespace

SamplePartition partition_sample(const LineTable& table, std::span<const std::size_t> sample) {
  const double noise = first_noise(table, sample);
  const auto sms = static_cast<double>(table.sms());
  const bool many_sms = table.sms() >= k_sms_for_caps;
  const double cap = many_sms ? 8 * noise : std::numeric_limits<float>::max() / 4;
  const std::vector<LineEdge> edges = line_tree(table, sample, static_cast<float>(cap));

  std::vector<std::size_t> cuts = tree_cuts(edges, k_cuts, k_least_step, k_least_cycles);
  cuts.push_back(0);
  // Where the noise ends: lines of one class differ by sqrt(2) sigma, more or less.
  const double end = noise * std::numbers::sqrt2 * std::sqrt(1 + 3 * std::sqrt(2 / sms));
  const auto noise_cut =
      std::find_if(edges.begin(), edges.end(), [end](const LineEdge& edge) { return edge.length <= end; });
  if (many_sms) cuts.push_back(static_cast<std::size_t>(noise_cut - edges.begin()));
  std::sort(cuts.begin(), cuts.end());
  cuts.erase(std::unique(cuts.begin(), cuts.end()), cuts.end());

  SamplePartition result;
  std::vector<LinePartition> standing;
  bool any = false;
  std::vector<std::vector<std::size_t>> proposed;
  for (const std::size_t cut : cuts) {
    std::vector<std::size_t> labels = tree_clusters(edges, cut);
    const std::size_t count = keep_classes(labels, k_least_class_lines);
    if (count == 0 || count > k_most_classes) continue;
    // Cuts that only set other lines loose propose nothing new.
    if (std::find(proposed.begin(), proposed.end(), labels) != proposed.end()) continue;
    proposed.push_back(labels);
    LinePartition partition = settle(table, sample, std::move(labels), count);
    if (partition.count() == 0) continue;
    result.fewest = any ? std::min(result.fewest, partition.count()) : partition.count();
    result.most = std::max(result.most, partition.count());
    // Of those that do not stand, the finest whose classes are at least separate is nearest to the truth.
    const bool better = !any || std::pair(partition.separated, partition.count()) >
                                    std::pair(result.best.separated, result.best.count());
    any = true;
    if (partition.trouble.empty())
      standing.push_back(std::move(partition));
    else if (better)
      result.best = std::move(partition);
  }
  if (standing.empty()) {
    result.trouble = any ? result.best.trouble : "no group of lines is alike through all SMs";
    // Classes that stand clear of each other are that many at least.
    if (any && result.best.separated) result.fewest = result.best.count();
    return result;
  }
  // A partition that stands refutes those coarser than it, whose classes it shows to fall apart.
  result.best =
      std::move(*std::max_element(standing.begin(), standing.end(), [](const LinePartition& x, const LinePartition& y) {
        return x.count() < y.count();
      }));
  result.fewest = result.best.count();
  if (result.most > result.best.count() + result.best.count() / k_classes_a_fragment)
    result.trouble =
        fmt::format("lines fall into {} classes, and hardly less well into {}", result.fewest, result.most);
  return result;
}

}  // namespace gpusonde
