// The canonical basis against naive versions that list spans as sets, and its contract: one form a span.
#include "core/parity_span.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <limits>
#include <set>
#include <utility>

#include "core/random.hpp"

namespace gpusonde {
namespace {

using Masks = std::vector<std::uint64_t>;

/// All sums of the masks, 0 among them, by closing a set under addition.
std::set<std::uint64_t> naive_span(const Masks& masks) {
  std::set<std::uint64_t> span{0};
  for (const auto mask : masks) {
    auto more = span;
    for (const auto member : span) more.insert(member ^ mask);
    span = more;
  }
  return span;
}

Masks naive_lightest_basis(const Masks& masks) {
  std::set<std::pair<int, std::uint64_t>> by_weight;
  for (const auto member : naive_span(masks)) by_weight.emplace(std::popcount(member), member);
  Masks taken;
  for (const auto& [weight, member] : by_weight)
    if (!naive_span(taken).contains(member)) taken.push_back(member);
  std::sort(taken.begin(), taken.end());
  return taken;
}

/// Gauss-Jordan on columns from bit 63 down, as in a textbook.
Masks naive_reduced_echelon(Masks rows) {
  std::size_t done = 0;
  for (int bit = 63; bit >= 0; --bit) {
    const auto holds = [&](std::uint64_t row) { return (row >> bit & 1) != 0; };
    const auto pivot = std::find_if(rows.begin() + static_cast<std::ptrdiff_t>(done), rows.end(), holds);
    if (pivot == rows.end()) continue;
    std::swap(rows[done], *pivot);
    for (std::size_t i = 0; i < rows.size(); ++i)
      if (i != done && holds(rows[i])) rows[i] ^= rows[done];
    ++done;
  }
  rows.resize(done);
  std::sort(rows.begin(), rows.end());
  return rows;
}

/// As many masks over the allowed bits; about every third is a sum of earlier ones.
Masks random_masks(Random& random, std::size_t count, std::uint64_t allowed) {
  Masks masks;
  for (std::size_t i = 0; i < count; ++i) {
    std::uint64_t mask = random.next() & allowed;
    if (i > 0 && random.below(3) == 0) {
      mask = 0;
      for (const auto earlier : masks)
        if (random.below(2) == 0) mask ^= earlier;
    }
    masks.push_back(mask);
  }
  return masks;
}

/// Another list with the same span: rows added to others, shuffled, with repetitions and a 0.
Masks mixed(Random& random, Masks masks) {
  const auto count = masks.size();
  for (int step = 0; step < 200 && count > 1; ++step) {
    const auto to = random.below(count);
    const auto from = random.below(count);
    if (to == from) continue;
    if (random.below(2) == 0)
      masks[to] ^= masks[from];
    else
      std::swap(masks[to], masks[from]);
  }
  masks.push_back(0);
  if (count > 0) masks.push_back(masks[random.below(count)]);
  return masks;
}

TEST(CanonicalMasks, OfExamples) {
  EXPECT_EQ(canonical_masks({}), Masks{});
  EXPECT_EQ(canonical_masks({0, 0}), Masks{});
  EXPECT_EQ(canonical_masks({0x2ab000}), (Masks{0x2ab000}));
  EXPECT_EQ(canonical_masks({0x80, 0x80}), (Masks{0x80}));
  // 0x180 + 0x80 = 0x100: two single bits.
  EXPECT_EQ(canonical_masks({0x180, 0x80}), (Masks{0x80, 0x100}));
  // Members by weight: 0x1100 and 0x300 with two bits, 0x1200 too; the two lowest are taken.
  EXPECT_EQ(canonical_masks({0x1100, 0x1200}), (Masks{0x300, 0x1100}));
  // The reduced rows 0x0f, 0xf1 are not the lightest: their sum 0xfe has seven bits, so they stay.
  EXPECT_EQ(canonical_masks({0xf1, 0x0f}), (Masks{0x0f, 0xf1}));
  EXPECT_EQ(canonical_masks({1ULL << 63, (1ULL << 63) | 1}), (Masks{1, 1ULL << 63}));
}

TEST(CanonicalMasks, AreTheLightestByTheNaiveVersion) {
  Random random(1);
  for (int round = 0; round < 200; ++round) {
    const auto masks = random_masks(random, random.below(9), round % 2 == 0 ? 0xFFFFFF80 : 0xFF80);
    EXPECT_EQ(canonical_masks(masks), naive_lightest_basis(masks)) << "round " << round;
  }
}

TEST(CanonicalMasks, NoBasisIsLighter) {
  Random random(2);
  for (int round = 0; round < 50; ++round) {
    const auto masks = random_masks(random, 3, 0x7F);
    const auto span = naive_span(masks);
    const auto weight = [](const Masks& basis) {
      int bits = 0;
      for (const auto mask : basis) bits += std::popcount(mask);
      return bits;
    };
    int least = std::numeric_limits<int>::max();
    for (const auto a : span)
      for (const auto b : span)
        for (const auto c : span)
          if (naive_span({a, b, c}) == span) least = std::min(least, weight({a, b, c}));
    EXPECT_EQ(weight(canonical_masks(masks)), least) << "round " << round;
  }
}

TEST(CanonicalMasks, AreOneFormASpan) {
  Random random(3);
  for (int round = 0; round < 60; ++round) {
    const auto masks = random_masks(random, random.between(1, 24), 0xFFFFFFF80);
    const auto canonical = canonical_masks(masks);
    EXPECT_EQ(canonical_masks(mixed(random, masks)), canonical) << "round " << round;
    EXPECT_EQ(canonical_masks(canonical), canonical);
    EXPECT_TRUE(std::is_sorted(canonical.begin(), canonical.end()));
    EXPECT_EQ(naive_reduced_echelon(canonical), naive_reduced_echelon(masks));  // the same span
    EXPECT_EQ(canonical.size(), naive_reduced_echelon(masks).size());
  }
}

TEST(CanonicalMasks, DifferWhereSpansDo) {
  Random random(4);
  int different = 0;
  for (int round = 0; round < 300; ++round) {
    const auto a = random_masks(random, 3, 0x1F);
    const auto b = random_masks(random, 3, 0x1F);
    const bool is_same_span = naive_span(a) == naive_span(b);
    EXPECT_EQ(canonical_masks(a) == canonical_masks(b), is_same_span) << "round " << round;
    different += is_same_span ? 0 : 1;
  }
  EXPECT_GT(different, 100);
  EXPECT_LT(different, 300);
}

TEST(CanonicalMasks, OfMoreThanSixteenAreTheReducedEchelonForm) {
  Random random(5);
  for (int round = 0; round < 50; ++round) {
    const auto masks = random_masks(random, 60, ~std::uint64_t{0x7F});
    ASSERT_GT(naive_reduced_echelon(masks).size(), 16U);
    EXPECT_EQ(canonical_masks(masks), naive_reduced_echelon(masks)) << "round " << round;
  }
}

TEST(CanonicalMasks, ChangeFormAboveSixteen) {
  constexpr std::uint64_t k_far_bits = std::uint64_t{0x7} << 40;
  Masks masks;
  for (unsigned i = 0; i < 16; ++i) masks.push_back(k_far_bits | std::uint64_t{1} << i);
  // Any two differ in two bits: all differences from the first, and the lightest member with the far bits.
  Masks lightest;
  for (unsigned i = 1; i < 16; ++i) lightest.push_back(std::uint64_t{1} << i | 1);
  lightest.push_back(k_far_bits | 1);
  EXPECT_EQ(canonical_masks(masks), lightest);
  masks.push_back(k_far_bits | std::uint64_t{1} << 16);
  EXPECT_EQ(canonical_masks(masks), naive_reduced_echelon(masks));
}

TEST(HexMask, IsLowercaseWithItsPrefix) {
  EXPECT_EQ(hex_mask(0x2ab000), "0x2ab000");
  EXPECT_EQ(hex_mask(0), "0x0");
  EXPECT_EQ(hex_mask(~std::uint64_t{0}), "0xffffffffffffffff");
}

}  // namespace
}  // namespace gpusonde
