// Figures, read back as XML: where things are drawn, not only that they are.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <regex>

#include "../survey/run_sample.hpp"
#include "report/report.hpp"
#include "report/scale.hpp"
#include "report/svg.hpp"
#include "svg_text.hpp"

namespace gpusonde {
namespace {

using namespace svg_text;

using testing::HasSubstr;
using testing::Not;

TEST(Figures, OneAPolicyAndOneForTheSplits) {
  std::vector<std::string> names;
  for (const auto& figure : figures(sample::partitioned())) names.push_back(figure.name);
  EXPECT_THAT(names, testing::ElementsAre("latency.ca", "latency.cg", "l1.capacity"));
  EXPECT_EQ(figures(sample::simulated()).size(), 2U);
  EXPECT_TRUE(figures(gpusonde::Run{}).empty());
}

TEST(Figures, ACurveIsLogarithmicInBothDirections) {
  const auto all = figures(sample::simulated());
  const auto points = curve_points(find(all, "latency.ca").svg, "s0");
  const auto run = sample::simulated();
  const auto& table = *run.measurements.find("latency.curve");
  const auto& bytes = *table.column<std::uint64_t>("size_bytes");
  const auto& cycles = *table.column<double>("latency_cycles");
  ASSERT_EQ(points.size(), bytes.size() / 2);
  // Pixels an octave from the ends; every other point must agree with them.
  const auto last = points.size() - 1;
  const auto octaves = [](double a, double b) { return std::log2(b / a); };
  const double per_x =
      (points[last].first - points[0].first) / octaves(static_cast<double>(bytes[0]), static_cast<double>(bytes[last]));
  const double per_y = (points[last].second - points[0].second) / octaves(cycles[0], cycles[last]);
  EXPECT_GT(per_x, 20);
  EXPECT_LT(per_y, -20);
  for (std::size_t i = 0; i <= last; ++i) {
    EXPECT_NEAR(points[i].first,
                points[0].first + per_x * octaves(static_cast<double>(bytes[0]), static_cast<double>(bytes[i])), 0.2);
    EXPECT_NEAR(points[i].second, points[0].second + per_y * octaves(cycles[0], cycles[i]), 0.2);
  }
}

TEST(Figures, TicksAndCapacityLinesStandWhereTheirSizesAre) {
  const auto all = figures(sample::simulated());
  const auto& svg = find(all, "latency.ca").svg;
  const double kib16 = label_x(svg, "16 KiB"), kib64 = label_x(svg, "64 KiB"), mib1 = label_x(svg, "1 MiB");
  EXPECT_NEAR(kib64 - kib16, (mib1 - kib64) / 2, 0.2);
  EXPECT_NEAR(label_x(svg, "128 KiB") - 6, (kib64 + label_x(svg, "256 KiB")) / 2, 0.2);
  EXPECT_THAT(svg, HasSubstr("72 MiB"));
  EXPECT_THAT(svg, HasSubstr("40.0 cyc · 15.4 ns"));
}

TEST(Figures, AStepThatIsNoLevelIsDashedAndSaysSo) {
  const auto all = figures(sample::simulated());
  const auto& svg = find(all, "latency.cg").svg;
  EXPECT_THAT(svg, HasSubstr("unattributed step +11.0 cyc"));
  EXPECT_THAT(svg, HasSubstr("class=\"step\""));
  EXPECT_THAT(svg, Not(HasSubstr(">128 KiB</text>\n<line"))) << "the L1 is not on a path past it";
  EXPECT_THAT(svg, HasSubstr("simulated RTX 4090"));
  EXPECT_EQ(all_matches(svg, std::regex("class=\"b[0-9] band\"")).size(), 2U);
}

TEST(Figures, BothChainsAreDrawnWithTheirOwnMarkers) {
  const auto all = figures(sample::partitioned());
  const auto& svg = find(all, "latency.ca").svg;
  EXPECT_EQ(curve_points(svg, "s0").size(), curve_points(svg, "s1").size());
  EXPECT_GT(curve_points(svg, "s0")[0].second, curve_points(svg, "s1")[0].second) << "the index chain is slower";
  EXPECT_THAT(svg, HasSubstr("32-bit index chain"));
  for (const char* name : {"L1", "L2 near", "L2 far", "DRAM"})
    EXPECT_THAT(svg, HasSubstr(std::string(">") + name + "<"));
}

TEST(Figures, ASizeMeasuredAgainSeriallyCountsOnce) {
  auto run = sample::simulated();
  const auto before = curve_points(figures(run)[0].svg, "s0");
  auto& table = run.measurements.table("latency.curve");
  for (auto& [name, column] : table.columns) std::visit([](auto& values) { values.push_back(values[100]); }, column);
  table.make<double>("latency_cycles").back() *= 2;
  table.make<std::string>("warmup").back() = "serial";
  const auto after = curve_points(figures(run)[0].svg, "s0");
  ASSERT_EQ(after.size(), before.size());
  EXPECT_LT(after[100].second, before[100].second - 20);
}

TEST(Figures, AreWellFormedAndHoldNothingOfTheRunAsMarkup) {
  for (const auto& run : {sample::simulated(), sample::partitioned(), sample::hostile()}) {
    for (const auto& figure : figures(run)) {
      EXPECT_TRUE(well_formed(figure.svg)) << figure.name;
      EXPECT_THAT(figure.svg, Not(HasSubstr("<img")));
      EXPECT_THAT(figure.svg, Not(HasSubstr("<script")));
      EXPECT_THAT(figure.svg, Not(HasSubstr("nan"))) << figure.name;
      EXPECT_THAT(figure.svg, HasSubstr("prefers-color-scheme:dark"));
    }
  }
}

TEST(Figures, BarsAreProportionalToBytes) {
  const auto all = figures(sample::partitioned());
  const auto bars = all_matches(find(all, "l1.capacity").svg,
                                std::regex("width=\"([.0-9]+)\" height=\"18.0\" rx=\"2\" class=\"bar\""));
  ASSERT_EQ(bars.size(), 6U);
  const double per_kib = std::stod(bars[0][1]) / 241;
  const double kib[] = {241, 219, 119, 119, 20, 0};
  for (std::size_t i = 0; i < bars.size(); ++i) EXPECT_NEAR(std::stod(bars[i][1]), kib[i] * per_kib, 0.1);
}

TEST(Figures, ACurveThatNeverRisesIsStillDrawn) {
  gpusonde::Run run;
  sample::add_curve(run, "cg", "pointer", {{1e18, 300}}, 1000, 4096, 65536, 2);
  const auto all = figures(run);
  ASSERT_EQ(all.size(), 1U);
  EXPECT_THAT(all[0].svg, Not(HasSubstr("nan")));
  EXPECT_THAT(all[0].svg, Not(HasSubstr("inf")));
}

TEST(Scale, TicksArePowersOfTwoAndRoundNumbers) {
  std::vector<std::string> labels;
  for (const auto& tick : report::binary_ticks(4096, 1 << 30, 11))
    if (!tick.label.empty()) labels.push_back(tick.label);
  EXPECT_THAT(labels, testing::ElementsAre("4 KiB", "16 KiB", "64 KiB", "256 KiB", "1 MiB", "4 MiB", "16 MiB", "64 MiB",
                                           "256 MiB", "1 GiB"));
  std::vector<double> values;
  for (const auto& tick : report::decimal_ticks(19, 700)) values.push_back(tick.value);
  EXPECT_THAT(values, testing::ElementsAre(20, 50, 100, 200, 500));
}

TEST(Scale, CountsAndPenaltiesHaveRoundTicks) {
  const auto labels = [](const std::vector<report::Tick>& ticks) {
    std::vector<std::string> out;
    for (const auto& tick : ticks)
      if (!tick.label.empty()) out.push_back(tick.label);
    return out;
  };
  EXPECT_THAT(labels(report::count_ticks(0.9, 20, 11)), testing::ElementsAre("1", "2", "4", "8", "16"));
  EXPECT_THAT(labels(report::count_ticks(1, 0x1p30, 11)),
              testing::ElementsAre("1", "32", "1024", "32768", "1 Mi", "32 Mi", "1 Gi"));
  EXPECT_THAT(labels(report::round_ticks(-12, 300, 9)),
              testing::ElementsAre("0", "50", "100", "150", "200", "250", "300"));
  EXPECT_THAT(labels(report::round_ticks(0, 0.9, 9)),
              testing::ElementsAre("0", "0.1", "0.2", "0.3", "0.4", "0.5", "0.6", "0.7", "0.8", "0.9"));
  EXPECT_THAT(labels(report::latency_ticks(240, 720)), testing::ElementsAre("300", "400", "500", "600", "700"));
  EXPECT_THAT(labels(report::latency_ticks(19, 700)), testing::ElementsAre("20", "50", "100", "200", "500"));
}

TEST(Svg, SpreadsLabelsNoFurtherThanNeeded) {
  EXPECT_THAT(report::spread_labels({10, 12, 100}, 20, 0, 200), testing::ElementsAre(10, 30, 100));
  EXPECT_THAT(report::spread_labels({190, 195}, 20, 0, 200), testing::ElementsAre(180, 200));
}

}  // namespace
}  // namespace gpusonde
