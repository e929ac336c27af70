// Each policy against a small reference that is written another way: one set, entries as a list.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

#include "core/random.hpp"
#include "target/sim/tag_store.hpp"

namespace gpusonde::sim {
namespace {

/// One set. True on a hit.
using Reference = std::function<bool(std::uint64_t tag)>;

Reference recency_reference(std::size_t ways, bool moves_on_hit) {
  return [=, order = std::vector<std::uint64_t>{}](std::uint64_t tag) mutable {
    const auto found = std::find(order.begin(), order.end(), tag);
    const bool hit = found != order.end();
    if (hit && !moves_on_hit) return true;
    if (hit) order.erase(found);
    order.push_back(tag);
    if (order.size() > ways) order.erase(order.begin());
    return hit;
  };
}

/// Slots by way, with the policy's choice of a victim and its notes on a touch.
Reference slot_reference(std::size_t ways, std::function<std::size_t(const std::vector<bool>& used)> choose,
                         std::function<void(std::size_t way, bool filled)> touched) {
  return [=, tags = std::vector<std::uint64_t>(ways), used = std::vector<bool>(ways)](std::uint64_t tag) mutable {
    for (std::size_t way = 0; way < ways; ++way)
      if (used[way] && tags[way] == tag) {
        touched(way, false);
        return true;
      }
    const std::size_t way = choose(used);
    tags[way] = tag;
    used[way] = true;
    touched(way, true);
    return false;
  };
}

std::size_t first_free(const std::vector<bool>& used) {
  return static_cast<std::size_t>(std::find(used.begin(), used.end(), false) - used.begin());
}

Reference nru_reference(std::size_t ways) {
  auto marks = std::make_shared<std::vector<bool>>(ways);
  return slot_reference(
      ways,
      [=](const std::vector<bool>& used) {
        const auto free = first_free(used);
        if (free < ways) return free;
        return ways == 1 ? 0 : first_free(*marks);
      },
      [=](std::size_t way, bool) {
        (*marks)[way] = true;
        if (first_free(*marks) < ways) return;
        marks->assign(ways, false);
        (*marks)[way] = true;
      });
}

Reference srrip_reference(std::size_t ways) {
  auto ages = std::make_shared<std::vector<int>>(ways);
  return slot_reference(
      ways,
      [=](const std::vector<bool>& used) {
        const auto free = first_free(used);
        if (free < ways) return free;
        for (;;) {
          for (std::size_t way = 0; way < ways; ++way)
            if ((*ages)[way] == 3) return way;
          for (int& age : *ages) ++age;
        }
      },
      [=](std::size_t way, bool filled) { (*ages)[way] = filled ? 2 : 0; });
}

Reference random_reference(std::size_t ways, Random random) {
  auto source = std::make_shared<Random>(random);
  return slot_reference(
      ways,
      [=](const std::vector<bool>& used) {
        const auto free = first_free(used);
        return free < ways ? free : static_cast<std::size_t>(source->below(ways));
      },
      [](std::size_t, bool) {});
}

/// A subtree over [first, last): which half is next to be evicted.
struct Tree {
  std::size_t first, last;
  bool upper_next = false;
  std::unique_ptr<Tree> lower, upper;
  Tree(std::size_t f, std::size_t l) : first(f), last(l) {
    if (l - f < 2) return;
    lower = std::make_unique<Tree>(f, f + (l - f) / 2);
    upper = std::make_unique<Tree>(f + (l - f) / 2, l);
  }
  void touch(std::size_t way) {
    if (!lower) return;
    const bool in_upper = way >= upper->first;
    upper_next = !in_upper;
    (in_upper ? upper : lower)->touch(way);
  }
  [[nodiscard]] bool full(const std::vector<bool>& used) const {
    return std::all_of(used.begin() + static_cast<std::ptrdiff_t>(first),
                       used.begin() + static_cast<std::ptrdiff_t>(last), [](bool u) { return u; });
  }
  [[nodiscard]] std::size_t choose(const std::vector<bool>& used, bool must_be_free) const {
    if (!lower) return first;
    const Tree* wanted = upper_next ? upper.get() : lower.get();
    if (must_be_free && wanted->full(used)) wanted = upper_next ? lower.get() : upper.get();
    return wanted->choose(used, must_be_free);
  }
};

Reference plru_reference(std::size_t ways) {
  auto tree = std::make_shared<Tree>(0, ways);
  return slot_reference(
      ways, [=](const std::vector<bool>& used) { return tree->choose(used, !tree->full(used)); },
      [=](std::size_t way, bool) { tree->touch(way); });
}

Reference reference_of(Replacement policy, std::size_t ways, Random random) {
  switch (policy) {
    case Replacement::lru: return recency_reference(ways, true);
    case Replacement::fifo: return recency_reference(ways, false);
    case Replacement::tree_plru: return plru_reference(ways);
    case Replacement::nru: return nru_reference(ways);
    case Replacement::srrip: return srrip_reference(ways);
    case Replacement::random: break;
  }
  return random_reference(ways, random);
}

/// A walk of random tags over one set, with stretches that repeat a few, against the reference.
void expect_same(Replacement policy, std::uint32_t ways, std::uint64_t seed) {
  Random walk(seed);
  TagStore store(3, ways, policy);
  const Random choices(seed + 1);
  for (int round = 0; round < 2; ++round) {  // the second one checks that reset empties everything
    store.reset(choices);
    const auto reference = reference_of(policy, ways, choices);
    for (int i = 0; i < 20'000; ++i) {
      const std::uint64_t pool = i / 500 % 2 == 0 ? ways + 1 : 3 * std::uint64_t{ways};
      const std::uint64_t tag = walk.below(pool);
      ASSERT_EQ(store.access(1, tag, 1), reference(tag))
          << to_string(policy) << ", " << ways << " ways, access " << i << " of round " << round;
    }
  }
}

TEST(Replacement, AgreesWithTheReferences) {
  for (const auto policy : {Replacement::lru, Replacement::fifo, Replacement::random})
    for (const std::uint32_t ways : {1U, 2U, 3U, 4U, 8U, 12U, 16U, 64U, 65U, 200U}) expect_same(policy, ways, ways);
  for (const auto policy : {Replacement::tree_plru, Replacement::nru, Replacement::srrip})
    for (const std::uint32_t ways : {1U, 2U, 3U, 4U, 7U, 8U, 12U, 16U, 32U, 64U})
      if (ways <= TagStore::ways_limit(policy)) expect_same(policy, ways, ways);
}

TEST(Replacement, SetsAreIndependent) {
  for (const std::uint32_t ways : {2U, 100U}) {
    TagStore store(4, ways, Replacement::lru);
    store.reset(Random(1));
    for (std::uint64_t tag = 0; tag < 4 * ways; ++tag) EXPECT_FALSE(store.access(tag % 4, tag, 1));
    for (std::uint64_t tag = 0; tag < 4 * ways; ++tag) EXPECT_TRUE(store.access(tag % 4, tag, 1));
    EXPECT_EQ(store.touched_sets(), 4U);
    EXPECT_EQ(store.unfilled_sets(), 0U);
  }
}

TEST(Replacement, CountsTouchedAndUnfilledSets) {
  for (const std::uint32_t ways : {4U, 100U}) {
    TagStore store(8, ways, Replacement::lru);
    store.reset(Random(1));
    for (std::uint64_t tag = 0; tag < ways; ++tag) store.access(3, 8 * tag, 1);
    store.access(5, 1, 1);
    EXPECT_EQ(store.touched_sets(), 2U);
    EXPECT_EQ(store.unfilled_sets(), 1U);
    store.reset(Random(1));
    EXPECT_EQ(store.touched_sets(), 0U);
    EXPECT_FALSE(store.access(3, 0, 1));
  }
}

TEST(Replacement, PartsOfATagAreTrackedOneByOne) {
  for (const std::uint32_t ways : {4U, 100U})
    for (const auto policy : {Replacement::lru, Replacement::fifo}) {
      TagStore store(1, ways, policy);
      store.reset(Random(1));
      EXPECT_FALSE(store.access(0, 0, 1));
      EXPECT_FALSE(store.access(0, 0, 1 << 15));
      EXPECT_TRUE(store.access(0, 0, 1));
      EXPECT_TRUE(store.access(0, 0, 1 << 15));
      EXPECT_FALSE(store.access(0, 0, 2));
      for (std::uint64_t tag = 1; tag <= ways; ++tag) store.access(0, tag, 1);  // evicts tag 0 with its parts
      EXPECT_FALSE(store.access(0, 0, 1));
      EXPECT_FALSE(store.access(0, 0, 2));
    }
}

}  // namespace
}  // namespace gpusonde::sim
