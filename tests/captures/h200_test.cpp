// Two runs of one H200 (driver 580.159.04, SM at 1980 MHz, ECC on): the dense preset, and a whole survey.
// What is asserted was published or measured by other means; see docs/results/h200.md.
#include <gtest/gtest.h>

#include <cmath>
#include <map>
#include <set>

#include "capture.hpp"
#include "survey/survey.hpp"

namespace gpusonde {
namespace {

class H200 : public testing::TestWithParam<const char*> {
 protected:
  void SetUp() override {
    auto stored = read_capture(GetParam());
    ASSERT_TRUE(stored) << stored.error().message;
    m_stored = std::move(*stored);
    m_run = analyze(m_stored);
  }
  [[nodiscard]] double value(const std::string& id) const {
    const auto* finding = m_run.finding(id);
    if (finding == nullptr || !finding->value) {
      ADD_FAILURE() << id << ": " << (finding == nullptr ? "absent" : finding->reason);
      return std::nan("");
    }
    return std::get<double>(*finding->value);
  }
  gpusonde::Run m_stored;
  gpusonde::Run m_run;
};

TEST_P(H200, has_four_levels_where_a_partitioned_l2_makes_four) {
  const auto& levels = *m_run.measurements.find("derived.latency.levels");
  std::map<std::string, std::vector<std::string>> names;
  for (std::size_t row = 0; row < levels.rows(); ++row) {
    EXPECT_EQ((*levels.column<std::string>("kind"))[row], "level");
    names[(*levels.column<std::string>("policy"))[row]].push_back((*levels.column<std::string>("name"))[row]);
  }
  EXPECT_EQ(names["ca"], (std::vector<std::string>{"l1", "l2", "l2.far", "dram"}));
  EXPECT_EQ(names["cg"], (std::vector<std::string>{"l2", "l2.far", "dram"}));
}

TEST_P(H200, latencies_are_those_of_the_card) {
  EXPECT_NEAR(value("l1.hit_latency"), 32, 0.5);
  EXPECT_NEAR(value("l1.hit_latency_index"), 39, 0.5);
  EXPECT_NEAR(value("l2.hit_latency"), 278, 4);
  EXPECT_NEAR(value("l2.far_latency"), 512, 12);
  EXPECT_NEAR(value("dram.latency"), 672, 18);
  EXPECT_NEAR(value("clock.sm"), 1980, 1);
}

// A serially warmed chain, measured in the same run, is the independent method.
TEST_P(H200, sweep_agrees_with_serial_reference) {
  int compared = 0;
  for (const auto* id : {"l1.hit_latency", "l2.hit_latency", "l2.far_latency", "dram.latency"})
    for (const auto& [name, sample] : m_run.finding(id)->samples) {
      if (name != "serial_reference_cycles") continue;
      EXPECT_NEAR(value(id), std::get<double>(sample), 0.02 * value(id)) << id;
      ++compared;
    }
  EXPECT_EQ(compared, 4);
}

TEST_P(H200, capacities) {
  EXPECT_EQ(value("l1.capacity"), 241 * 1024);
  EXPECT_NEAR(value("l2.near_capacity") / (1 << 20), 30, 1);
  EXPECT_NEAR(value("l2.capacity") / (1 << 20), 60, 0.05 * 60);
}

TEST_P(H200, the_same_analysis_comes_out_as_on_the_card) {
  for (const auto& finding : m_stored.findings) {
    const auto* again = m_run.finding(finding.id);
    ASSERT_NE(again, nullptr) << finding.id;
    if (finding.outcome == Outcome::ok && finding.id.find("hit_latency") != std::string::npos) {
      EXPECT_EQ(again->outcome, Outcome::ok) << finding.id;
      EXPECT_EQ(*again->value, *finding.value) << finding.id;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Captures, H200, testing::Values("h200-dense.json.gz", "h200-survey.json.gz"),
                         [](const auto& parameter) {
                           return std::string(parameter.param).substr(5, std::string(parameter.param).find('.') - 5);
                         });

// Unified storage: what the carve-out takes, L1 lacks. Every split leaves 249 KiB less the shared part, where
// that is known: 241 at 8 KiB, 185 at 64, 117 at 132, 53 at 196, 21 at 228.
TEST(H200Survey, l1_keeps_what_the_shared_part_leaves) {
  const auto stored = read_capture("h200-survey.json.gz");
  ASSERT_TRUE(stored) << stored.error().message;
  const auto run = analyze(*stored);
  const auto& table = *run.measurements.find("derived.l1.capacity");
  std::map<std::pair<int, int>, double> kib;
  for (std::size_t row = 0; row < table.rows(); ++row)
    kib[{static_cast<int>((*table.column<double>("carveout_percent"))[row]),
         static_cast<int>((*table.column<std::uint64_t>("block_threads"))[row])}] =
        (*table.column<double>("capacity_bytes"))[row] / 1024;
  EXPECT_EQ((kib[{0, 1024}]), 241);
  EXPECT_EQ((kib[{0, 512}]), 233);
  EXPECT_EQ((kib[{0, 32}]), 217);
  EXPECT_EQ((kib[{25, 1024}]), 185);
  EXPECT_EQ((kib[{50, 1024}]), 117);
  EXPECT_EQ((kib[{75, 1024}]), 53);
  EXPECT_EQ((kib[{100, 1024}]), 21);
}

}  // namespace
}  // namespace gpusonde
