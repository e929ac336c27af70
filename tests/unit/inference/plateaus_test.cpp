// Levels of measured and of made curves.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include "curves.hpp"

namespace gpusonde {
namespace {

using namespace test;

std::string describe(const std::vector<Plateau>& plateaus, const std::vector<CurvePoint>& curve) {
  std::string text;
  for (const auto& p : plateaus)
    text += fmt::format("{:.1f} [{:.1f}, {:.1f}] over {:.0f} ... {:.0f} KiB\n", p.latency, p.interval.low,
                        p.interval.high, curve[p.first].size_bytes / 1024, curve[p.last].size_bytes / 1024);
  return text;
}

std::vector<CurvePoint> h200_sweep(std::size_t column) {
  std::vector<CurvePoint> curve;
  for (const auto& row : read_csv("h200_sweep.csv")) curve.push_back(point(std::stod(row[0]), std::stod(row[column])));
  return curve;
}

TEST(Plateaus, H200SweepHasFourLevelsThroughL1) {
  const auto curve = h200_sweep(1);
  ASSERT_EQ(curve.size(), 46U);
  const auto plateaus = find_plateaus(curve);
  ASSERT_EQ(plateaus.size(), 4U) << describe(plateaus, curve);
  EXPECT_NEAR(plateaus[0].latency, 32, 0.1);
  EXPECT_NEAR(plateaus[1].latency, 275.5, 1);
  EXPECT_NEAR(plateaus[2].latency, 519.6, 3);
  EXPECT_NEAR(plateaus[3].latency, 681, 5);
  EXPECT_EQ(plateaus[0].first, 0U);
  EXPECT_EQ(curve[plateaus[0].last].size_bytes, 216 * 1024);
  EXPECT_EQ(curve[plateaus[1].first].size_bytes, 320 * 1024);
  EXPECT_EQ(curve[plateaus[1].last].size_bytes, 28672 * 1024);
  EXPECT_EQ(plateaus[3].last, curve.size() - 1);
}

TEST(Plateaus, H200SweepHasThreeLevelsPastL1) {
  const auto curve = h200_sweep(2);
  const auto plateaus = find_plateaus(curve);
  ASSERT_EQ(plateaus.size(), 3U) << describe(plateaus, curve);
  EXPECT_NEAR(plateaus[0].latency, 275.5, 2);
  EXPECT_NEAR(plateaus[1].latency, 518.7, 4);
  EXPECT_NEAR(plateaus[2].latency, 681, 5);
}

// The few sizes of the warm-up comparison (17 to 22, half of them inside transitions): every level found
// must be a real one.
TEST(Plateaus, H200WarmupComparisonGivesNoLevelThatIsNone) {
  for (const std::string policy : {"ca", "cg"})
    for (std::size_t column = 2; column <= 4; ++column) {
      std::vector<CurvePoint> curve;
      for (const auto& row : read_csv("h200_warmup.csv"))
        if (row[0] == policy && !row[column].empty()) curve.push_back(point(std::stod(row[1]), std::stod(row[column])));
      const auto plateaus = find_plateaus(curve);
      EXPECT_GE(plateaus.size(), policy == "ca" ? 3U : 1U) << policy << ' ' << column << '\n'
                                                           << describe(plateaus, curve);
      for (const auto& plateau : plateaus) {
        double nearest = 1;
        for (const double level : {32.1, 280.8, 512.2, 661.0})
          nearest = std::min(nearest, std::abs(plateau.latency / level - 1));
        EXPECT_LT(nearest, 0.015) << policy << ' ' << column << '\n' << describe(plateaus, curve);
      }
    }
}

TEST(Plateaus, FlatNoiseIsOneLevel) {
  for (const auto& sizes : {dense_sizes(), log_sizes()})
    for (const double noise : {0.0, 0.001, 0.01, 0.03})
      for (std::uint64_t seed = 1; seed <= 1000; ++seed) {
        Random random(seed);
        const auto curve = make_curve(
            sizes, [](double) { return 300.0; }, noise, random);
        const auto plateaus = find_plateaus(curve);
        ASSERT_EQ(plateaus.size(), 1U) << "seed " << seed << " noise " << noise << '\n' << describe(plateaus, curve);
        ASSERT_NEAR(plateaus[0].latency, 300, 300 * (noise * 0.5 + 1e-9)) << "seed " << seed;
      }
}

// The first-level TLB of the RTX 4090 adds 11 cycles to L2 hits beyond 32 MiB.
TEST(Plateaus, TlbStepInsideL2IsFoundWithLittleNoise) {
  const std::vector<MadeLevel> levels{{330, 32 * 0x1p20, Edge::step}, {341, 128 * 0x1p20, Edge::step}, {660, 0}};
  int missed = 0;
  const auto latency = [&](double size) { return made_latency(levels, size); };
  for (const auto& sizes : {dense_sizes(), log_sizes()})
    for (const double noise : {0.0, 0.003, 0.01})
      for (std::uint64_t seed = 1; seed <= 200; ++seed) {
        Random random(seed);
        const auto curve = make_curve(sizes, latency, noise, random);
        const auto plateaus = find_plateaus(curve);
        if (plateaus.size() == 2) {
          ++missed;
          EXPECT_EQ(noise, 0.01) << "seed " << seed << '\n' << describe(plateaus, curve);
          continue;
        }
        ASSERT_EQ(plateaus.size(), 3U) << "seed " << seed << " noise " << noise << '\n' << describe(plateaus, curve);
        EXPECT_NEAR(plateaus[0].latency, 330, 2 + 330 * noise / 3);
        EXPECT_NEAR(plateaus[1].latency, 341, 2 + 341 * noise / 3);
      }
  fmt::print("missed {} of 400 at 1 % noise\n", missed);
  EXPECT_LT(missed, 20);
}

// A drift of 2 % inside a level is no step.
TEST(Plateaus, DriftInsideALevelIsNoStep) {
  for (std::uint64_t seed = 1; seed <= 200; ++seed) {
    Random random(seed);
    const double noise = 0.01 * random.uniform();
    const auto latency = [](double size) {
      if (size < 60 * 0x1p20) return 280.0;
      return 676 + 13 * std::clamp(std::log2(size / 0x1p27) / 4, 0.0, 1.0);
    };
    const auto curve = make_curve(log_sizes(), latency, noise, random);
    const auto plateaus = find_plateaus(curve);
    ASSERT_EQ(plateaus.size(), 2U) << "seed " << seed << " noise " << noise << '\n' << describe(plateaus, curve);
  }
}

struct MadeCurve {
  std::vector<MadeLevel> levels;
  double noise = 0;
  bool dense = false;
};

// Two to four levels, an octave and a half or more apart, each step 25 % or more.
MadeCurve random_levels(Random& random) {
  MadeCurve made;
  const auto count = random.between(2, 4);
  double latency = 25 + 30 * random.uniform();
  double capacity = 0x1p15 * std::exp2(3 * random.uniform());
  for (std::uint64_t k = 0; k < count; ++k) {
    MadeLevel level{latency, capacity, static_cast<Edge>(random.below(4)), 0};
    level.shape = level.edge == Edge::spread_lru ? 0.03 + 0.17 * random.uniform() : double(random.between(2, 32));
    made.levels.push_back(level);
    latency *= k == 0 ? 4 + 5 * random.uniform() : 1.25 + 1.25 * random.uniform();
    capacity *= std::exp2(3.5 + (k == 0 ? 4 : 1.5) * random.uniform());
  }
  made.noise = random.below(4) == 0 ? 0 : 0.03 * random.uniform();
  made.dense = random.below(2) == 0;
  return made;
}

TEST(Plateaus, RandomLevelsAreRecoveredAndNoneInvented) {
  int missed = 0;
  int levels_seen = 0;
  int outside = 0;
  constexpr int k_curves = 2000;
  for (std::uint64_t seed = 1; seed <= k_curves; ++seed) {
    Random random(seed);
    const auto made = random_levels(random);
    const auto latency = [&](double size) { return made_latency(made.levels, size); };
    const auto curve = make_curve(made.dense ? dense_sizes() : log_sizes(), latency, made.noise, random);
    const auto plateaus = find_plateaus(curve);
    std::string truth = fmt::format("seed {} noise {:.3f} dense {}: ", seed, made.noise, made.dense);
    for (const auto& l : made.levels)
      truth += fmt::format("{:.1f} to {:.0f} KiB ({}, {:.2f}) ", l.latency, l.capacity / 1024, int(l.edge), l.shape);

    std::vector<bool> found(made.levels.size(), false);
    for (const auto& plateau : plateaus) {
      const auto points = static_cast<double>(plateau.last - plateau.first + 1);
      const double allowed = std::max(0.03, 5 * made.noise / std::sqrt(points));
      bool real = false;
      for (std::size_t k = 0; k < made.levels.size(); ++k)
        if (std::abs(plateau.latency / made.levels[k].latency - 1) < allowed) {
          real = true;
          if (found[k]) real = false;
          found[k] = true;
          const double slack = 0.005 * made.levels[k].latency;
          if (made.levels[k].latency < plateau.interval.low - slack ||
              made.levels[k].latency > plateau.interval.high + slack)
            ++outside;
        }
      EXPECT_TRUE(real) << truth << '\n' << describe(plateaus, curve);
    }
    missed += static_cast<int>(std::count(found.begin(), found.end(), false));
    levels_seen += static_cast<int>(found.size());
    if (std::count(found.begin(), found.end(), false) != 0 && std::getenv("SHOW_MISSED") != nullptr)
      fmt::print("{}\n{}\n", truth, describe(plateaus, curve));
  }
  fmt::print("levels missed {} of {}, outside their interval {}\n", missed, levels_seen, outside);
  EXPECT_LT(missed, levels_seen / 50);
  EXPECT_LT(outside, levels_seen / 20);
}

TEST(Plateaus, ADisturbanceInTheMiddleIsNotALevel) {
  Random random(7);
  auto curve = make_curve(
      log_sizes(), [](double size) { return size > 0x1p25 ? 600.0 : 300.0; }, 0.005, random);
  for (std::size_t i = 100; i < 108; ++i) curve[i].latency *= 1.4;
  const auto plateaus = find_plateaus(curve);
  ASSERT_EQ(plateaus.size(), 2U) << describe(plateaus, curve);
  EXPECT_NEAR(plateaus[0].latency, 300, 2);
  EXPECT_NEAR(plateaus[1].latency, 600, 4);
}

TEST(Plateaus, TooFewPointsGiveNone) {
  EXPECT_TRUE(find_plateaus({}).empty());
  const std::vector<CurvePoint> two{point(4, 30), point(8, 30)};
  EXPECT_TRUE(find_plateaus(two).empty());
}

TEST(ChangePoints, FindTheStepsOfAStaircase) {
  std::vector<double> values(30, 1.0);
  std::fill(values.begin() + 10, values.begin() + 17, 5.0);
  std::fill(values.begin() + 17, values.end(), 2.0);
  EXPECT_EQ(change_points(values), (std::vector<std::size_t>{10, 17}));
  EXPECT_TRUE(change_points(std::vector<double>(50, 3.0)).empty());
  EXPECT_TRUE(change_points(std::vector<double>{}).empty());
}

// PELT's pruning must not change the optimum: compared with the plain dynamic programme.
TEST(ChangePoints, AgreeWithExhaustiveSearch) {
  for (std::uint64_t seed = 1; seed <= 200; ++seed) {
    Random random(seed);
    std::vector<double> values;
    double level = 0;
    for (int i = 0; i < 40; ++i) {
      if (random.below(8) == 0) level = 4 * random.normal();
      values.push_back(level + random.normal());
    }
    const double penalty = 3 * std::log(40.0);
    const auto cost = [&](std::size_t first, std::size_t end) {
      double mean = 0;
      double sum = 0;
      for (auto i = first; i < end; ++i) mean += values[i] / double(end - first);
      for (auto i = first; i < end; ++i) sum += (values[i] - mean) * (values[i] - mean);
      return sum;
    };
    std::vector<double> best(values.size() + 1, 1e300);
    best[0] = -penalty;
    for (std::size_t end = 1; end <= values.size(); ++end)
      for (std::size_t first = 0; first < end; ++first)
        best[end] = std::min(best[end], best[first] + cost(first, end) + penalty);
    double total = -penalty;
    std::size_t first = 0;
    auto ends = change_points(values, penalty);
    ends.push_back(values.size());
    for (const auto end : ends) {
      total += cost(first, end) + penalty;
      first = end;
    }
    EXPECT_NEAR(total, best.back(), 1e-9) << "seed " << seed;
  }
}

}  // namespace
}  // namespace gpusonde
