// Proposals from the tree over a sample, and what makes them better.
#include "inference/line_partition.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>
#include <numeric>
#include <utility>

#include "inference/line_checks.hpp"
#include "inference/line_strays.hpp"
#include "inference/line_tree.hpp"
#include "inference/statistics.hpp"

namespace gpusonde {
namespace {

// Fewer lines make no class: any two outliers may be alike.
constexpr std::size_t k_least_lines = 4;
constexpr std::size_t k_most_classes = 512;
constexpr std::size_t k_cuts = 6;
constexpr double k_least_step = 1.15;
constexpr double k_least_cycles = 0.05;
constexpr int k_rounds = 6;
// Classes are joined below this; a proposal stands only from 8 on, so what lies between does not stand either way.
constexpr double k_join_sigmas = 4;
constexpr std::size_t k_sms_for_caps = 8;
constexpr double k_most_between = 0.05;

// Renumbers so that classes of at least `least` lines are 0, 1, ... and all others loose. Returns the count.
std::size_t keep_classes(std::vector<std::size_t>& labels, std::size_t least) {
  std::vector<std::size_t> sizes;
  for (const std::size_t label : labels) {
    if (label == k_loose) continue;
    if (label >= sizes.size()) sizes.resize(label + 1, 0);
    ++sizes[label];
  }
  std::size_t count = 0;
  std::vector<std::size_t> number(sizes.size(), k_loose);
  for (std::size_t label = 0; label < sizes.size(); ++label)
    if (sizes[label] >= least) number[label] = count++;
  for (std::size_t& label : labels)
    if (label != k_loose) label = number[label];
  return count;
}

// Classes whose centres noise may have moved apart become one. Returns the new count.
std::size_t join(std::vector<std::size_t>& labels, const LineModel& model) {
  std::vector<std::size_t> parent(model.count());
  std::iota(parent.begin(), parent.end(), std::size_t{0});
  const auto root = [&](std::size_t k) {
    while (parent[k] != k) k = parent[k];
    return k;
  };
  for (std::size_t a = 0; a < model.count(); ++a)
    for (std::size_t b = 0; b < a; ++b)
      if (centre_distance(model, a, b) < k_join_sigmas * std::sqrt(std::max(model.spread[a], model.spread[b])))
        parent[root(a)] = root(b);
  for (std::size_t& label : labels)
    if (label != k_loose) label = root(label);
  return keep_classes(labels, 1);
}

struct Split {
  std::size_t parted = 0;  ///< classes with two heaps
  std::size_t unlike = 0;  ///< classes with more spread than noise has, those with two heaps included
};
// Looks into each class of `lines`, and in `labels` splits those with two heaps.
Split split(const LabelledLines& lines, const LineModel& model, std::vector<std::size_t>& labels, std::size_t& count) {
  Split result;
  for (std::size_t k = 0; k < model.count(); ++k) {
    const ClassShape shape = class_shape(lines, model, k);
    if (shape.alike) continue;
    ++result.unlike;
    if (!shape.parted) continue;
    ++result.parted;
    // Members not looked at become loose, and come to the nearer half with the next placing.
    for (std::size_t i = 0; i < labels.size(); ++i)
      if (labels[i] == k) labels[i] = k_loose;
    for (std::size_t i = 0; i < shape.members.size(); ++i) labels[shape.members[i]] = shape.upper[i] ? count : k;
    ++count;
  }
  return result;
}

// Returns the lines, as indices, that are far from every class.
std::vector<std::size_t> place_all(const LineTable& table, std::span<const std::size_t> lines, const LineModel& model,
                                   std::vector<std::size_t>& labels) {
  std::vector<std::size_t> strays;
  for (std::size_t i = 0; i < lines.size(); ++i) {
    const LinePlace place = place_line(model, table.row(lines[i]));
    labels[i] = place.far ? k_loose : place.nearest;
    if (place.far) strays.push_back(i);
  }
  return strays;
}

// Sets lines loose that are in the middle between two classes; too many of a class are a reason to doubt it.
std::string loosen_between(const LineTable& table, std::span<const std::size_t> lines, LinePartition& partition) {
  std::vector<std::size_t> loosened(partition.count(), 0);
  for (std::size_t i = 0; i < lines.size(); ++i) {
    if (partition.labels[i] == k_loose) continue;
    const LinePlace place = place_line(partition.model, table.row(lines[i]));
    if (place.label() == partition.labels[i]) continue;
    ++loosened[partition.labels[i]];
    partition.labels[i] = k_loose;
  }
  for (std::size_t k = 0; k < partition.count(); ++k)
    if (static_cast<double>(loosened[k]) > k_most_between * static_cast<double>(partition.model.sizes[k]) + 1)
      return fmt::format("{} of the {} lines of a class lie in the middle between it and another", loosened[k],
                         partition.model.sizes[k]);
  return {};
}

// Groups of strays that are large enough become classes. Returns how many lines are in smaller ones.
std::size_t adopt(const std::vector<std::vector<std::size_t>>& groups, std::vector<std::size_t>& labels,
                  std::size_t& count) {
  std::size_t left = 0;
  for (const auto& group : groups) {
    if (group.size() < k_least_lines) {
      left += group.size();
      continue;
    }
    for (const std::size_t i : group) labels[i] = count;
    ++count;
  }
  return left;
}

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

LinePartition settle(const LineTable& table, std::span<const std::size_t> lines, std::vector<std::size_t> labels,
                     std::size_t count) {
  LineModel model = estimate_model(table, lines, labels, count);
  count = join(labels, model);
  Split left;
  std::size_t alike_strays = 0;
  for (int round = 0; round < k_rounds; ++round) {
    model = estimate_model(table, lines, labels, count);
    const std::vector<std::size_t> strays = place_all(table, lines, model, labels);
    count = keep_classes(labels, k_least_lines);
    if (count == 0 || count > k_most_classes) break;
    model = estimate_model(table, lines, labels, count);
    auto next = labels;
    std::size_t next_count = count;
    alike_strays = adopt(group_strays(table, lines, strays, model), next, next_count);
    left = split({table, lines, labels}, model, next, next_count);
    if (next_count == count || round + 1 == k_rounds) break;
    labels = std::move(next);
    count = keep_classes(labels, 1);
  }
  LinePartition partition{std::move(labels), std::move(model), {}, false};
  if (count == 0 || count > k_most_classes || count != partition.model.count()) {
    partition.trouble = "no group of lines is alike through all SMs";
    return partition;
  }
  const LabelledLines labelled{table, lines, partition.labels};
  partition.trouble = check_separation(labelled, partition.model);
  partition.separated = partition.trouble.empty();
  if (left.unlike > 0)
    partition.trouble = fmt::format("lines differ by more than noise within {} of {} classes, with no clear gap",
                                    left.unlike, partition.count());
  if (partition.trouble.empty()) partition.trouble = loosen_between(table, lines, partition);
  if (partition.trouble.empty() && alike_strays > 0)
    partition.trouble = fmt::format("{} lines that fit into no class are alike among themselves", alike_strays);
  if (partition.trouble.empty()) partition.trouble = check_halves(labelled, partition.model);
  return partition;
}

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
    const std::size_t count = keep_classes(labels, k_least_lines);
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
  if (result.best.count() < result.most)
    result.trouble =
        fmt::format("lines fall into {} classes, and hardly less well into {}", result.fewest, result.most);
  return result;
}

}  // namespace gpusonde
