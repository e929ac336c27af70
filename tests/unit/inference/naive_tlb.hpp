// Translation caches once more, the plain way: a list of pages a set, searched from end to end. Tests hold the forward
// model and its fits against it, so it shares nothing with them but the description of a table.
#pragma once

#include <algorithm>
#include <cstdint>
#include <list>
#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "inference/tlb_forward.hpp"

namespace gpusonde {

/// One table. Random replacement is left out: chance has closed forms, not a second opinion.
class NaiveTable {
 public:
  explicit NaiveTable(const TlbShape& shape) : m_shape(shape), m_ways(shape.ways == 0 ? shape.entries : shape.ways) {}

  /// True on a hit.
  bool access(std::uint64_t address) {
    const std::uint64_t page = address / m_shape.span_bytes;
    const std::uint64_t set = set_of(page);
    return m_shape.policy == TlbPolicy::tree_plru ? access_tree(m_trees[set], page) : access_list(m_lists[set], page);
  }

 private:
  /// Newest first.
  using Pages = std::list<std::uint64_t>;

  struct Tree {
    std::vector<std::uint64_t> ways;                             ///< filled from the first on
    std::map<std::pair<std::size_t, std::size_t>, bool> newest;  ///< [first, end) of a half: used last was the upper
  };

  [[nodiscard]] std::uint64_t set_of(std::uint64_t page) const {
    const std::uint64_t sets = m_shape.entries / m_ways;
    if (!m_shape.folded) return page % sets;
    std::uint64_t folded = 0;
    for (; page > 0; page /= sets) {
      folded ^= page % sets;
      if (sets == 1) break;
    }
    return folded;
  }

  bool access_list(Pages& pages, std::uint64_t page) const {
    const auto found = std::find(pages.begin(), pages.end(), page);
    const bool hit = found != pages.end();
    if (hit && m_shape.policy == TlbPolicy::fifo) return true;
    if (hit) pages.erase(found);
    pages.push_front(page);
    if (pages.size() > m_ways) pages.pop_back();
    return hit;
  }

  bool access_tree(Tree& tree, std::uint64_t page) const {
    const auto found = std::find(tree.ways.begin(), tree.ways.end(), page);
    auto way = static_cast<std::size_t>(found - tree.ways.begin());
    const bool hit = found != tree.ways.end();
    if (!hit && tree.ways.size() < m_ways) {
      tree.ways.push_back(page);
    } else if (!hit) {
      way = oldest(tree, 0, m_ways);
      tree.ways[way] = page;
    }
    use(tree, 0, m_ways, way);
    return hit;
  }
  static std::size_t oldest(Tree& tree, std::size_t first, std::size_t end) {
    if (end - first == 1) return first;
    const std::size_t middle = (first + end) / 2;
    return tree.newest[{first, end}] ? oldest(tree, first, middle) : oldest(tree, middle, end);
  }
  static void use(Tree& tree, std::size_t first, std::size_t end, std::size_t way) {
    if (end - first == 1) return;
    const std::size_t middle = (first + end) / 2;
    tree.newest[{first, end}] = way >= middle;
    way < middle ? use(tree, first, middle, way) : use(tree, middle, end, way);
  }

  TlbShape m_shape;
  std::size_t m_ways;
  std::map<std::uint64_t, Pages> m_lists;
  std::map<std::uint64_t, Tree> m_trees;
};

struct NaiveWalk {
  std::vector<std::uint64_t> addresses;
  std::uint64_t warmup_hops = 0;
  std::uint64_t counted_hops = 0;
  std::uint64_t own_every = 0;
  std::uint64_t own_address = 0;
};

/// Counted loads whose deepest miss is level i, for each i.
inline std::vector<std::uint64_t> naive_deepest_misses(const std::vector<TlbShape>& levels, const NaiveWalk& walk) {
  std::vector<NaiveTable> tables;
  for (const auto& level : levels) tables.emplace_back(level);
  std::vector<std::uint64_t> misses(levels.size(), 0);
  const auto load = [&](std::uint64_t address) {
    std::optional<std::size_t> deepest;
    for (std::size_t level = 0; level < tables.size() && !tables[level].access(address); ++level) deepest = level;
    return deepest;
  };
  for (std::uint64_t hop = 0; hop < walk.warmup_hops; ++hop) load(walk.addresses[hop % walk.addresses.size()]);
  for (std::uint64_t hop = 0; hop < walk.counted_hops; ++hop) {
    const auto deepest = load(walk.addresses[(walk.warmup_hops + hop) % walk.addresses.size()]);
    if (deepest) ++misses[*deepest];
    if (walk.own_every != 0 && (hop + 1) % walk.own_every == 0) load(walk.own_address);
  }
  return misses;
}

}  // namespace gpusonde
