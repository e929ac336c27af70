// What makes a proposal better, and whether it holds.
#include "inference/line_partition.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>

#include "inference/line_checks.hpp"
#include "inference/line_strays.hpp"

namespace gpusonde {
namespace {

constexpr int k_rounds = 6;
// Classes are joined below this; a proposal stands only from 8 on, so what lies between does not stand either way.
constexpr double k_join_sigmas = 4;
constexpr double k_most_between = 0.05;

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
    if (group.size() < k_least_class_lines) {
      left += group.size();
      continue;
    }
    for (const std::size_t i : group) labels[i] = count;
    ++count;
  }
  return left;
}

}  // namespace

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

LinePartition settle(const LineTable& table, std::span<const std::size_t> lines, std::vector<std::size_t> labels,
                     std::size_t count) {
  LineModel model = estimate_model(table, lines, labels, count);
  count = join(labels, model);
  Split left;
  std::size_t alike_strays = 0;
  for (int round = 0; round < k_rounds; ++round) {
    model = estimate_model(table, lines, labels, count);
    const std::vector<std::size_t> strays = place_all(table, lines, model, labels);
    count = keep_classes(labels, k_least_class_lines);
    if (count == 0 || count > k_most_classes) break;
    model = estimate_model(table, lines, labels, count);
    auto next = labels;
    std::size_t next_count = count;
    alike_strays = adopt(group_strays(table, lines, strays, model), next, next_count);
    left = split({table, lines, labels}, model, next, next_count);
    const bool changed = next_count != count;
    // Halves of one class, once all lines are placed, are nearer to each other than when they were few.
    const bool joined = !changed && join(next, model) < count;
    if ((!changed && !joined) || round + 1 == k_rounds) break;
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
  // In a sample they may be what it has of a small class; all lines then have more of it.
  if (partition.trouble.empty() && alike_strays > 0 && lines.size() == table.lines())
    partition.trouble = fmt::format("{} lines that fit into no class are alike among themselves", alike_strays);
  if (partition.trouble.empty()) partition.trouble = check_halves(labelled, partition.model);
  return partition;
}

}  // namespace gpusonde
