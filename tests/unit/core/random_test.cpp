#include "core/random.hpp"

#include <gtest/gtest.h>

#include <vector>

namespace gpusonde {
namespace {

// First outputs of the reference SplitMix64 (Vigna, splitmix64.c) with seed 0.
TEST(Random, GivesTheReferenceSequence) {
  Random random(0);
  EXPECT_EQ(random.next(), 0xE220A8397B1DCDAFULL);
  EXPECT_EQ(random.next(), 0x6E789E6AA1B965F4ULL);
  EXPECT_EQ(random.next(), 0x06C45D188009454FULL);
}

TEST(Random, StaysInRangeAndFillsIt) {
  Random random(7);
  std::vector<int> seen(10, 0);
  for (int i = 0; i < 10000; ++i) ++seen[random.below(10)];
  for (const int count : seen) EXPECT_NEAR(count, 1000, 150);
  for (int i = 0; i < 1000; ++i) {
    const auto value = random.between(5, 7);
    EXPECT_GE(value, 5U);
    EXPECT_LE(value, 7U);
    EXPECT_LT(random.uniform(), 1.0);
  }
}

TEST(Random, NormalHasMeanZeroAndSigmaOne) {
  Random random(3);
  double sum = 0;
  double squares = 0;
  constexpr int k_count = 100000;
  for (int i = 0; i < k_count; ++i) {
    const double value = random.normal();
    sum += value;
    squares += value * value;
  }
  EXPECT_NEAR(sum / k_count, 0, 0.015);
  EXPECT_NEAR(squares / k_count, 1, 0.02);
}

TEST(Random, ForksDoNotRepeatEachOther) {
  const Random random(1);
  EXPECT_NE(random.fork(1).next(), random.fork(2).next());
  EXPECT_EQ(random.fork(1).next(), random.fork(1).next());
}

}  // namespace
}  // namespace gpusonde
