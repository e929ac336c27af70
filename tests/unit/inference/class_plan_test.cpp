// What is planned, and that the fit finds the windows in it again.
#include "inference/class_plan.hpp"

#include <gtest/gtest.h>

#include <bit>
#include <set>

#include "core/units.hpp"
#include "inference/address_windows.hpp"

namespace gpusonde {
namespace {

std::vector<ClassSample> as_samples(const std::vector<std::uint64_t>& addresses) {
  std::vector<ClassSample> samples;
  for (const auto address : addresses) samples.push_back({address, 7, 0});
  return samples;
}

TEST(ClassPlan, StaysWithinMemoryAndSixtyThousandLines) {
  for (const auto memory_bytes : {64 * k_mib, 6 * k_gib, 24 * k_gib, 48 * k_gib, 80 * k_gib, 141 * k_gib}) {
    const auto plan = plan_class_addresses(memory_bytes).value();
    EXPECT_LE(plan.size(), 60000U);
    std::uint64_t ones = 0;
    for (const auto address : plan) {
      EXPECT_EQ(address % 128, 0U);
      EXPECT_LT(address, memory_bytes);
      ones |= address;
    }
    EXPECT_EQ(ones, std::bit_ceil(memory_bytes) - 128);
  }
}

TEST(ClassPlan, WindowsAreFoundByTheirOrder) {
  for (const auto memory_bytes : {64 * k_mib, 24 * k_gib, 32 * k_gib}) {
    const ClassPlanOptions options;
    const auto plan = plan_class_addresses(memory_bytes, options).value();
    const auto split = split_into_windows(as_samples(plan));
    std::size_t windows = 0;
    std::uint64_t covered = 0;
    for (const auto& group : split.groups) {
      for (const auto& window : group.windows) {
        EXPECT_EQ(std::count(window.class_by_index.begin(), window.class_by_index.end(), 7),
                  std::ptrdiff_t{1} << std::popcount(group.bits));
        windows += window.class_by_index.size() / 2048;
      }
      covered |= group.bits;
    }
    EXPECT_EQ(windows * 2048 + options.random_lines, plan.size());
    EXPECT_EQ(split.loose.size(), options.random_lines);
    EXPECT_EQ(covered, std::bit_ceil(memory_bytes) - 128);
  }
}

TEST(ClassPlan, WindowsSurviveLostRows) {
  auto samples = as_samples(plan_class_addresses(24 * k_gib).value());
  const auto all = split_into_windows(samples).groups.size();
  std::erase_if(samples, [](const ClassSample& sample) { return sample.address / 128 % 11 == 3; });
  const auto split = split_into_windows(samples);
  EXPECT_EQ(split.groups.size(), all);
  EXPECT_LT(split.loose.size(), 9000U);
}

TEST(ClassPlan, BitsArePackedAndSpread) {
  EXPECT_EQ(spread_bits(0b1011, 0b110100100), 0b100100100U);
  for (std::uint64_t index = 0; index < 16; ++index) EXPECT_EQ(pack_bits(spread_bits(index, 0x8421), 0x8421), index);
}

TEST(ClassPlan, SameSeedSamePlan) {
  EXPECT_EQ(plan_class_addresses(k_gib).value(), plan_class_addresses(k_gib).value());
  ClassPlanOptions other;
  other.seed = 2;
  EXPECT_NE(plan_class_addresses(k_gib).value(), plan_class_addresses(k_gib, other).value());
}

TEST(ClassPlan, PagesAreSampledWithinHalfOfThem) {
  const auto offsets = plan_page_offsets(2 * k_mib, 3).value();
  EXPECT_LT(offsets.size(), 8192U);
  for (const auto offset : offsets) EXPECT_LT(offset, 2 * k_mib);
  EXPECT_GE(split_into_windows(as_samples(offsets)).groups.size(), 2U);
}

TEST(ClassPlan, RefusesWhatCannotBePlanned) {
  EXPECT_FALSE(plan_class_addresses(0));
  EXPECT_FALSE(plan_class_addresses(1024));
  EXPECT_FALSE(plan_class_addresses(std::uint64_t{1} << 50));
  ClassPlanOptions options;
  options.line_bytes = 96;
  EXPECT_FALSE(plan_class_addresses(k_gib, options));
  options.line_bytes = 128;
  options.window_bits = 20;
  EXPECT_FALSE(plan_class_addresses(k_gib, options));
  EXPECT_FALSE(plan_page_offsets(3 * k_mib, 1));
}

}  // namespace
}  // namespace gpusonde
