// Translation on one H200: a run of `gpusonde tlb` and one of `gpusonde addressing`, analysed again. What is asserted
// is written up, with its evidence, in docs/results/h200.md.
#include <gtest/gtest.h>

#include <cmath>
#include <map>

#include "capture.hpp"
#include "core/units.hpp"
#include "inference/tlb_fit.hpp"
#include "probe/tlb_probe.hpp"
#include "survey/survey.hpp"

namespace gpusonde {
namespace {

class H200Translation : public testing::Test {
 protected:
  void load(const char* name) {
    auto stored = read_capture(name);
    ASSERT_TRUE(stored) << stored.error().message;
    m_run = std::move(*stored);
  }
  [[nodiscard]] double number(const std::string& id) const {
    const auto* finding = m_run.finding(id);
    const auto* value = finding != nullptr && finding->value ? std::get_if<double>(&*finding->value) : nullptr;
    if (value == nullptr) {
      ADD_FAILURE() << id << ": " << (finding == nullptr ? "absent" : finding->reason);
      return std::nan("");
    }
    return *value;
  }
  [[nodiscard]] std::string name(const std::string& id) const {
    const auto* finding = m_run.finding(id);
    const auto* value = finding != nullptr && finding->value ? std::get_if<std::string>(&*finding->value) : nullptr;
    return value == nullptr ? "?" : *value;
  }
  gpusonde::Run m_run;
};

TEST_F(H200Translation, LevelsAreThoseOfTheCard) {
  ASSERT_NO_FATAL_FAILURE(load("h200-tlb.json.gz"));
  m_run = analyze(m_run);
  EXPECT_EQ(number("tlb.1.entries"), 16);
  EXPECT_EQ(number("tlb.1.ways"), 16);
  EXPECT_EQ(number("tlb.1.span"), 16.0 * k_mib);
  EXPECT_NEAR(number("tlb.1.miss_cost"), 10, 0.3);
  EXPECT_EQ(name("tlb.1.replacement"), "lru");
  EXPECT_EQ(name("tlb.1.scope"), "sm");
  EXPECT_EQ(number("tlb.2.entries"), 2048);
  EXPECT_EQ(number("tlb.2.span"), 32.0 * k_mib);
  EXPECT_EQ(number("tlb.2.reach"), 64.0 * k_gib);
  EXPECT_NEAR(number("tlb.2.miss_cost"), 105, 3);
  EXPECT_EQ(name("tlb.2.replacement"), "lru");
  EXPECT_EQ(name("tlb.2.scope"), "cpc");
  // The curves want eight ways, but no small set of pages pushes one out: that is said, not settled.
  const auto* ways = m_run.finding("tlb.2.ways");
  ASSERT_NE(ways, nullptr);
  EXPECT_EQ(ways->outcome, Outcome::inconclusive);
  EXPECT_NE(ways->reason.find("the curves say 8"), std::string::npos) << ways->reason;
  // A step lies beyond 256 GiB; what makes it is left open.
  EXPECT_NEAR(number("tlb.3.reach"), 256.0 * k_gib, 6.0 * k_gib);
  EXPECT_GT(number("tlb.3.miss_cost"), 650);
  EXPECT_EQ(name("tlb.3.scope"), "partition");
  EXPECT_EQ(m_run.finding("tlb.3.entries")->outcome, Outcome::inconclusive);
  EXPECT_EQ(m_run.finding("tlb.3.span")->outcome, Outcome::inconclusive);
}

// Without the fit: with k pages more than 2048, k of 256 sets hold nine pages, which all miss. So the penalty between
// the plateaus is 9 k / (2048 + k) of the step.
TEST_F(H200Translation, SecondLevelOverflowsSetBySet) {
  ASSERT_NO_FATAL_FAILURE(load("h200-tlb.json.gz"));
  const double low = number("tlb.1.miss_cost");
  const double high = number("tlb.2.miss_cost");
  int points = 0;
  for (const auto& point : read_alias_curves(m_run.measurements, false)) {
    if (point.stride_bytes != 32 * k_mib || point.nodes <= 2060 || point.nodes >= 2290) continue;
    const double over = static_cast<double>(point.nodes - 2048);
    const double expected = low + (high - low) * 9 * over / static_cast<double>(point.nodes);
    EXPECT_NEAR(point.penalty_cycles, expected, 2.5) << point.nodes;
    ++points;
  }
  EXPECT_GE(points, 20);
}

// Fully associative and lru: nothing up to 15 pages, everything from 17 on; at 16 the page of the results is one more.
TEST_F(H200Translation, FirstLevelOverflowsAtOnce) {
  ASSERT_NO_FATAL_FAILURE(load("h200-tlb.json.gz"));
  std::map<std::uint64_t, double> curve;
  for (const auto& point : read_alias_curves(m_run.measurements, false))
    if (point.stride_bytes == 16 * k_mib) curve[point.nodes] = point.penalty_cycles;
  ASSERT_TRUE(curve.contains(15) && curve.contains(16) && curve.contains(17));
  EXPECT_NEAR(curve[15], 0, 0.3);
  EXPECT_NEAR(curve[16], 2.5, 0.3);  // 16 misses for each 64 loads, which end with a use of the page of the results
  EXPECT_NEAR(curve[17], 10, 0.3);
}

TEST_F(H200Translation, L1IsVirtualAndL2Physical) {
  ASSERT_NO_FATAL_FAILURE(load("h200-addressing.json.gz"));
  m_run = analyze(m_run);
  EXPECT_EQ(name("l1.addressing"), "VIVT");
  EXPECT_EQ(name("l2.addressing"), "PIPT");
}

}  // namespace
}  // namespace gpusonde
