// Shares of misses that can be counted by hand, and those of random tables and lists beside a second, plain simulator.
#include "inference/tlb_forward.hpp"

#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <set>
#include <string>

#include "core/random.hpp"
#include "core/units.hpp"
#include "naive_tlb.hpp"

namespace gpusonde {
namespace {

constexpr std::uint64_t k_span = 2 * k_mib;
using Shares = std::vector<double>;
using Addresses = std::vector<std::uint64_t>;

Addresses shuffled(Addresses addresses, std::uint64_t seed) {
  Random random(seed);
  for (std::size_t i = addresses.size(); i > 1; --i) std::swap(addresses[i - 1], addresses[random.below(i)]);
  return addresses;
}

/// Pages 0 to count - 1, so far apart, in a random order.
Addresses pages(std::uint64_t count, std::uint64_t stride = k_span) {
  Addresses addresses(count);
  for (std::uint64_t i = 0; i < count; ++i) addresses[i] = i * stride;
  return shuffled(std::move(addresses), count);
}

/// Pages by letter: "aba" visits page 0, then 1, then 0.
Addresses spelled(const std::string& letters) {
  Addresses addresses;
  for (const char letter : letters) addresses.push_back(static_cast<std::uint64_t>(letter - 'a') * k_span);
  return addresses;
}

/// After two laps, over four.
Shares warm_shares(const std::vector<TlbShape>& levels, Addresses addresses) {
  const auto lap = addresses.size();
  const TlbTrace trace(std::move(addresses), 2 * lap, 4 * lap);
  return deepest_miss_shares(levels, trace, trace.measured(), 1);
}

/// Misses of one walk through a table that is empty at first.
double cold_misses(const TlbShape& shape, const std::string& letters) {
  const TlbTrace trace(spelled(letters), 0, letters.size());
  return deepest_miss_shares(std::vector{shape}, trace, trace.measured(), 1)[0] * static_cast<double>(letters.size());
}

TEST(TlbForward, ACyclicWalkFitsOrMissesThroughout) {
  for (const auto policy : {TlbPolicy::lru, TlbPolicy::fifo}) {
    SCOPED_TRACE(to_string(policy));
    const std::vector<TlbShape> table{{16, 0, k_span, policy}};
    for (const std::uint64_t count : {1U, 2U, 15U, 16U})
      EXPECT_EQ(warm_shares(table, pages(count)), Shares{0}) << count;
    for (const std::uint64_t count : {17U, 18U, 40U}) EXPECT_EQ(warm_shares(table, pages(count)), Shares{1}) << count;
  }
}

TEST(TlbForward, NodesOfOneSpanShareItsEntry) {
  const std::vector<TlbShape> table{{4, 0, 4 * k_span, TlbPolicy::lru}};
  EXPECT_EQ(warm_shares(table, pages(16)), Shares{0});
  Addresses in_order(20);
  for (std::uint64_t i = 0; i < 20; ++i) in_order[i] = i * k_span;
  EXPECT_EQ(warm_shares(table, in_order), Shares{0.25});  // the first node of each span
}

// A hot page between any two cold ones, two entries. LRU keeps it: only the cold ones miss. FIFO by hand, with the
// queue from old to new after each load of two laps: h1 12 2h h3 (h) 31 1h h2 (h) 23 3h h1 (h): the hot page misses in
// three of six visits.
TEST(TlbForward, AHotPageTellsLruFromFifo) {
  const auto walk = spelled("hahbhc");
  EXPECT_EQ(warm_shares({{2, 0, k_span, TlbPolicy::lru}}, walk), Shares{0.5});
  EXPECT_EQ(warm_shares({{2, 0, k_span, TlbPolicy::fifo}}, walk), Shares{0.75});
}

TEST(TlbForward, SetsOverflowOneByOne) {
  for (const auto policy : {TlbPolicy::lru, TlbPolicy::fifo}) {
    const std::vector<TlbShape> table{{32, 4, k_span, policy}};  // 8 sets
    EXPECT_EQ(warm_shares(table, pages(32)), Shares{0});
    for (std::uint64_t more = 1; more <= 8; ++more)
      EXPECT_DOUBLE_EQ(warm_shares(table, pages(32 + more))[0],
                       static_cast<double>(5 * more) / static_cast<double>(32 + more))
          << more;
  }
}

TEST(TlbForward, SetsNeedNotBeAPowerOfTwo) {
  const std::vector<TlbShape> table{{36, 3, k_span, TlbPolicy::lru}};  // 12 sets
  EXPECT_EQ(warm_shares(table, pages(36)), Shares{0});
  EXPECT_DOUBLE_EQ(warm_shares(table, pages(41))[0], 5 * 4 / 41.0);
}

TEST(TlbForward, AFoldedIndexHoldsAsMuchAtAnyStride) {
  const std::vector<TlbShape> folded{{32, 4, k_span, TlbPolicy::lru, true}};
  for (const std::uint64_t stride : {1U, 2U, 4U, 8U, 16U, 64U}) {
    SCOPED_TRACE(stride);
    EXPECT_EQ(warm_shares(folded, pages(32, stride * k_span)), Shares{0});
    for (const std::uint64_t more : {1U, 3U, 8U})
      EXPECT_DOUBLE_EQ(warm_shares(folded, pages(32 + more, stride * k_span))[0],
                       static_cast<double>(5 * more) / static_cast<double>(32 + more));
  }
}

TEST(TlbForward, AModuloIndexLosesHalfAtEachDoublingOfTheStride) {
  const std::vector<TlbShape> modulo{{32, 4, k_span, TlbPolicy::lru}};
  for (const std::uint64_t stride : {1U, 2U, 4U, 8U}) {
    SCOPED_TRACE(stride);
    const std::uint64_t held = 32 / stride;
    EXPECT_EQ(warm_shares(modulo, pages(held, stride * k_span)), Shares{0});
    EXPECT_DOUBLE_EQ(warm_shares(modulo, pages(held + 1, stride * k_span))[0], 5 / static_cast<double>(held + 1));
  }
}

// Four ways filled in order by a, b, c, d: the tree then points to a. Using a turns it to the other half, where it
// points away from d, so e takes the place of c, while b, the oldest, stays. b turns it back: f takes d's.
TEST(TlbForward, TreePlruFollowsItsTree) {
  const TlbShape tree{4, 0, k_span, TlbPolicy::tree_plru};
  const TlbShape lru{4, 0, k_span, TlbPolicy::lru};
  EXPECT_DOUBLE_EQ(cold_misses(tree, "abcde"), 5);
  EXPECT_DOUBLE_EQ(cold_misses(tree, "abcdea"), 6);
  EXPECT_DOUBLE_EQ(cold_misses(tree, "abcdaeb"), 5);
  EXPECT_DOUBLE_EQ(cold_misses(lru, "abcdaeb"), 6);
  EXPECT_DOUBLE_EQ(cold_misses(tree, "abcdaec"), 6);
  EXPECT_DOUBLE_EQ(cold_misses(lru, "abcdaec"), 5);
  for (const char present : {'a', 'b', 'e', 'f'})
    EXPECT_DOUBLE_EQ(cold_misses(tree, std::string("abcdaebf") + present), 6) << present;
  for (const char gone : {'c', 'd'}) EXPECT_DOUBLE_EQ(cold_misses(tree, std::string("abcdaebf") + gone), 7) << gone;
}

// With one page more than entries, exactly one page is out. A miss brings it in and puts out one of the E others, which
// is met again after 1 to E loads, each as likely: (E + 1) / 2 on average. Misses are a renewal process with the
// variance (E^2 - 1) / 12 of that.
TEST(TlbForward, RandomReplacementMissesAsOftenAsChanceSays) {
  for (const std::uint32_t entries : {2U, 8U, 16U, 100U}) {
    SCOPED_TRACE(entries);
    const double hops = 400'000;
    const double mean = (entries + 1) / 2.0;
    const double variance = (double{1} * entries * entries - 1) / 12;
    const double sigma = std::sqrt(variance / std::pow(mean, 3) / hops);
    const std::vector<TlbShape> table{{entries, 0, k_span, TlbPolicy::random}};
    const TlbTrace full(pages(entries + 1), 50 * (entries + 1), static_cast<std::uint64_t>(hops));
    Shares seen;
    for (const std::uint64_t seed : {1U, 2U, 3U}) {
      seen.push_back(deepest_miss_shares(table, full, full.measured(), seed)[0]);
      EXPECT_NEAR(seen.back(), 1 / mean, 5 * sigma) << "seed " << seed;
    }
    EXPECT_EQ(warm_shares(table, pages(entries)), Shares{0});
    EXPECT_EQ(deepest_miss_shares(table, full, full.measured(), 1)[0], seen[0]);
  }
}

TEST(TlbForward, RandomReplacementDependsOnTheSeed) {
  const std::vector<TlbShape> table{{16, 0, k_span, TlbPolicy::random}};
  const TlbTrace trace(pages(24), 48, 240);
  std::set<double> shares;
  for (std::uint64_t seed = 0; seed < 8; ++seed)
    shares.insert(deepest_miss_shares(table, trace, trace.measured(), seed)[0]);
  EXPECT_GT(shares.size(), 1U);
}

// The own page puts out the page that is due next, that one the next, and so on: sixteen misses until the own page is
// the oldest. The first part of the walk is before any use of it.
TEST(TlbForward, TheOwnPageDisplacesAFullTable) {
  constexpr std::uint64_t parts = 32;
  for (const auto policy : {TlbPolicy::lru, TlbPolicy::fifo}) {
    const std::vector<TlbShape> table{{16, 0, k_span, policy}};
    const auto share = [&](std::uint64_t count, std::uint64_t own_every) {
      const TlbTrace trace(pages(count), 2 * count, 64 * parts, own_every);
      return deepest_miss_shares(table, trace, trace.measured(), 1)[0];
    };
    EXPECT_DOUBLE_EQ(share(16, 64), 16.0 / 64 * (parts - 1) / parts);
    EXPECT_EQ(share(16, 0), 0);
    EXPECT_EQ(share(15, 64), 0);
    EXPECT_EQ(share(17, 64), 1);
  }
}

TEST(TlbForward, TheDeepestMissCounts) {
  const std::vector<TlbShape> levels{{4, 0, k_span, TlbPolicy::lru}, {8, 0, k_span, TlbPolicy::lru}};
  EXPECT_EQ(warm_shares(levels, pages(4)), (Shares{0, 0}));
  EXPECT_EQ(warm_shares(levels, pages(5)), (Shares{1, 0}));
  EXPECT_EQ(warm_shares(levels, pages(8)), (Shares{1, 0}));
  EXPECT_EQ(warm_shares(levels, pages(9)), (Shares{0, 1}));
}

TEST(TlbForward, ALargerSpanBehindASmallerOneMissesOnceASpan) {
  const std::vector<TlbShape> levels{{4, 0, k_span, TlbPolicy::lru}, {2, 0, 8 * k_span, TlbPolicy::lru}};
  EXPECT_EQ(warm_shares(levels, pages(16)), (Shares{1, 0}));
  Addresses in_order(24);
  for (std::uint64_t i = 0; i < 24; ++i) in_order[i] = i * k_span;
  EXPECT_EQ(warm_shares(levels, in_order), (Shares{0.875, 0.125}));
}

// The hot page never leaves the first level, so the second, of three entries, has to hold the cold ones alone.
TEST(TlbForward, HitsDoNotReachTheLevelBehind) {
  const std::vector<TlbShape> levels{{2, 0, k_span, TlbPolicy::lru}, {3, 0, k_span, TlbPolicy::lru}};
  EXPECT_EQ(warm_shares(levels, spelled("hahbhc")), (Shares{0.5, 0}));
  EXPECT_EQ(warm_shares(levels, spelled("hahbhchd")), (Shares{0, 0.5}));
}

TEST(TlbForward, NoLevelsNoShares) {
  const TlbTrace trace(pages(4), 0, 4);
  EXPECT_TRUE(deepest_miss_shares({}, trace, trace.measured(), 1).empty());
}

TEST(TlbForward, OneLapFollowsTwoUntimedOnes) {
  const TlbTrace trace(pages(17), 34, 2048, 64);
  EXPECT_EQ(trace.one_lap().warmup_hops, 34U);
  EXPECT_EQ(trace.one_lap().counted_hops, 17U);
  EXPECT_EQ(trace.measured().warmup_hops, 34U);
  EXPECT_EQ(trace.measured().counted_hops, 2048U);
}

TEST(TlbForward, SpansAreNumberedDensely) {
  const TlbTrace trace({5 * k_span + 8, 3 * k_span, 5 * k_span, 9 * k_span - 8}, 0, 4);
  const auto& spans = trace.spans(21);
  ASSERT_EQ(spans.numbers.size(), 4U);
  EXPECT_EQ((std::vector<std::uint64_t>{spans.numbers.begin(), spans.numbers.end() - 1}),
            (std::vector<std::uint64_t>{3, 5, 8}));
  EXPECT_EQ(spans.by_place, (std::vector<std::uint32_t>{1, 0, 1, 2}));
}

struct Drawn {
  std::vector<TlbShape> levels;
  TlbTrace trace;
  NaiveWalk walk;
};

TlbShape random_shape(Random& random, bool by_chance) {
  constexpr std::array policies{TlbPolicy::lru, TlbPolicy::fifo, TlbPolicy::tree_plru, TlbPolicy::random};
  TlbShape shape;
  shape.policy = policies[random.below(by_chance ? 4 : 3)];
  const bool tree = shape.policy == TlbPolicy::tree_plru;
  shape.ways = static_cast<std::uint32_t>(tree ? 1ULL << random.between(1, 3) : random.between(1, 6));
  shape.folded = random.below(2) == 0;
  shape.entries =
      shape.ways * static_cast<std::uint32_t>(shape.folded ? 1ULL << random.below(4) : random.between(1, 9));
  if (random.below(3) == 0) {
    shape.folded = false;
    shape.entries = static_cast<std::uint32_t>(tree ? 1ULL << random.between(1, 5) : random.between(1, 40));
    shape.ways = 0;
  }
  shape.span_bytes = 1ULL << random.between(16, 22);
  return shape;
}

Drawn draw(std::uint64_t seed, bool by_chance) {
  Random random(seed);
  std::vector<TlbShape> levels(random.between(1, 3));
  for (auto& level : levels) level = random_shape(random, by_chance);
  // Some pages more often than others, and some addresses twice.
  Addresses addresses(random.between(1, 120));
  const auto stride = 1ULL << random.between(15, 23);
  const auto most = random.between(1, 90);
  for (auto& address : addresses) address = random.below(random.below(4) == 0 ? 1 + most / 8 : most) * stride;
  const auto warmup = random.below(300);
  const auto counted = random.between(1, 400);
  const auto own_every = random.below(2) == 0 ? 0 : random.between(1, 70);
  TlbTrace trace(addresses, warmup, counted, own_every);
  // Of the finest span, so that every span's number of it is the trace's own.
  const std::uint64_t own = trace.spans(12).numbers.back() << 12;
  return {std::move(levels), std::move(trace), {std::move(addresses), warmup, counted, own_every, own}};
}

TEST(TlbForward, AgreesWithAPlainSimulator) {
  std::set<std::size_t> some_misses;  // levels that had both hits and misses
  for (std::uint64_t seed = 0; seed < 3000; ++seed) {
    const auto drawn = draw(seed, false);
    const auto shares = deepest_miss_shares(drawn.levels, drawn.trace, drawn.trace.measured(), seed);
    const auto misses = naive_deepest_misses(drawn.levels, drawn.walk);
    ASSERT_EQ(shares.size(), misses.size());
    for (std::size_t i = 0; i < shares.size(); ++i) {
      EXPECT_DOUBLE_EQ(shares[i] * static_cast<double>(drawn.walk.counted_hops), static_cast<double>(misses[i]))
          << "seed " << seed << ", level " << i;
      if (misses[i] > 0 && misses[i] < drawn.walk.counted_hops) some_misses.insert(i);
    }
  }
  EXPECT_EQ(some_misses, (std::set<std::size_t>{0, 1, 2}));
}

// A table tried on the loads that get past the known ones sees what it would see behind them. Chance may rule in the
// known ones; in the last it would be another stream of it.
TEST(TlbForward, ALevelTriedOnTheMissesAloneSeesTheSame) {
  for (std::uint64_t seed = 0; seed < 3000; ++seed) {
    auto drawn = draw(seed, true);
    if (drawn.levels.back().policy == TlbPolicy::random) drawn.levels.back().policy = TlbPolicy::lru;
    const auto part = drawn.trace.measured();
    const auto whole = deepest_miss_shares(drawn.levels, drawn.trace, part, seed);
    const std::vector<TlbShape> known(drawn.levels.begin(), drawn.levels.end() - 1);
    const auto stream = miss_stream(known, drawn.trace, part, seed);
    const double missed = miss_share(drawn.levels.back(), drawn.trace, stream, seed);
    ASSERT_EQ(stream.shares.size(), known.size());
    EXPECT_DOUBLE_EQ(missed, whole.back()) << "seed " << seed;
    for (std::size_t i = 0; i < known.size(); ++i)
      EXPECT_NEAR(stream.shares[i], whole[i] + (i + 1 == known.size() ? missed : 0), 1e-12) << "seed " << seed;
  }
}

}  // namespace
}  // namespace gpusonde
