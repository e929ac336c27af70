// Tags that are removed and parts that are added, for each policy: what stays, what is free, who is next to go.
#include <gtest/gtest.h>

#include "core/random.hpp"
#include "target/sim/tag_store.hpp"

namespace gpusonde::sim {
namespace {

constexpr Replacement k_policies[] = {Replacement::lru, Replacement::fifo,  Replacement::tree_plru,
                                      Replacement::nru, Replacement::srrip, Replacement::random};
constexpr std::uint32_t k_many_ways = 100;  // found by hashing

bool can_be(Replacement policy, std::uint32_t ways) {
  const auto limit = TagStore::ways_limit(policy);
  return limit == 0 || ways <= limit;
}

/// Set 1 of a few, with tags 0 to `ways` - 1 in it.
TagStore filled(Replacement policy, std::uint32_t ways) {
  TagStore store(3, ways, policy);
  store.reset(Random(1));
  for (std::uint64_t tag = 0; tag < ways; ++tag) EXPECT_FALSE(store.access(1, tag, 1));
  return store;
}

TEST(Removal, TheTagIsGoneAndItsWayFree) {
  for (const auto policy : k_policies)
    for (const std::uint32_t ways : {1U, 2U, 3U, 4U, 8U, 16U, 32U, 64U}) {
      if (!can_be(policy, ways)) continue;
      for (const std::uint32_t removed : {0U, ways / 2, ways - 1}) {
        SCOPED_TRACE(::testing::Message() << to_string(policy) << ", " << removed << " of " << ways);
        auto store = filled(policy, ways);
        store.remove(1, removed);
        for (std::uint64_t tag = 0; tag < ways; ++tag)
          if (tag != removed) {
            EXPECT_TRUE(store.access(1, tag, 1)) << tag;
          }
        EXPECT_FALSE(store.access(1, removed, 1));
        for (std::uint64_t tag = 0; tag < ways; ++tag) EXPECT_TRUE(store.access(1, tag, 1)) << tag;
      }
    }
}

TEST(Removal, AllOfASetCanGoAndComeBack) {
  for (const auto policy : k_policies)
    for (const std::uint32_t ways : {1U, 4U, 32U}) {
      SCOPED_TRACE(::testing::Message() << to_string(policy) << ", " << ways << " ways");
      auto store = filled(policy, ways);
      for (std::uint64_t tag = 0; tag < ways; ++tag) store.remove(1, tag);
      for (std::uint64_t tag = 0; tag < ways; ++tag) EXPECT_FALSE(store.access(1, 100 + tag, 1));
      for (std::uint64_t tag = 0; tag < ways; ++tag) EXPECT_TRUE(store.access(1, 100 + tag, 1));
    }
}

TEST(Removal, OfWhatIsNotThereChangesNothing) {
  for (const auto policy : k_policies)
    for (const std::uint32_t ways : {1U, 4U, 32U, k_many_ways}) {
      if (!can_be(policy, ways)) continue;
      TagStore touched(2, ways, policy);
      TagStore plain(2, ways, policy);
      touched.reset(Random(1));
      plain.reset(Random(1));
      Random walk(ways);
      for (int i = 0; i < 3000; ++i) {
        touched.remove(0, 100'000 + walk.below(50));
        const auto tag = walk.below(2 * std::uint64_t{ways});
        ASSERT_EQ(touched.access(0, tag, 1), plain.access(0, tag, 1)) << to_string(policy) << ", " << ways << " ways";
      }
    }
}

TEST(Removal, AResetForgetsIt) {
  for (const auto policy : k_policies)
    for (const std::uint32_t ways : {2U, 8U, k_many_ways}) {
      if (!can_be(policy, ways)) continue;
      auto used = filled(policy, ways);
      used.remove(1, 0);
      used.reset(Random(7));
      TagStore fresh(3, ways, policy);
      fresh.reset(Random(7));
      Random walk(ways);
      for (int i = 0; i < 3000; ++i) {
        const auto tag = walk.below(2 * std::uint64_t{ways});
        ASSERT_EQ(used.access(1, tag, 1), fresh.access(1, tag, 1)) << to_string(policy) << ", " << ways << " ways";
      }
    }
}

TEST(Removal, OtherSetsKeepTheTag) {
  TagStore store(2, 4, Replacement::lru);
  store.reset(Random(1));
  store.access(0, 5, 1);
  store.access(1, 5, 1);
  store.remove(0, 5);
  EXPECT_TRUE(store.access(1, 5, 1));
  EXPECT_FALSE(store.access(0, 5, 1));
}

TEST(Removal, SetsAreCountedOnce) {
  for (const auto policy : k_policies) {
    TagStore store(4, 2, policy);
    store.reset(Random(1));
    for (int i = 0; i < 3; ++i) {
      store.access(2, 9, 1);
      store.remove(2, 9);
    }
    store.access(2, 9, 1);
    EXPECT_EQ(store.touched_sets(), 1U) << to_string(policy);
  }
}

/// Of four ways, filled, with tag 1 removed and tag 9 in its place: whether `tag` outlives the next fill.
bool outlives_next_fill(Replacement policy, std::uint64_t tag) {
  auto store = filled(policy, 4);
  for (const std::uint64_t other : {0U, 2U, 3U}) store.access(1, other, 1);
  store.remove(1, 1);
  EXPECT_FALSE(store.access(1, 9, 1));
  EXPECT_FALSE(store.access(1, 10, 1));
  return store.access(1, tag, 1);
}

TEST(Removal, ThePolicyTakesTheNewcomerForNew) {
  EXPECT_FALSE(outlives_next_fill(Replacement::lru, 0));  // the oldest
  for (const std::uint64_t stays : {2U, 3U, 9U, 10U}) EXPECT_TRUE(outlives_next_fill(Replacement::lru, stays));
  EXPECT_FALSE(outlives_next_fill(Replacement::fifo, 0));
  for (const std::uint64_t stays : {2U, 3U, 9U, 10U}) EXPECT_TRUE(outlives_next_fill(Replacement::fifo, stays));
  EXPECT_TRUE(outlives_next_fill(Replacement::tree_plru, 9));
  EXPECT_TRUE(outlives_next_fill(Replacement::nru, 9));
  // All others were hit since they came, the newcomer was not.
  EXPECT_FALSE(outlives_next_fill(Replacement::srrip, 9));
  for (const std::uint64_t stays : {0U, 2U, 3U, 10U}) EXPECT_TRUE(outlives_next_fill(Replacement::srrip, stays));
}

TEST(Removal, OfManyWaysTheTagIsGoneAndTheOthersStay) {
  for (const auto policy : {Replacement::lru, Replacement::fifo, Replacement::random}) {
    SCOPED_TRACE(to_string(policy));
    auto store = filled(policy, k_many_ways);
    for (std::uint64_t tag = 0; tag < k_many_ways; tag += 3) store.remove(1, tag);
    for (std::uint64_t tag = 0; tag < k_many_ways; ++tag)
      if (tag % 3 != 0) {
        EXPECT_TRUE(store.access(1, tag, 1)) << tag;
      }
    EXPECT_FALSE(store.access(1, 0, 1));
    EXPECT_TRUE(store.access(1, 0, 1));
  }
}

TEST(Removal, OfManyWaysAgainAndAgainLosesNothing) {
  auto store = filled(Replacement::lru, k_many_ways);
  for (std::uint64_t tag = 0; tag < 40; ++tag) EXPECT_TRUE(store.access(1, tag, 1));
  Random walk(3);
  for (std::uint64_t i = 0; i < 20'000; ++i) {
    const std::uint64_t newcomer = 1000 + walk.below(5000);
    store.access(1, newcomer, 1);
    store.remove(1, newcomer);
    ASSERT_TRUE(store.access(1, i % 40, 1)) << i;
  }
}

TEST(AddedParts, AreThereAndOthersAreNot) {
  for (const auto policy : k_policies)
    for (const std::uint32_t ways : {1U, 4U, 32U, k_many_ways}) {
      if (!can_be(policy, ways)) continue;
      auto store = filled(policy, ways);
      store.add_parts(1, 0, 0b1100);
      EXPECT_TRUE(store.access(1, 0, 0b1000)) << to_string(policy) << ", " << ways;
      EXPECT_TRUE(store.access(1, 0, 0b0100));
      EXPECT_TRUE(store.access(1, 0, 0b0001));
      EXPECT_FALSE(store.access(1, 0, 0b0010));
      if (ways > 1) {
        EXPECT_FALSE(store.access(1, 1, 0b0100));  // another tag's
      }
      store.remove(1, 0);
      EXPECT_FALSE(store.access(1, 0, 0b0001));
      EXPECT_FALSE(store.access(1, 0, 0b0100));  // gone with it
    }
}

TEST(AddedParts, AreNoUseToThePolicy) {
  for (const auto policy : k_policies)
    for (const std::uint32_t ways : {2U, 4U, 32U, k_many_ways}) {
      if (!can_be(policy, ways)) continue;
      auto touched = filled(policy, ways);
      auto plain = filled(policy, ways);
      Random walk(ways);
      for (int i = 0; i < 3000; ++i) {
        const auto tag = walk.below(2 * std::uint64_t{ways});
        ASSERT_EQ(touched.access(1, tag, 1), plain.access(1, tag, 1)) << to_string(policy) << ", " << ways << " ways";
        touched.add_parts(1, tag, 0b1111);
      }
    }
}

}  // namespace
}  // namespace gpusonde::sim
