// What `tlb sweep` and `addressing` say on a terminal.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <sstream>

#include "../survey/run_sample.hpp"
#include "report/report.hpp"
#include "report/text_table.hpp"

namespace gpusonde {
namespace {

using testing::ContainsRegex;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;

std::vector<std::string> lines(const std::string& text) {
  std::vector<std::string> out;
  std::istringstream stream(text);
  for (std::string line; std::getline(stream, line);) out.push_back(line);
  return out;
}

bool plain(const std::string& text) {
  return std::all_of(text.begin(), text.end(), [](char c) { return c == '\n' || (c >= ' ' && c <= '~'); });
}

Finding addressing(const char* id, const char* name, const char* because) {
  Finding finding;
  finding.id = id;
  finding.unit = "name";
  finding.outcome = Outcome::ok;
  finding.value = std::string(name);
  finding.samples = {{"alias_hits", 0.0}, {"because", std::string(because)}};
  return finding;
}

Run judged() {
  gpusonde::Run run;
  run.device.name = "Testchip";
  run.environment.sm_mhz_measured = 1980;
  run.findings = {addressing("l1.addressing", "VIVT", "no load hits; translation costs nothing on a hit"),
                  addressing("l2.addressing", "PIPT", "512 of 512 loads hit; 76 nodes cost 11.4 cycles")};
  run.findings[0].truth = std::string("VIVT");
  return run;
}

TEST(AddressingText, AVerdictASentenceAReasonAndWhatFollows) {
  EXPECT_THAT(
      lines(addressing_text(judged(), {})),
      ElementsAre("simulated Testchip · SM 1980 MHz", "", "L1  VIVT", "  No load hits.",
                  "  Translation costs nothing on a hit.",
                  "  So a hit takes the virtual address alone, index and tag, and no translation.",
                  "  The model has VIVT.", "", "L2  PIPT", "  512 of 512 loads hit.", "  76 nodes cost 11.4 cycles.",
                  "  So the address is translated before the cache is looked up, index and tag.", ""));
}

TEST(AddressingText, AVirtualIndexWithAPhysicalTag) {
  gpusonde::Run run;
  run.findings = {addressing("l1.addressing", "VIPT", "some")};
  EXPECT_THAT(addressing_text(run, {}),
              HasSubstr("L1  VIPT\n  Some.\n  So the set is found by the virtual address and the tag is physical.\n"));
}

TEST(AddressingText, WithoutAVerdictTheOutcomeAndTheReasonStand) {
  gpusonde::Run run;
  run.findings = {sample::not_ok("l1.addressing", "name", Outcome::inconclusive,
                                 "the two probes disagree: 512 of 512 loads hit; the sweep has no step"),
                  sample::not_ok("l2.addressing", "name", Outcome::unsupported, "no alias can be mapped")};
  const auto text = addressing_text(run, {});
  EXPECT_THAT(text, HasSubstr("L1  inconclusive\n  The two probes disagree: 512 of 512 loads hit.\n"
                              "  The sweep has no step.\n"));
  EXPECT_THAT(text, HasSubstr("L2  unsupported\n  No alias can be mapped.\n"));
  EXPECT_THAT(text, Not(HasSubstr("So ")));
}

TEST(AddressingText, AFindingThatIsAbsentIsNotShown) {
  EXPECT_THAT(addressing_text(gpusonde::Run{}, {}), Not(ContainsRegex("L[12]")));
}

TEST(AddressingText, BoldOnlyWhenAsked) {
  EXPECT_THAT(addressing_text(judged(), {}), Not(HasSubstr("\x1b")));
  EXPECT_THAT(addressing_text(judged(), {.color = true}), HasSubstr("\x1b[1mL1  VIVT\x1b[0m\n"));
}

TEST(AddressingText, ControlCharactersOfARunNeverReachTheTerminal) {
  auto run = judged();
  run.device.name = "x\x1b[2Jy\x07";
  run.findings[0].samples[1].second = std::string("be\x1b[2Jcause\x07");
  run.findings.push_back(addressing("l3.addressing", "\x1b", "\x07"));
  EXPECT_THAT(addressing_text(run, {}), Not(ContainsRegex("[\x1b\x07]")));
}

TEST(AddressingText, KeepsWithinTheWidth) {
  auto run = judged();
  run.findings[1].samples[1].second = std::string(
      "512 of 512 loads hit through a second address of a line loaded before (336 cycles the first time, "
      "336 again); lines at one offset of many pages take 342.9 cycles, spread over the pages 344.4, so "
      "the index has bits of the physical page");
  for (const unsigned width : {40U, 60U, 80U, 100U, 160U})
    for (const auto& line : lines(addressing_text(run, {.width = width})))
      EXPECT_LE(report::display_width(line), width) << line;
}

// The sample has TLBs of 16 and 256 entries of 2 MiB that cost 36 and 240 cycles.
TEST(SweepText, OneLineAPolicyAndStrideWithItsSteps) {
  const auto text = sweep_text(sample::swept(), {.width = 200});
  const auto all = lines(text);
  EXPECT_THAT(all[2], testing::MatchesRegex("policy +stride +nodes +up to +first +last +steps, by nodes"));
  ASSERT_EQ(all.size(), 13U) << "two policies by five strides under the heads";
  EXPECT_THAT(text, ContainsRegex("ca +2 MiB +1 to 2048 +4 GiB +3[12]\\.[0-9] cyc +30[78]\\.[0-9] cyc "
                                  "+\\+3[0-9]\\.[0-9] at "));
  EXPECT_THAT(text, ContainsRegex("cg +16 MiB +1 to 4096 +64 GiB"));
}

TEST(SweepText, NoStepSaysNone) {
  gpusonde::Run run;
  auto& table = run.measurements.table("tlb.sweep");
  for (std::uint64_t nodes = 2; nodes <= 64; nodes *= 2) {
    table.make<std::string>("policy").emplace_back("cg");
    table.make<std::uint64_t>("stride_bytes").push_back(2 << 20);
    table.make<std::uint64_t>("bytes").push_back(nodes * (2 << 20));
    table.make<std::uint64_t>("nodes").push_back(nodes);
    for (const char* name : {"cycles_per_access", "low_cycles", "high_cycles"}) table.make<double>(name).push_back(330);
    table.make<double>("ns_per_access").push_back(sample::k_nan);
    table.make<double>("sm_mhz").push_back(sample::k_nan);
  }
  EXPECT_THAT(lines(sweep_text(run, {})).back(),
              testing::MatchesRegex("cg +2 MiB +2 to 64 +128 MiB +330.0 cyc +330.0 cyc +none"));
}

TEST(SweepText, NothingMeasuredSaysSo) {
  EXPECT_EQ(lines(sweep_text(gpusonde::Run{}, {})).back(), "nothing was measured");
}

TEST(SweepText, TheRowsAreAsciiAndBoldOnlyWhenAsked) {
  auto all = lines(sweep_text(sample::swept(), {}));
  for (std::size_t i = 1; i < all.size(); ++i) EXPECT_TRUE(plain(all[i])) << all[i];
  EXPECT_THAT(sweep_text(sample::swept(), {.color = true}), HasSubstr("\x1b[1m"));
  EXPECT_THAT(sweep_text(sample::swept(), {}), Not(HasSubstr("\x1b")));
}

TEST(SweepText, ControlCharactersOfARunNeverReachTheTerminal) {
  auto run = sample::swept();
  run.device.name = "x\x1b[2Jy\x07";
  for (auto& policy : run.measurements.table("tlb.sweep").make<std::string>("policy")) policy += "\x1b[2J";
  EXPECT_THAT(sweep_text(run, {}), Not(ContainsRegex("[\x1b\x07]")));
  EXPECT_THAT(sweep_text(sample::hostile(), {}), Not(ContainsRegex("[\x1b\x07]")));
}

TEST(SweepText, KeepsWithinTheWidth) {
  for (const unsigned width : {100U, 160U})
    for (const auto& line : lines(sweep_text(sample::swept(), {.width = width})))
      EXPECT_LE(report::display_width(line), width) << line;
}

}  // namespace
}  // namespace gpusonde
