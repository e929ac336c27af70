// Sides of SMs from maps of atomics, made with one side, two sides, and what is neither.
#include "inference/sm_sides.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "inference/line_clusters.hpp"
#include "line_maps.hpp"

namespace gpusonde {
namespace {

struct MadeSides {
  LineMap map;
  std::vector<std::uint8_t> side;
  std::vector<std::int32_t> home;
};

// The first `first_side` SMs of a shuffled order are on one side.
MadeSides made_sides(std::size_t sms, std::size_t first_side, std::size_t lines, double contrast, double noise,
                     double places, std::uint64_t seed) {
  Random random(seed);
  MadeSides made{{sms, lines, {}}, std::vector<std::uint8_t>(sms, 1), {}};
  for (std::size_t chosen = 0; chosen < first_side;) {
    auto& side = made.side[random.below(sms)];
    chosen += side;
    side = 0;
  }
  std::vector<double> line_effect;
  std::vector<double> line_place;
  for (std::size_t line = 0; line < lines; ++line) {
    made.home.push_back(static_cast<std::int32_t>(random.below(2)));
    line_effect.push_back(4 * random.normal());
    line_place.push_back(random.uniform());
  }
  for (std::size_t sm = 0; sm < sms; ++sm) {
    const double effect = 6 * random.normal();
    const double place = random.uniform();
    for (std::size_t line = 0; line < lines; ++line) {
      const double crossing = made.side[sm] == made.home[line] ? 0 : contrast;
      double cycles = 350 + effect + line_effect[line] + crossing + noise * random.normal();
      cycles += places * (std::abs(place - line_place[line]) - 0.33);
      if (random.uniform() < 0.002) cycles += 500 * random.uniform();
      made.map.cycles.push_back(static_cast<float>(cycles));
    }
  }
  // The first SM's side is 0.
  if (made.side.front() == 1) {
    for (auto& side : made.side) side ^= 1;
    for (auto& home : made.home) home ^= 1;
  }
  return made;
}

TEST(SplitSides, FindsTwoSides) {
  for (const double contrast : {20.0, 100.0, 200.0})
    for (const double noise : {0.2, 6.0}) {
      const MadeSides made = made_sides(132, 64, 1024, contrast, noise, 10, 1);
      const SmSides found = split_sides(made.map);
      ASSERT_EQ(found.outcome, Outcome::ok) << found.reason;
      EXPECT_EQ(found.sides, 2U);
      EXPECT_EQ(found.sm_side, made.side);
      EXPECT_EQ(found.line_home, made.home);
      EXPECT_NEAR(found.contrast_cycles, contrast, 0.05 * contrast);
      EXPECT_LT(found.contrast_interval.low, found.contrast_cycles);
      EXPECT_GT(found.contrast_interval.high, found.contrast_cycles);
    }
}

TEST(SplitSides, FindsUnevenSidesAndFewSms) {
  for (const auto& [sms, first] : {std::pair<std::size_t, std::size_t>{132, 30}, {8, 3}, {4, 2}}) {
    const MadeSides made = made_sides(sms, first, 500, 80, 1, 5, sms);
    const SmSides found = split_sides(made.map);
    ASSERT_EQ(found.outcome, Outcome::ok) << found.reason;
    EXPECT_EQ(found.sides, 2U);
    EXPECT_EQ(found.sm_side, made.side);
    // A late reading of one of two SMs hides where a line is at home; it does not move the line.
    std::size_t hidden = 0;
    for (std::size_t line = 0; line < made.home.size(); ++line) {
      if (found.line_home[line] == k_unlabelled)
        ++hidden;
      else
        EXPECT_EQ(found.line_home[line], made.home[line]) << line;
    }
    EXPECT_LE(hidden, 10U);
  }
}

TEST(SplitSides, OneSideWithoutInteraction) {
  for (const double noise : {0.0, 0.5, 3.0}) {
    const MadeSides made = made_sides(132, 64, 1024, 0, noise, 0, 3);
    const SmSides found = split_sides(made.map);
    ASSERT_EQ(found.outcome, Outcome::ok) << found.reason;
    EXPECT_EQ(found.sides, 1U);
    EXPECT_EQ(found.contrast_cycles, 0);
    EXPECT_EQ(found.sm_side, std::vector<std::uint8_t>(132, 0));
  }
}

TEST(SplitSides, OneSideWhereSmsLieAlongALine) {
  for (std::uint64_t seed = 0; seed < 10; ++seed) {
    const SmSides found = split_sides(made_sides(132, 64, 1024, 0, 0.5, 60, seed).map);
    if (found.outcome == Outcome::ok) {
      EXPECT_EQ(found.sides, 1U) << seed;
    }
  }
}

TEST(SplitSides, NeverTwoSidesWithoutACrossing) {
  std::size_t decided = 0;
  for (std::uint64_t seed = 100; seed < 160; ++seed) {
    Random random(seed);
    const std::size_t sms = 4 + random.below(129);
    const SmSides found =
        split_sides(made_sides(sms, sms / 2, 300, 0, 6 * random.uniform(), 80 * random.uniform(), seed).map);
    EXPECT_NE(found.sides, 2U) << seed;
    if (found.outcome == Outcome::ok) ++decided;
  }
  EXPECT_GE(decided, 20U);
}

TEST(SplitSides, WeakCrossingIsInconclusive) {
  // As much as places vary: neither one side nor two can be said.
  const SmSides found = split_sides(made_sides(8, 4, 500, 6, 8, 0, 4).map);
  EXPECT_EQ(found.outcome, Outcome::inconclusive);
  EXPECT_EQ(found.sides, 0U);
  EXPECT_FALSE(found.reason.empty());
}

TEST(SplitSides, RejectsWhatIsNoMap) {
  EXPECT_EQ(split_sides({}).outcome, Outcome::inconclusive);
  EXPECT_EQ(split_sides({2, 100, std::vector<float>(200, 300)}).outcome, Outcome::inconclusive);
}

}  // namespace
}  // namespace gpusonde
