// Loads that overlap on one H200: a run of `gpusonde load`, analysed again. SMs far from a slice end last there, so
// what is moved over the whole time is 86 to 97 % of what is moved while all load.
#include <gtest/gtest.h>

#include <algorithm>

#include "capture.hpp"
#include "survey/survey.hpp"

namespace gpusonde {
namespace {

class H200Load : public testing::Test {
 protected:
  void SetUp() override {
    auto stored = read_capture("h200-load.json.gz");
    ASSERT_TRUE(stored) << stored.error().message;
    m_run = analyze(*stored);
  }
  [[nodiscard]] double number(const std::string& id) const {
    const auto* finding = m_run.finding(id);
    if (finding == nullptr || !finding->value) {
      ADD_FAILURE() << id << ": " << (finding == nullptr ? "absent" : finding->reason);
      return 0;
    }
    return std::get<double>(*finding->value);
  }
  gpusonde::Run m_run;
};

TEST_F(H200Load, LatenciesAloneAreThoseOfTheSweep) {
  // docs/results/h200.md: 275 to 281 cycles near, 655 to 689 in memory; the index of a whole line adds some.
  EXPECT_NEAR(number("load.l2.idle_latency"), 285, 15);
  EXPECT_NEAR(number("load.dram.idle_latency"), 680, 20);
}

TEST_F(H200Load, ThePeakIsWhatStreamsBring) {
  // Streams on the same card, another kernel with other loads: 9.335 TB/s of L2, 4.585 TB/s of memory in order.
  EXPECT_NEAR(number("load.l2.peak"), 9.335e12, 0.03 * 9.335e12);
  EXPECT_LT(number("load.dram.peak"), 4.585e12);
  EXPECT_GT(number("load.dram.peak"), 0.85 * 4.585e12);
}

TEST_F(H200Load, KneesLieBelowThePeaks) {
  for (const std::string level : {"l2", "dram"}) {
    const double knee = number("load." + level + ".knee");
    EXPECT_LT(knee, number("load." + level + ".peak"));
    EXPECT_GT(knee, 0.6 * number("load." + level + ".peak"));
    // Little's law once more, with the finding's own figures, at 1979 MHz.
    const double seconds = 1.5 * number("load." + level + ".idle_latency") / 1979e6;
    EXPECT_NEAR(number("load." + level + ".concurrency"), knee * seconds, 0.01 * knee * seconds);
  }
}

TEST_F(H200Load, OneWarpOverlapsItsLoads) {
  EXPECT_NEAR(number("load.l1.completion_interval"), 6.65, 0.1);
  EXPECT_NEAR(number("load.l2.completion_interval"), 39.7, 0.4);
  EXPECT_NEAR(number("load.dram.completion_interval"), 113, 4);
}

TEST_F(H200Load, SomeEndLast) {
  const auto* table = m_run.measurements.find("derived.load.curve");
  ASSERT_NE(table, nullptr);
  const auto* together = table->column<double>("together");
  ASSERT_NE(together, nullptr);
  const auto [least, most] = std::minmax_element(together->begin(), together->end());
  EXPECT_NEAR(*least, 0.865, 0.01);
  EXPECT_NEAR(*most, 1.0, 0.005);
}

}  // namespace
}  // namespace gpusonde
