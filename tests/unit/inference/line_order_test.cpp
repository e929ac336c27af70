// Patterns of consecutive lines, and orders for drawing.
#include "inference/line_order.hpp"

#include <gtest/gtest.h>

#include <algorithm>

#include "line_maps.hpp"

namespace gpusonde {
namespace {

TEST(ConsecutivePattern, PairsOfLines) {
  std::vector<std::int32_t> labels;
  for (int i = 0; i < 64; ++i) {
    const int block = i / 8;
    labels.push_back(20 - (2 * block + i / 2 % 2));
  }
  const ConsecutivePattern pattern = consecutive_pattern(labels);
  EXPECT_EQ(pattern.run_lines, 2U);
  EXPECT_EQ(pattern.period_lines, 0U);
  EXPECT_EQ(pattern.text, "0 0 1 1 0 0 1 1 2 2 3 3 2 2 3 3 4 4 5 5 4 4 5 5 6 6 7 7 6 6 7 7");
}

TEST(ConsecutivePattern, RoundRobinRepeats) {
  std::vector<std::int32_t> labels;
  for (int i = 0; i < 100; ++i) labels.push_back(i % 12);
  const ConsecutivePattern pattern = consecutive_pattern(labels);
  EXPECT_EQ(pattern.run_lines, 1U);
  EXPECT_EQ(pattern.period_lines, 12U);
  EXPECT_EQ(consecutive_pattern(std::span(labels).first(12)).period_lines, 0U);  // never seen twice
}

TEST(ConsecutivePattern, LongRunsAndUnlabelledLines) {
  std::vector<std::int32_t> labels;
  for (int i = 0; i < 256; ++i) labels.push_back(i / 16 % 4);
  labels[5] = k_unlabelled;
  labels[31] = k_unlabelled;
  const ConsecutivePattern pattern = consecutive_pattern(labels);
  EXPECT_EQ(pattern.run_lines, 16U);
  EXPECT_EQ(pattern.period_lines, 64U);
  EXPECT_EQ(pattern.text.substr(0, 13), "0 0 0 0 0 ? 0");
}

TEST(ConsecutivePattern, OneSliceHasNoRuns) {
  const std::vector<std::int32_t> labels(40, 3);
  const ConsecutivePattern pattern = consecutive_pattern(labels);
  EXPECT_EQ(pattern.run_lines, 0U);
  EXPECT_EQ(pattern.period_lines, 1U);
  EXPECT_EQ(consecutive_pattern({}).text, "");
}

// Slices along a line and SMs along it: both orders follow the places, one way or the other.
TEST(DrawingOrder, FollowsPlacesOnALine) {
  LineClusters clusters;
  clusters.sigma_cycles.assign(10, 1.0);
  const std::vector<int> slice_places{3, 0, 7, 5, 1, 9, 2};
  for (const int slice : slice_places) {
    std::vector<float> centre;
    for (int sm = 0; sm < 10; ++sm) centre.push_back(300 + 3 * static_cast<float>(slice * ((sm * 7) % 10)));
    clusters.centre_cycles.push_back(centre);
  }
  std::vector<int> slices;
  for (const std::size_t k : slice_order(clusters)) slices.push_back(slice_places[k]);
  if (slices.front() > slices.back()) std::reverse(slices.begin(), slices.end());
  EXPECT_EQ(slices, (std::vector<int>{0, 1, 2, 3, 5, 7, 9}));
  std::vector<std::size_t> sms;
  for (const std::size_t sm : sm_order(clusters)) sms.push_back(sm * 7 % 10);
  if (sms.front() > sms.back()) std::reverse(sms.begin(), sms.end());
  EXPECT_EQ(sms, (std::vector<std::size_t>{0, 1, 2, 3, 4, 5, 6, 7, 8, 9}));
}

TEST(DrawingOrder, EmptyClustersHaveNone) {
  EXPECT_TRUE(slice_order({}).empty());
  EXPECT_TRUE(sm_order({}).empty());
}

}  // namespace
}  // namespace gpusonde
