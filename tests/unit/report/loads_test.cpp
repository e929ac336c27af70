// Bandwidth, loads that overlap and the crossbar, as text and as pictures.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <sstream>

#include "report/figure_loads.hpp"
#include "report/text_table.hpp"

namespace gpusonde {
namespace {

using testing::Contains;
using testing::HasSubstr;
using testing::MatchesRegex;
using testing::Not;

Finding ok(std::string id, std::string unit, double value, double error,
           std::vector<std::pair<std::string, SampleValue>> samples = {}) {
  Finding finding;
  finding.id = std::move(id);
  finding.unit = std::move(unit);
  finding.outcome = Outcome::ok;
  finding.value = value;
  finding.interval = Interval{value - error, value + error};
  finding.samples = std::move(samples);
  return finding;
}

Run sample_run() {
  Run run;
  run.device.name = "Testchip";
  run.device.kind = DeviceKind::cuda;
  run.findings.push_back(ok("bandwidth.l1.read", "bytes/s", 33.1e12, 0.1e12,
                            {{"of_128_bytes_per_cycle", 0.99}, {"bytes_per_cycle_per_sm", 126.7}}));
  run.findings.push_back(ok("bandwidth.dram.read", "bytes/s", 4.321e12, 0.01e12,
                            {{"theoretical_bytes_per_second", 4.814e12},
                             {"of_theoretical", 0.8976},
                             {"bytes_per_cycle_per_sm", 16.5},
                             {"note", "ECC on"}}));
  Finding failed;
  failed.id = "bandwidth.dram.write";
  failed.unit = "bytes/s";
  failed.outcome = Outcome::failed;
  failed.reason = "5000.0 GB/s is more than the 4814.0 GB/s that memory's pins carry";
  run.findings.push_back(failed);
  run.findings.push_back(ok("load.l2.completion_interval", "cycles", 35.2, 0.1,
                            {{"chains_1", 281.0},
                             {"chains_2", 140.6},
                             {"chains_4", 70.4},
                             {"chains_8", 35.2},
                             {"still_overlapping", "yes"}}));
  run.findings.push_back(ok("load.dram.idle_latency", "cycles", 660, 2));
  run.findings.push_back(ok("load.dram.knee", "bytes/s", 3e12, 1e10));
  run.findings.push_back(ok("crossbar.lines_per_cycle", "count", 1.98, 0.01));
  auto& table = run.measurements.table("derived.load.curve");
  for (const auto& [warps, under_way, cycles, rate] :
       {std::tuple{1, 16896.0, 661.0, 5e10}, std::tuple{32, 540672.0, 1200.0, 3.5e12}}) {
    table.make<std::string>("level").emplace_back("dram");
    table.make<std::uint64_t>("sms").push_back(132);
    table.make<std::uint64_t>("warps").push_back(static_cast<std::uint64_t>(warps));
    table.make<std::uint64_t>("chains").push_back(1);
    table.make<double>("bytes_under_way").push_back(under_way);
    table.make<double>("latency_cycles").push_back(cycles);
    table.make<double>("bytes_per_second").push_back(rate);
    table.make<double>("together").push_back(0.95);
  }
  return run;
}

std::vector<std::string> lines(const std::string& text) {
  std::vector<std::string> out;
  std::istringstream stream(text);
  for (std::string line; std::getline(stream, line);) out.push_back(line);
  return out;
}

TEST(BandwidthText, SaysWhatPartOfTheMostItIs) {
  const auto text = lines(bandwidth_text(sample_run(), {}));
  EXPECT_THAT(text, Contains(MatchesRegex("L1 +read +33.1 TB/s +33 to 33.2 TB/s +99.0 % of 128 B/cycle/SM +126.7")));
  EXPECT_THAT(text, Contains(MatchesRegex("DRAM +read +4.321 TB/s +4.311 to 4.331 TB/s +89.8 % of 4.814 TB/s +16.5")));
  EXPECT_THAT(text, Contains("  ECC on: bandwidth.dram.read"));
  EXPECT_THAT(text, Contains(HasSubstr("bandwidth.dram.write: failed: 5000.0 GB/s is more than")));
  for (const auto& line : text) EXPECT_LE(report::display_width(line), 100U) << line;
}

TEST(LoadText, KeepsLatencyAndCompletionApart) {
  const auto text = lines(load_text(sample_run(), {}));
  EXPECT_THAT(text,
              Contains(MatchesRegex(" +L2 +281.0 +140.6 +70.4 +35.2 +35.2 cyc +35.1 to 35.3 cyc +still falling")));
  EXPECT_THAT(text, Contains(MatchesRegex(" +132 × 32 × 1 +528 KiB +1200.0 +3.5 TB/s +95 %")));
  for (const auto& line : text) EXPECT_LE(report::display_width(line), 100U) << line;
}

TEST(LoadsTexts, SayWhenNothingWasMeasured) {
  gpusonde::Run run;
  run.device.name = "Testchip";
  for (const auto& text : {crossbar_text(run, {}), bandwidth_text(run, {}), load_text(run, {})})
    EXPECT_THAT(text, HasSubstr("nothing was measured"));
  EXPECT_THAT(crossbar_text(sample_run(), {}), HasSubstr("1.98"));
}

TEST(LoadsFigures, DrawBarsAndTheCurveWithItsKnee) {
  const auto run = sample_run();
  const auto bars = report::bandwidth_figure(run);
  ASSERT_TRUE(bars);
  EXPECT_EQ(bars->name, "bandwidth");
  EXPECT_THAT(bars->svg, HasSubstr("33.1 TB/s"));
  EXPECT_THAT(bars->svg, HasSubstr(">DRAM read<"));
  EXPECT_THAT(bars->svg, Not(HasSubstr("write<")));  // failed: no bar
  const auto curve = report::load_figure(run);
  ASSERT_TRUE(curve);
  EXPECT_EQ(curve->name, "load.curve");
  EXPECT_THAT(curve->svg, HasSubstr("3 TB/s"));
  EXPECT_THAT(curve->svg, HasSubstr("1.5 times the idle latency"));
  EXPECT_FALSE(report::bandwidth_figure({}));
  EXPECT_FALSE(report::load_figure({}));
}

}  // namespace
}  // namespace gpusonde
