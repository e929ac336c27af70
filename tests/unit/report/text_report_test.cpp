// What stands on the terminal, against the runs it is made from.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <sstream>

#include "../survey/run_sample.hpp"
#include "report/report.hpp"
#include "report/text_table.hpp"

namespace gpusonde {
namespace {

using testing::HasSubstr;
using testing::Not;

std::vector<std::string> lines(const std::string& text) {
  std::vector<std::string> out;
  std::istringstream stream(text);
  for (std::string line; std::getline(stream, line);) out.push_back(line);
  return out;
}

std::string line_with(const std::string& text, const std::string& start) {
  for (const auto& line : lines(text))
    if (line.starts_with(start)) return line;
  return {};
}

TEST(TextReport, OneLineALevelWithItsTruth) {
  const auto text = text_report(sample::simulated(), {});
  EXPECT_EQ(lines(text)[0], "simulated RTX 4090 · sm_89 · 128 SMs · SM 2600 MHz · seed 1");
  EXPECT_THAT(line_with(text, "L1 "), testing::MatchesRegex("L1 +40.0 cyc +15.4 ns .*128 KiB +✓ 3 of 3"));
  EXPECT_THAT(line_with(text, "L2 "), testing::MatchesRegex("L2 +330.1 cyc +127.0 ns .*72 MiB +72 MiB +✗ 2 of 3"));
  EXPECT_THAT(line_with(text, "DRAM"), testing::MatchesRegex("DRAM +661.2 cyc +254.3 ns .*24 GiB +✓ 2 of 2"));
  EXPECT_THAT(text, HasSubstr("l2.hit_latency_ns: 127.0 ns (126.6 to 127.3 ns), the model has 127.4 ns"));
}

TEST(TextReport, SaysWhatCouldNotBeToldAndWhy) {
  const auto text = text_report(sample::simulated(), {});
  EXPECT_THAT(text, HasSubstr("l2.far_latency: unsupported: the L2 has one partition"));
  EXPECT_THAT(text,
              HasSubstr("dram.refresh_interval_ns: inconclusive: 412 outliers in 20,000 loads; period not separable"));
  EXPECT_EQ(lines(text).back(), "10 findings ok, 1 inconclusive, 0 failed (1 unsupported) in 6 s");
}

TEST(TextReport, ListsAStepThatIsNoLevelOnce) {
  const auto text = text_report(sample::simulated(), {.color = false, .unicode = true, .width = 200});
  EXPECT_THAT(text, HasSubstr("+11.0 cyc, 32 MiB → 59 MiB (ca, cg): unattributed: the controls do not settle it"));
  EXPECT_EQ(text.find("+11.0 cyc"), text.rfind("+11.0 cyc"));
}

TEST(TextReport, APartitionedCacheHasTwoLines) {
  const auto text = text_report(sample::partitioned(), {});
  EXPECT_THAT(line_with(text, "L2 near"), testing::MatchesRegex("L2 near +275.5 cyc .* 28 MiB"));
  EXPECT_THAT(line_with(text, "L2 far"), testing::MatchesRegex("L2 far +519.6 cyc .* 57 MiB +60 MiB"));
  EXPECT_THAT(text, Not(HasSubstr("truth")));
  EXPECT_THAT(text, HasSubstr("clocks held down by: sw_power_cap"));
  EXPECT_THAT(text, HasSubstr("index chain  L1 38.0 cyc"));
}

TEST(TextReport, ShowsEveryStorageSplit) {
  const auto text = text_report(sample::partitioned(), {});
  EXPECT_THAT(text, HasSubstr("L1 by storage split"));
  EXPECT_THAT(text, testing::ContainsRegex("0 %  1024 threads +8 KiB +241 KiB"));
  EXPECT_THAT(text, testing::ContainsRegex("100 % +32 threads +228 KiB +inconclusive  not bisected to one line"));
  EXPECT_THAT(text_report(sample::simulated(), {}), Not(HasSubstr("storage split")));
}

TEST(TextReport, ALevelThatCannotBeToldShowsNoNumber) {
  auto run = sample::simulated();
  auto& l1 = *std::find_if(run.findings.begin(), run.findings.end(), [](auto& f) { return f.id == "l1.hit_latency"; });
  l1 = sample::not_ok("l1.hit_latency", "cycles", Outcome::inconclusive, "the curve is all noise");
  const auto text = text_report(run, {});
  EXPECT_THAT(line_with(text, "L1 "), testing::MatchesRegex("L1 +\\? .*128 KiB.*"));
  EXPECT_THAT(text, HasSubstr("l1.hit_latency: inconclusive: the curve is all noise"));
}

TEST(TextReport, PlainAsciiAndColourOnlyWhenAsked) {
  for (const auto& run : {sample::simulated(), sample::partitioned(), sample::hostile()}) {
    const auto plain = text_report(run, {.color = false, .unicode = false, .width = 100});
    EXPECT_TRUE(std::all_of(plain.begin(), plain.end(), [](char c) { return c == '\n' || (c >= ' ' && c <= '~'); }));
    const auto colored = text_report(run, {.color = true, .unicode = true, .width = 100});
    EXPECT_THAT(colored, HasSubstr("\x1b[1m"));
    EXPECT_THAT(text_report(run, {}), Not(HasSubstr("\x1b")));
  }
  EXPECT_THAT(line_with(text_report(sample::simulated(), {.color = false, .unicode = false, .width = 100}), "L1 "),
              HasSubstr("ok 3 of 3"));
}

TEST(TextReport, ControlCharactersOfARunNeverReachTheTerminal) {
  auto run = sample::simulated();
  run.device.name = "x\x1b[2Jy\x07";
  EXPECT_THAT(text_report(run, {}), Not(testing::ContainsRegex("[\x1b\x07]")));
}

TEST(TextReport, KeepsWithinTheWidth) {
  for (const unsigned width : {60U, 80U, 100U, 160U})
    for (const auto& line :
         lines(text_report(sample::partitioned(), {.color = false, .unicode = true, .width = width})))
      EXPECT_LE(report::display_width(line), width) << line;
}

TEST(TextReport, AnEmptyRunSaysSo) {
  const auto text = text_report(gpusonde::Run{}, {});
  EXPECT_EQ(lines(text).back(), "0 findings ok, 0 inconclusive, 0 failed");
}

}  // namespace
}  // namespace gpusonde
