// Spans and annihilators over GF(2), against counting through all masks.
#include "inference/bit_rows.hpp"

#include <gtest/gtest.h>

#include <vector>

#include "core/random.hpp"
#include "inference/mask_basis.hpp"

namespace gpusonde {
namespace {

/// Ten columns spread over all words.
constexpr unsigned k_columns[] = {0, 5, 63, 64, 100, 127, 128, 191, 192, 255};

BitRow spread(std::uint64_t number) {
  BitRow row;
  for (unsigned i = 0; i < 10; ++i)
    if ((number >> i & 1) != 0) row.set(k_columns[i]);
  return row;
}

TEST(BitRows, AnnihilatorIsWhatCountingFinds) {
  for (std::uint64_t seed = 1; seed <= 200; ++seed) {
    Random random(seed);
    RowSpace space;
    std::vector<BitRow> rows(random.below(11));
    for (auto& row : rows) space.add(row = spread(random.below(1024)));
    const auto masks = annihilator(space, spread(1023));
    EXPECT_EQ(masks.rank() + space.rank(), 10U);
    for (std::uint64_t number = 0; number < 1024; ++number) {
      bool zero = true;
      for (const auto& row : rows) zero = zero && !row.dot(spread(number));
      EXPECT_EQ(masks.contains(spread(number)), zero) << seed << " " << number;
    }
  }
}

TEST(BitRows, EqualSpansHaveEqualRows) {
  Random random(1);
  for (int round = 0; round < 200; ++round) {
    std::vector<BitRow> rows(6);
    for (auto& row : rows) row = spread(random.below(1024));
    RowSpace forward;
    for (const auto& row : rows) forward.add(row);
    RowSpace mixed;
    for (std::size_t i = rows.size(); i-- > 0;) mixed.add(i == 0 ? rows[0] : rows[i] ^ rows[i - 1]);
    EXPECT_EQ(forward.rows(), mixed.rows());
    EXPECT_EQ(forward.pivots(), mixed.pivots());
  }
}

TEST(BitRows, LightestBasisIsNotBeatenByAnySum) {
  for (std::uint64_t seed = 1; seed <= 100; ++seed) {
    Random random(seed);
    RowSpace constant;
    for (int i = 0; i < 2; ++i) constant.add(spread(random.below(1024)));
    RowSpace masks;
    RowSpace both = constant;
    for (int i = 0; i < 4; ++i) {
      const auto row = spread(random.below(1024));
      if (both.add(row)) masks.add(row);
    }
    const auto basis = lightest_basis(masks, constant);
    ASSERT_EQ(basis.size(), masks.rank());
    RowSpace again = constant;
    for (const auto& row : basis) EXPECT_TRUE(again.add(row));
    EXPECT_EQ(again.rows(), both.rows());
    // No row can be exchanged for a lighter sum.
    for (std::size_t i = 0; i < basis.size(); ++i)
      for (std::uint64_t number = 1; number < 1024; ++number) {
        const auto row = spread(number);
        if (!both.contains(row) || row.weight() >= basis[i].weight()) continue;
        RowSpace others = constant;
        for (std::size_t j = 0; j < basis.size(); ++j)
          if (j != i) others.add(basis[j]);
        EXPECT_TRUE(others.contains(row)) << seed;
      }
  }
}

}  // namespace
}  // namespace gpusonde
