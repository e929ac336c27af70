// Linear algebra over bits against enumeration of all sums and all masks.
#include "inference/gf2.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "core/random.hpp"

namespace gpusonde {
namespace {

std::set<std::uint64_t> sums(const std::vector<std::uint64_t>& rows) {
  std::set<std::uint64_t> all;
  for (std::uint64_t choice = 0; choice < std::uint64_t{1} << rows.size(); ++choice) {
    std::uint64_t sum = 0;
    for (std::size_t i = 0; i < rows.size(); ++i)
      if ((choice >> i & 1U) != 0) sum ^= rows[i];
    all.insert(sum);
  }
  return all;
}

std::vector<std::uint64_t> random_rows(Random& random, std::size_t count, std::uint64_t bits) {
  std::vector<std::uint64_t> rows;
  // Rows of few bits, so that sums of others are frequent.
  for (std::size_t i = 0; i < count; ++i) rows.push_back(random.next() & random.next() & bits);
  return rows;
}

TEST(Gf2, RankByHand) {
  EXPECT_EQ(rank(std::vector<std::uint64_t>{}), 0U);
  EXPECT_EQ(rank(std::vector<std::uint64_t>{0, 0}), 0U);
  EXPECT_EQ(rank(std::vector<std::uint64_t>{0b011, 0b101, 0b110}), 2U);
  EXPECT_EQ(rank(std::vector<std::uint64_t>{std::uint64_t{1} << 63, 1, (std::uint64_t{1} << 63) | 1, 2}), 3U);
}

TEST(Gf2, RankAndSpanAgreeWithAllSums) {
  Random random(1);
  int equal = 0;
  for (int i = 0; i < 400; ++i) {
    const auto a = random_rows(random, random.below(9), 0xF3);
    const auto b = random_rows(random, random.below(9), 0xF3);
    const auto sums_a = sums(a);
    const auto sums_b = sums(b);
    EXPECT_EQ(std::size_t{1} << rank(a), sums_a.size());
    EXPECT_EQ(same_span(a, b), sums_a == sums_b);
    equal += sums_a == sums_b ? 1 : 0;
    const Gf2Span span(a);
    for (std::uint64_t word = 0; word < 256; ++word) EXPECT_EQ(span.contains(word), sums_a.count(word) == 1);
    const auto echelon = span.echelon();
    const auto members = span_members(echelon);
    EXPECT_EQ(std::set<std::uint64_t>(members.begin(), members.end()), sums_a);
    EXPECT_EQ(members.size(), sums_a.size());
    std::set<std::uint64_t> both;
    std::set_intersection(sums_a.begin(), sums_a.end(), sums_b.begin(), sums_b.end(), std::inserter(both, both.end()));
    EXPECT_EQ(sums(span_intersection(a, b)), both);
  }
  EXPECT_GT(equal, 5);
}

TEST(Gf2, EchelonHasEachLeadingBitInOneRow) {
  Random random(2);
  for (int i = 0; i < 200; ++i) {
    const auto rows = Gf2Span(random_rows(random, random.below(20), ~std::uint64_t{0})).echelon();
    EXPECT_TRUE(std::is_sorted(rows.rbegin(), rows.rend()));
    for (const auto row : rows)
      for (const auto other : rows) EXPECT_EQ((other & std::bit_floor(row)) != 0, other == row);
  }
}

TEST(Gf2, AnnihilatorIsEveryMaskThatSeesNoDifference) {
  Random random(3);
  for (int i = 0; i < 300; ++i) {
    const std::uint64_t bits = random.next() & 0x3FF;
    const auto differences = random_rows(random, random.below(8), 0x3FF);
    std::set<std::uint64_t> expected;
    for (std::uint64_t mask = 0; mask < 1024; ++mask)
      if ((mask & ~bits) == 0 && std::all_of(differences.begin(), differences.end(),
                                             [mask](std::uint64_t d) { return parity(mask & d) == 0; }))
        expected.insert(mask);
    const auto basis = annihilator(differences, bits);
    EXPECT_EQ(sums(basis), expected);
    EXPECT_EQ(std::size_t{1} << basis.size(), expected.size());
  }
}

TEST(Gf2, AnnihilatorOfAHashsKernelIsTheHash) {
  // The seven parities of the RTX 4090's slice function, bits 7 to 34.
  const std::vector<std::uint64_t> masks{0x76A990400, 0x2CCF7B000, 0x3C9041000, 0x2882B0800,
                                         0x8000,      0x5985E0500, 0x2354E4400};
  const std::uint64_t bits = 0x7FFFFFF80;
  const auto kernel = annihilator(masks, bits);
  EXPECT_EQ(kernel.size(), 28U - 7U);
  EXPECT_TRUE(same_span(annihilator(kernel, bits), masks));
}

TEST(Gf2, CanonicalBasisIsTheLightestAndDependsOnTheSpanAlone) {
  Random random(4);
  for (int i = 0; i < 300; ++i) {
    const auto rows = random_rows(random, random.below(8), 0xFFF);
    const auto basis = canonical_basis(rows);
    EXPECT_EQ(basis.size(), rank(rows));
    EXPECT_TRUE(same_span(basis, rows));
    // Another way to give the same span: random sums until they are enough.
    std::vector<std::uint64_t> others;
    while (rank(others) < rank(rows)) {
      std::uint64_t sum = 0;
      for (const auto row : rows) sum ^= random.below(2) != 0 ? row : 0;
      others.push_back(sum);
    }
    EXPECT_EQ(canonical_basis(others), basis);
    // No basis is lighter: the members lighter than a row span no more than the rows before it.
    for (std::size_t k = 0; k < basis.size(); ++k) {
      std::vector<std::uint64_t> lighter;
      for (const auto member : sums(rows))
        if (std::popcount(member) < std::popcount(basis[k])) lighter.push_back(member);
      EXPECT_LE(rank(lighter), k);
    }
  }
}

TEST(Gf2, CanonicalBasisOfAHighRank) {
  Random random(5);
  for (int i = 0; i < 20; ++i) {
    std::vector<std::uint64_t> rows;
    for (int k = 0; k < 24; ++k) rows.push_back(random.next() & 0xFFFFFFFFF);
    auto others = rows;
    for (std::size_t k = 1; k < others.size(); ++k) others[k] ^= others[random.below(k)];
    const auto basis = canonical_basis(rows);
    EXPECT_EQ(basis.size(), rank(rows));
    EXPECT_TRUE(same_span(basis, rows));
    EXPECT_EQ(canonical_basis(others), basis);
  }
}

}  // namespace
}  // namespace gpusonde
