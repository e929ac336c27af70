#include "model/divider.hpp"

#include <gtest/gtest.h>

#include "core/random.hpp"

namespace gpusonde {
namespace {

TEST(Divider, AgreesWithTheDivideInstructionOnBothSidesOfEveryMultiple) {
  Random random(1);
  for (int i = 0; i < 20000; ++i) {
    const auto divisor = (random.next() >> random.below(64)) | 1U << random.below(8);
    const Divider divider(divisor);
    const auto multiple = random.next() / divisor * divisor;
    for (const auto x : {random.next() >> random.below(64), multiple, multiple - 1, multiple + 1, std::uint64_t{0},
                         ~std::uint64_t{0}}) {
      ASSERT_EQ(divider.quotient(x), x / divisor) << x << " / " << divisor;
      ASSERT_EQ(divider.remainder(x), x % divisor) << x << " % " << divisor;
    }
  }
}

TEST(Divider, DividesByOneAndByTheLargestNumber) {
  EXPECT_EQ(Divider(1).quotient(~std::uint64_t{0}), ~std::uint64_t{0});
  EXPECT_EQ(Divider(1).remainder(12345), 0U);
  EXPECT_EQ(Divider(~std::uint64_t{0}).quotient(~std::uint64_t{0}), 1U);
  EXPECT_EQ(Divider(~std::uint64_t{0}).remainder(7), 7U);
}

}  // namespace
}  // namespace gpusonde
