// Findings about operations from tables made by hand.
#include "probe/instr_probe.hpp"

#include <gtest/gtest.h>

#include <fmt/format.h>

#include "probe/probes.hpp"

namespace gpusonde {
namespace {

/// So many readings of both lengths, all alike: 8 and 24 operations a chain, `round` cycles from one to the next.
void add_chains(Measurements& measurements, const std::string& operation, std::uint64_t chains, int round,
                int readings = 8) {
  std::string shorter, longer;
  for (int i = 0; i < readings; ++i) {
    shorter += fmt::format("{}{}", i == 0 ? "" : " ", 40 + 8 * round);
    longer += fmt::format("{}{}", i == 0 ? "" : " ", 40 + 24 * round);
  }
  auto& table = measurements.table("instr.chains");
  table.make<std::string>("operation").push_back(operation);
  table.make<std::uint64_t>("chains").push_back(chains);
  table.make<std::uint64_t>("short_length").push_back(8);
  table.make<std::uint64_t>("long_length").push_back(24);
  table.make<std::string>("short_cycles").push_back(shorter);
  table.make<std::string>("long_cycles").push_back(longer);
}

Finding found(const Measurements& measurements, const std::string& id) {
  for (const auto& finding : instr_probe().analyze({measurements, {}, {}}).findings)
    if (finding.id == id) return finding;
  ADD_FAILURE() << "no " << id;
  return {};
}

TEST(InstrProbe, LatencyIsOfOneChainAndIntervalOfAll) {
  Measurements measurements;
  for (const auto& [chains, round] : {std::pair{1, 4}, {8, 16}, {12, 24}, {16, 32}})
    add_chains(measurements, "imad", static_cast<std::uint64_t>(chains), round);
  const auto latency = found(measurements, "instr.imad.true_latency");
  ASSERT_TRUE(latency.value) << latency.reason;
  EXPECT_EQ(std::get<double>(*latency.value), 4);
  const auto interval = found(measurements, "instr.imad.completion_interval");
  ASSERT_TRUE(interval.value) << interval.reason;
  EXPECT_EQ(std::get<double>(*interval.value), 2);
  EXPECT_EQ(found(measurements, "instr.ffma.true_latency").outcome, Outcome::skipped);
  // No clock was measured.
  EXPECT_EQ(found(measurements, "instr.imad.true_latency_ns").reason, "the SM clock was not measured");
}

TEST(InstrProbe, ASharedLoadIsNamedForWhatItIs) {
  Measurements measurements;
  for (const auto& [chains, round] : {std::pair{1, 24}, {8, 24}, {12, 24}, {16, 24}})
    add_chains(measurements, "shared_register", static_cast<std::uint64_t>(chains), round);
  EXPECT_EQ(std::get<double>(*found(measurements, "instr.shared_load.true_latency").value), 24);
  EXPECT_EQ(found(measurements, "instr.shared_load.completion_interval").reason,
            "from 12 chains to 16 it still falls from 2.00 cycles to 1.50");
}

TEST(InstrProbe, ARegistersReadIsADifferenceOfLoads) {
  Measurements measurements;
  add_chains(measurements, "shared_predicate", 1, 37);
  EXPECT_EQ(found(measurements, "operand.register_read").outcome, Outcome::skipped);
  add_chains(measurements, "shared_immediate", 1, 36);
  EXPECT_EQ(std::get<double>(*found(measurements, "operand.register_read").value), 1);
}

TEST(InstrProbe, AnImmediateAddressThatTakesLongerIsNoResult) {
  Measurements measurements;
  add_chains(measurements, "shared_predicate", 1, 36);
  add_chains(measurements, "shared_immediate", 1, 38);
  const auto finding = found(measurements, "operand.register_read");
  EXPECT_EQ(finding.outcome, Outcome::inconclusive);
  EXPECT_EQ(finding.reason, "a load with an immediate address takes 2.0 cycles more");
}

TEST(InstrProbe, WhatTheDeviceLacksIsUnsupported) {
  Measurements measurements;
  add_chains(measurements, "shared_predicate", 1, 36);
  auto& table = measurements.table("instr.missing");
  table.make<std::string>("operation").push_back("shared_immediate");
  table.make<std::string>("reason").push_back("there is none");
  const auto finding = found(measurements, "operand.register_read");
  EXPECT_EQ(finding.outcome, Outcome::unsupported);
  EXPECT_EQ(finding.reason, "there is none");
}

TEST(InstrProbe, FewReadingsSettleNothing) {
  Measurements measurements;
  add_chains(measurements, "ffma", 1, 4, 3);
  EXPECT_EQ(found(measurements, "instr.ffma.true_latency").reason, "fewer than 6 repetitions");
}

}  // namespace
}  // namespace gpusonde
