// What `instr` and `memories` say, and the pictures of both, from a run made by hand.
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "report/report.hpp"
#include "report/text_table.hpp"

namespace gpusonde {
namespace {

Finding cycles(const std::string& id, double value, std::optional<double> truth = {}) {
  Finding finding;
  finding.id = id;
  finding.unit = "cycles";
  finding.outcome = Outcome::ok;
  finding.value = value;
  finding.interval = Interval{value - 0.1, value + 0.1};
  if (truth) {
    finding.truth = *truth;
    finding.agrees = std::abs(*truth - value) <= 0.1;
  }
  return finding;
}

Finding unknown(const std::string& id, const std::string& reason) {
  Finding finding;
  finding.id = id;
  finding.unit = "cycles";
  finding.reason = reason;
  return finding;
}

Run example() {
  Run run;
  run.device.name = "Some GPU";
  run.findings = {cycles("instr.ffma.true_latency", 4, 4),
                  cycles("instr.ffma.true_latency_ns", 2),
                  cycles("instr.ffma.completion_interval", 1, 2),
                  cycles("instr.dfma.true_latency", 8.04),
                  unknown("instr.dfma.completion_interval", "it still falls"),
                  unknown("operand.register_read", "there is none"),
                  cycles("dsmem.latency", 195)};
  auto& table = run.measurements.table("derived.instr.intervals");
  for (const auto& [name, chains, value] : {std::tuple{"ffma", 1, 4.0},
                                            {"ffma", 2, 2.0},
                                            {"ffma", 16, 1.0},
                                            {"dfma", 1, 8.04},
                                            {"dfma", 2, std::nan("")},
                                            {"dfma", 16, 2.0}}) {
    table.make<std::string>("operation").emplace_back(name);
    table.make<std::uint64_t>("chains").push_back(static_cast<std::uint64_t>(chains));
    table.make<double>("cycles").push_back(value);
    table.make<double>("low_cycles").push_back(0.9 * value);
    table.make<double>("high_cycles").push_back(1.1 * value);
  }
  auto& cluster = run.measurements.table("memories.cluster");
  for (std::uint64_t from = 0; from < 3; ++from)
    for (std::uint64_t to = 0; to < 3; ++to)
      for (const double more : {0.0, 2.0}) {  // two launches
        cluster.make<std::uint64_t>("from_block").push_back(from);
        cluster.make<std::uint64_t>("to_block").push_back(to);
        cluster.make<double>("cycles_per_access")
            .push_back((from == to ? 33 : 180 + 10.0 * static_cast<double>(to)) + more);
      }
  return run;
}

TEST(InstrText, IsATableOverChains) {
  const auto text = instr_text(example(), {});
  EXPECT_NE(text.find("        true latency  completion interval     2    16\n"
                      "  ffma        4.00 ✓               1.00 ✗  2.00  1.00\n"
                      "  dfma          8.04                    ?     ?  2.00\n"),
            std::string::npos)
      << text;
  EXPECT_NE(text.find("it still falls"), std::string::npos);
  EXPECT_NE(text.find("there is none"), std::string::npos);
  EXPECT_EQ(text.find("true_latency_ns"), std::string::npos);
  EXPECT_EQ(text.find("dsmem"), std::string::npos);
}

TEST(InstrText, NothingMeasuredIsSaid) {
  EXPECT_NE(instr_text({}, {}).find("nothing was measured"), std::string::npos);
  EXPECT_NE(memories_text({}, {}).find("nothing was measured"), std::string::npos);
}

TEST(MemoriesText, HasTheMatrixOfMeans) {
  const auto text = memories_text(example(), {});
  EXPECT_NE(text.find("  block   to 0   to 1   to 2\n"
                      "      0   34.0  191.0  201.0\n"
                      "      1  181.0   34.0  201.0\n"
                      "      2  181.0  191.0   34.0\n"),
            std::string::npos)
      << text;
  EXPECT_NE(text.find("dsmem.latency"), std::string::npos);
  EXPECT_EQ(text.find("ffma"), std::string::npos);
}

TEST(SurveyText, ListsOperationsOnce) {
  const auto text = text_report(example(), {});
  EXPECT_NE(text.find("operations, in cycles"), std::string::npos);
  EXPECT_EQ(text.find("instr.ffma.true_latency "), std::string::npos) << text;
}

TEST(InstrFigures, AreDrawnWhereTheirTablesAre) {
  const auto drawn = figures(example());
  ASSERT_EQ(drawn.size(), 2U);
  EXPECT_EQ(drawn[0].name, "instr.intervals");
  for (const auto* part : {">ffma<", ">dfma<", "independent chains of one warp", "cycles an operation"})
    EXPECT_NE(drawn[0].svg.find(part), std::string::npos) << part;
  EXPECT_EQ(drawn[1].name, "memories.cluster");
  EXPECT_NE(drawn[1].svg.find("3 blocks × 3 blocks · 33.0 to 202.0 cycles"), std::string::npos);
  EXPECT_NE(drawn[1].svg.find("block whose shared memory is loaded"), std::string::npos);
  EXPECT_NE(html_report(example()).find("Shared memory of a cluster"), std::string::npos);
}

}  // namespace
}  // namespace gpusonde
