// Prim's tree over lines, and its cuts.
#include "inference/line_tree.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <utility>

namespace gpusonde {

std::vector<LineEdge> line_tree(const LineTable& table, std::span<const std::size_t> sample, float cap_cycles) {
  std::vector<float> weight(table.width(), 0.0F);
  std::fill_n(weight.begin(), table.sms(), 1.0F);
  struct Waiting {
    std::size_t index = 0;
    std::size_t nearest = 0;  // of those in the tree
    float square = std::numeric_limits<float>::infinity();
  };
  std::vector<Waiting> waiting;
  for (std::size_t i = 1; i < sample.size(); ++i) waiting.push_back({i, 0});
  std::vector<LineEdge> edges;
  std::size_t last = 0;
  while (!waiting.empty()) {
    std::size_t best = 0;
    for (std::size_t i = 0; i < waiting.size(); ++i) {
      Waiting& other = waiting[i];
      const float square = capped_distance(table.row(sample[last]), table.row(sample[other.index]), weight, cap_cycles);
      if (square < other.square) {
        other.square = square;
        other.nearest = last;
      }
      if (other.square < waiting[best].square) best = i;
    }
    const Waiting found = waiting[best];
    edges.push_back(
        {found.nearest, found.index, std::sqrt(std::max(0.0F, found.square) / static_cast<float>(table.sms()))});
    last = found.index;
    waiting[best] = waiting.back();
    waiting.pop_back();
  }
  std::stable_sort(edges.begin(), edges.end(),
                   [](const LineEdge& x, const LineEdge& y) { return x.length > y.length; });
  return edges;
}

std::vector<std::size_t> tree_cuts(std::span<const LineEdge> edges, std::size_t most, double least_ratio,
                                   double floor_cycles) {
  std::vector<std::pair<double, std::size_t>> steps;
  for (std::size_t i = 0; i + 1 < edges.size(); ++i) {
    if (edges[i].length <= floor_cycles) break;
    const double ratio = edges[i].length / std::max(static_cast<double>(edges[i + 1].length), floor_cycles);
    if (ratio >= least_ratio) steps.emplace_back(ratio, i + 1);
  }
  std::stable_sort(steps.begin(), steps.end(), [](const auto& x, const auto& y) { return x.first > y.first; });
  if (steps.size() > most) steps.resize(most);
  std::vector<std::size_t> cuts;
  for (const auto& step : steps) cuts.push_back(step.second);
  return cuts;
}

std::vector<std::size_t> tree_clusters(std::span<const LineEdge> edges, std::size_t cut) {
  std::vector<std::size_t> parent(edges.size() + 1);
  std::iota(parent.begin(), parent.end(), std::size_t{0});
  const auto root = [&](std::size_t i) {
    while (parent[i] != i) i = parent[i] = parent[parent[i]];
    return i;
  };
  for (std::size_t i = cut; i < edges.size(); ++i) {
    const std::size_t a = root(edges[i].a);
    const std::size_t b = root(edges[i].b);
    parent[std::max(a, b)] = std::min(a, b);
  }
  std::vector<std::size_t> cluster(parent.size());
  std::size_t count = 0;
  for (std::size_t i = 0; i < parent.size(); ++i) {
    const std::size_t first = root(i);
    cluster[i] = first == i ? count++ : cluster[first];
  }
  return cluster;
}

}  // namespace gpusonde
