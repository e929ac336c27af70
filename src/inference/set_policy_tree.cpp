// Tree-PLRU: a tree of bits over the ways, each pointing to the half that is to be evicted from next. A use turns the
// bits on its path away from it. Of an odd number of ways the halves differ, and either may be the larger.
#include "inference/set_policy.hpp"

namespace gpusonde {
namespace {

struct TreeShape {
  bool follows_tree = false;  ///< empty ways: the one the tree points nearest to, or else the lowest
  bool larger_first = false;  ///< the lower half has the odd way
};

class TreePolicy : public SetPolicy {
 public:
  TreePolicy(std::uint32_t ways, TreeShape shape) : m_ways(ways), m_shape(shape) {}

  void hit(std::uint32_t way) override {
    descend([&](std::uint32_t node, std::uint32_t middle) {
      const bool upper = way >= middle;
      m_upper_next[node] = !upper;
      return upper;
    });
  }
  void filled(std::uint32_t way) override { hit(way); }
  std::uint32_t victim() override {
    return descend([&](std::uint32_t node, std::uint32_t /*middle*/) { return m_upper_next[node]; });
  }
  [[nodiscard]] std::uint32_t empty_way(std::uint64_t empty) const override {
    if (!m_shape.follows_tree) return SetPolicy::empty_way(empty);
    std::uint64_t reachable = empty;
    return descend([&](std::uint32_t node, std::uint32_t middle) {
      const std::uint64_t below_middle = (1ULL << middle) - 1;
      bool upper = m_upper_next[node];
      if ((upper ? reachable & ~below_middle : reachable & below_middle) == 0) upper = !upper;
      reachable &= upper ? ~below_middle : below_middle;
      return upper;
    });
  }

 private:
  /// From the root to a way; `go_upper(node, first way of the upper half)` says which half.
  template <typename GoUpper>
  std::uint32_t descend(GoUpper go_upper) const {
    std::uint32_t first = 0;
    std::uint32_t end = m_ways;
    for (std::uint32_t node = 1; end - first > 1;) {
      const std::uint32_t middle = first + (end - first + (m_shape.larger_first ? 1 : 0)) / 2;
      const bool upper = go_upper(node, middle);
      (upper ? first : end) = middle;
      node = 2 * node + (upper ? 1 : 0);
    }
    return first;
  }

  std::uint32_t m_ways;
  TreeShape m_shape;
  std::vector<bool> m_upper_next = std::vector<bool>(2 * k_most_set_ways, false);
};

}  // namespace

void add_tree_policies(std::uint32_t ways, std::vector<SetCandidate>& list) {
  for (const bool follows_tree : {false, true})
    for (const bool larger_first : {false, true}) {
      if (larger_first && std::has_single_bit(ways)) continue;
      std::string variant = follows_tree ? "fills where the tree points" : "fills from the lowest way";
      if (larger_first) variant += ", lower half the larger";
      list.push_back({"tree-plru", variant, false, false, follows_tree, [=](std::uint32_t count, Random) {
                        return std::make_unique<TreePolicy>(count, TreeShape{follows_tree, larger_first});
                      }});
    }
}

}  // namespace gpusonde
