// Operations, memories, a warp's loads, the crossbar, memory and bandwidth of one H200: tables of a survey, analysed
// again. What they are held against was got another way: published figures, counters, clocks, arithmetic.
#include <gtest/gtest.h>

#include "capture.hpp"
#include "survey/survey.hpp"

namespace gpusonde {
namespace {

class H200Rest : public testing::Test {
 protected:
  void SetUp() override {
    auto stored = read_capture("h200-rest.json.gz");
    ASSERT_TRUE(stored) << stored.error().message;
    m_run = analyze(*stored);
  }
  template <class T>
  [[nodiscard]] T value(const std::string& id) const {
    const auto* finding = m_run.finding(id);
    if (finding == nullptr || !finding->value) {
      ADD_FAILURE() << id << ": " << (finding == nullptr ? "absent" : finding->reason);
      return {};
    }
    return std::get<T>(*finding->value);
  }
  [[nodiscard]] double number(const std::string& id) const { return value<double>(id); }
  [[nodiscard]] std::string name(const std::string& id) const { return value<std::string>(id); }
  [[nodiscard]] Outcome outcome(const std::string& id) const {
    const auto* finding = m_run.finding(id);
    return finding == nullptr ? Outcome::failed : finding->outcome;
  }
  gpusonde::Run m_run;
};

TEST_F(H200Rest, OperationsTakeWholeCycles) {
  // Published for the H100: FP32 and INT32 4 cycles, FP64 8.04.
  for (const std::string operation : {"ffma", "imad", "iadd3", "lop3"})
    EXPECT_NEAR(number("instr." + operation + ".true_latency"), 4, 0.02) << operation;
  for (const std::string operation : {"dadd", "dfma"})
    EXPECT_NEAR(number("instr." + operation + ".true_latency"), 8, 0.05) << operation;
  // A sub-partition has 32 lanes for FP32, 16 for INT32 and FP64, 4 for special functions.
  EXPECT_NEAR(number("instr.ffma.completion_interval"), 1, 0.01);
  EXPECT_NEAR(number("instr.imad.completion_interval"), 2, 0.01);
  EXPECT_NEAR(number("instr.dadd.completion_interval"), 2, 0.01);
  EXPECT_NEAR(number("instr.mufu_ex2.completion_interval"), 8, 0.01);
}

TEST_F(H200Rest, MemoriesAndWhatSharesL1) {
  EXPECT_NEAR(number("shared.hit_latency"), number("instr.shared_load.true_latency"), 0.2);
  EXPECT_NEAR(number("readonly.hit_latency"), 32, 0.2);
  EXPECT_EQ(number("constant.1.capacity"), 2048);
  EXPECT_EQ(outcome("constant.2.capacity"), Outcome::inconclusive);
  EXPECT_EQ(name("constant.shares_l1"), "no");
  EXPECT_EQ(name("texture.shares_l1"), "yes");
  EXPECT_EQ(name("readonly.shares_l1"), "yes");
  EXPECT_GT(number("dsmem.latency"), 180);  // published: 180 to 213
  EXPECT_LT(number("dsmem.latency"), 213);
  EXPECT_NEAR(number("dsmem.self_latency"), 33, 2);  // published: 33
  EXPECT_EQ(outcome("operand.register_read"), Outcome::unsupported);
}

TEST_F(H200Rest, AWarpsLoadsAreWhatCountersCount) {
  const auto sectors = value<std::vector<std::string>>("coalescer.sectors");
  ASSERT_GE(sectors.size(), 2U);
  EXPECT_EQ(sectors[1], "4 B, stride 1: 4 sectors in 1 line");
  const auto* counters = m_run.measurements.find("coalesce.counters");
  ASSERT_NE(counters, nullptr);
  const auto* per_load = counters->column<double>("per_load");
  ASSERT_NE(per_load, nullptr);
  // Requests, sectors and tags of strides 1, 2, 8 and 32, by hand.
  EXPECT_EQ(*per_load, (std::vector<double>{1, 4, 1, 1, 8, 2, 1, 32, 8, 1, 32, 32}));
  // 146 cycles with all lanes in one data bank, 77 with all in banks of their own, 31 reads apart.
  EXPECT_NEAR(number("coalescer.wavefront_cycles"), (146.0 - 77) / 31, 0.05);
  EXPECT_EQ(outcome("coalescer.line_cycles"), Outcome::inconclusive);
}

TEST_F(H200Rest, MemoryRefreshes) {
  EXPECT_EQ(name("dram.refresh_waits"), "rest");
  const double interval_ns = number("dram.refresh_interval_ns");
  const double wait_ns = number("dram.refresh_stall_ns");
  EXPECT_NEAR(interval_ns, 1963.8, 1);  // folded by another program, from other readings of the same kind
  EXPECT_NEAR(wait_ns, 262, 8);
  // Loads come at any time: those that wait are the share that a refresh takes.
  EXPECT_NEAR(number("dram.refresh_fraction"), wait_ns / interval_ns, 0.01);
  for (const auto* id : {"dram.row_size", "dram.banks", "dram.column_ns", "dram.row_miss_extra_ns"})
    EXPECT_EQ(outcome(id), Outcome::inconclusive) << id;
  EXPECT_NEAR(number("dram.latency_tlb_miss") - number("dram.latency_tlb_hit"), 10.0, 2);  // `tlb`: +10.0
}

TEST_F(H200Rest, BandwidthIsBelowWhatThereCanBe) {
  const double theoretical = 2 * 3201e6 * 6016 / 8;
  const double widths = 128.0 * 132 * 1980e6;
  EXPECT_GT(number("bandwidth.dram.read"), 4.49e12);  // the best of other tools
  EXPECT_LT(number("bandwidth.dram.read"), theoretical);
  for (const std::string transfer : {"read", "write", "copy"}) {
    EXPECT_GT(number("bandwidth.shared." + transfer), 0.97 * widths);
    EXPECT_LT(number("bandwidth.shared." + transfer), widths);
  }
  EXPECT_GT(number("bandwidth.l1.read"), 0.96 * widths);
  EXPECT_NEAR(number("crossbar.all_lines_per_cycle") / 132, number("crossbar.lines_per_cycle"), 0.02);
}

}  // namespace
}  // namespace gpusonde
