// The additive fit of a latency map, against effects that are known.
#include "inference/line_map.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "core/random.hpp"

namespace gpusonde {
namespace {

// 300 + 2 sm - 3 + line - 4.5 for 4 SMs and 10 lines: both effects have mean 0.
LineMap additive_map() {
  LineMap map{4, 10, {}};
  for (int sm = 0; sm < 4; ++sm)
    for (int line = 0; line < 10; ++line) map.cycles.push_back(static_cast<float>(300 + 2 * sm - 3 + line - 4.5));
  return map;
}

TEST(FitAdditive, FindsExactEffects) {
  const AdditiveFit fit = fit_additive(additive_map());
  EXPECT_NEAR(fit.mean_cycles, 300, 1e-3);
  for (std::size_t sm = 0; sm < 4; ++sm) EXPECT_NEAR(fit.sm_cycles[sm], 2.0 * static_cast<double>(sm) - 3, 1e-3);
  for (std::size_t line = 0; line < 10; ++line)
    EXPECT_NEAR(fit.line_cycles[line], static_cast<double>(line) - 4.5, 1e-3);
  EXPECT_NEAR(fit.sigma_cycles, 0, 1e-3);
  EXPECT_NEAR(fit.explained, 1, 1e-6);
}

TEST(FitAdditive, RecoversNoiseAndShareExplained) {
  Random random(1);
  LineMap map{40, 500, {}};
  std::vector<double> lines;
  for (int line = 0; line < 500; ++line) lines.push_back(10 * random.normal());
  for (int sm = 0; sm < 40; ++sm) {
    const double effect = 5 * random.normal();
    for (int line = 0; line < 500; ++line)
      map.cycles.push_back(
          static_cast<float>(300 + effect + lines[static_cast<std::size_t>(line)] + 2 * random.normal()));
  }
  const AdditiveFit fit = fit_additive(map);
  EXPECT_NEAR(fit.sigma_cycles, 2, 0.05);
  double variance = 0;
  for (const double effect : fit.line_cycles) variance += effect * effect / 500;
  for (const double effect : fit.sm_cycles) variance += effect * effect / 40;
  EXPECT_NEAR(fit.explained, variance / (variance + 4), 0.01);
  double mean = 0;
  for (const double line : lines) mean += line / 500;
  for (std::size_t line = 0; line < 500; ++line)
    EXPECT_NEAR(fit.line_cycles[line], lines[line] - mean, 6 * 2 / std::sqrt(40.0));
}

TEST(FitAdditive, LateReadingsMoveNothing) {
  Random random(2);
  LineMap map{20, 200, {}};
  for (int sm = 0; sm < 20; ++sm)
    for (int line = 0; line < 200; ++line)
      map.cycles.push_back(static_cast<float>(300 + sm + 0.05 * line + 0.5 * random.normal()));
  const AdditiveFit clean = fit_additive(map);
  for (std::size_t i = 7; i < map.cycles.size(); i += 97) map.cycles[i] += 500;
  const AdditiveFit late = fit_additive(map);
  EXPECT_NEAR(late.mean_cycles, clean.mean_cycles, 0.05);
  for (std::size_t sm = 0; sm < 20; ++sm) EXPECT_NEAR(late.sm_cycles[sm], clean.sm_cycles[sm], 0.1);
  for (std::size_t line = 0; line < 200; ++line) EXPECT_NEAR(late.line_cycles[line], clean.line_cycles[line], 0.5);
  EXPECT_NEAR(late.sigma_cycles, 0.5, 0.06);
}

TEST(FitAdditive, InteractionIsLeftOver) {
  LineMap map{2, 2, {310, 290, 290, 310}};
  const AdditiveFit fit = fit_additive(map);
  EXPECT_NEAR(fit.explained, 0, 1e-6);
  EXPECT_NEAR(fit.sigma_cycles, 20, 1e-3);  // 4 residuals of 10, one degree of freedom
}

TEST(FitAdditive, RejectsMalformedMaps) {
  EXPECT_FALSE(well_formed({}));
  EXPECT_FALSE(well_formed({2, 3, {1, 2, 3, 4, 5}}));
  EXPECT_FALSE(well_formed({1, 2, {300, std::numeric_limits<float>::quiet_NaN()}}));
  EXPECT_FALSE(well_formed({1, 2, {300, 0}}));
  EXPECT_TRUE(well_formed(additive_map()));
  EXPECT_TRUE(fit_additive({2, 3, {1, 2, 3, 4, 5}}).sm_cycles.empty());
}

}  // namespace
}  // namespace gpusonde
