// Pictures of TLB sweeps: which steps are found, and where lines, ticks and marks stand.
#include "report/figure_tlb.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "../survey/run_sample.hpp"
#include "svg_text.hpp"

namespace gpusonde {
namespace {

using namespace svg_text;
using report::SweepAxis;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;

std::vector<report::SweepPoint> points(const std::vector<std::pair<double, double>>& nodes_and_cycles) {
  std::vector<report::SweepPoint> out;
  for (const auto& [nodes, cycles] : nodes_and_cycles)
    out.push_back({nodes, 128 * nodes, cycles, cycles, cycles, sample::k_nan});
  return out;
}

std::vector<double> last_nodes(const report::SweepLine& line) {
  std::vector<double> out;
  for (const auto& step : line.steps) out.push_back(line.points[step.last].nodes);
  return out;
}

/// Of a tick of the horizontal axis; the legend and the marks may say the same.
double tick_x(const std::string& svg, const std::string& label) {
  std::smatch found;
  const std::regex tick("<text x=\"([.0-9]+)\" y=\"[.0-9]+\" text-anchor=\"middle\" class=\"soft\">" + label + "<");
  return std::regex_search(svg, found, tick) ? std::stod(found[1]) : NAN;
}

// Measured on an H200 at a stride of 128 bytes, past L1; its L2 near and whole hold 241,746 and 496,763
// such lines by a count of another kind (docs/results/h200.md).
TEST(SweepSteps, OfAMeasuredCurveStandAroundTheCapacities) {
  const auto curve =
      points({{131072, 280.9}, {136875, 280.9}, {142935, 280.9}, {149263, 280.8}, {155871, 280.8}, {162772, 280.9},
              {169979, 280.9}, {177504, 280.9}, {185363, 280.9}, {193570, 280.9}, {202140, 280.9}, {211090, 280.8},
              {220435, 282.7}, {230195, 280.9}, {240387, 353.7}, {251029, 386.9}, {262144, 407.8}, {273750, 469.5},
              {285870, 510.4}, {298526, 512.7}, {311743, 513.9}, {325545, 512.5}, {339958, 511.9}, {355009, 512.7},
              {370727, 513.6}, {387141, 511.9}, {404281, 512.5}, {422180, 512.2}, {440871, 512.0}, {460390, 511.5},
              {480774, 513.1}, {502059, 605.2}, {524288, 650.7}, {547500, 651.3}, {571740, 655.6}, {597053, 658.0},
              {623487, 656.5}, {651091, 655.5}, {679917, 657.1}, {710019, 658.6}, {741455, 656.9}, {774282, 657.9},
              {808562, 658.1}, {844360, 659.0}, {881743, 659.8}, {920781, 660.0}, {961548, 659.9}, {1004119, 660.1},
              {1048576, 658.9}});
  const auto steps = report::sweep_steps(curve);
  ASSERT_EQ(steps.size(), 2U);
  EXPECT_LE(curve[steps[0].last].nodes, 241746);
  EXPECT_GE(curve[steps[0].last].nodes, 210000);
  EXPECT_GE(curve[steps[0].first].nodes, 241746);
  EXPECT_LE(curve[steps[0].first].nodes, 311743);
  EXPECT_EQ(curve[steps[1].last].nodes, 480774);
  EXPECT_LE(curve[steps[1].first].nodes, 571740);
  EXPECT_NEAR(steps[0].from_cycles, 281, 1);
  EXPECT_NEAR(steps[0].to_cycles, 512.5, 1);
  EXPECT_NEAR(steps[1].to_cycles, 658, 3);
}

TEST(SweepSteps, OfAModelStandAtItsEntries) {
  const auto views = report::sweep_views(sample::swept().measurements);
  ASSERT_EQ(views.size(), 2U);
  for (const auto& view : views) {
    ASSERT_EQ(view.lines.size(), 5U);
    EXPECT_EQ(view.sm_mhz, 1980);
    EXPECT_THAT(last_nodes(view.lines[0]), ElementsAre(32, 512)) << view.policy << ", two nodes an entry";
    for (std::size_t i = 1; i < 5; ++i) {
      EXPECT_EQ(view.lines[i].stride_bytes, 0x1p21 * static_cast<double>(1U << (i - 1)));
      EXPECT_THAT(last_nodes(view.lines[i]), ElementsAre(16, 256)) << view.policy << i;
    }
  }
}

TEST(SweepSteps, NoneInALineThatIsFlatOrShort) {
  EXPECT_TRUE(report::sweep_steps({}).empty());
  EXPECT_TRUE(report::sweep_steps(points({{1, 30}})).empty());
  EXPECT_TRUE(report::sweep_steps(points({{1, 30}, {2, 500}})).empty()) << "two points make no plateau";
  EXPECT_TRUE(report::sweep_steps(points({{1, 30}, {2, 30.2}, {4, 29.9}, {8, 30.1}, {16, 30}})).empty());
}

TEST(SweepView, OfAPointMeasuredTwiceTheLastRowCounts) {
  gpusonde::Run run;
  sample::add_sweep(run, "cg", 280, 2 << 20, 8);
  auto& table = run.measurements.table("tlb.sweep");
  sample::add_sweep(run, "cg", 290, 2 << 20, 4);
  table.make<double>("cycles_per_access")[0] = 1;
  const auto views = report::sweep_views(run.measurements);
  ASSERT_EQ(views[0].lines[0].points.size(), 8U);
  EXPECT_NEAR(views[0].lines[0].points[0].cycles, 290, 1);
  EXPECT_NEAR(views[0].lines[0].points[7].cycles, 280, 1);
}

TEST(SweepView, WhatCannotBeDrawnIsLeftOut) {
  gpusonde::Run run;
  sample::add_sweep(run, "cg", 280, 2 << 20, 8);
  auto& cycles = run.measurements.table("tlb.sweep").make<double>("cycles_per_access");
  cycles[0] = sample::k_nan;
  cycles[1] = 0;
  cycles[2] = -5;
  cycles[3] = 1e300;
  EXPECT_EQ(report::sweep_views(run.measurements)[0].lines[0].points.size(), 4U);
  EXPECT_TRUE(report::sweep_views({}).empty());
  EXPECT_TRUE(report::alias_lines({}).empty());
}

TEST(FigureTlb, OneAPolicyAndOneForTheAliases) {
  std::vector<std::string> names;
  for (const auto& figure : figures(sample::swept())) names.push_back(figure.name);
  EXPECT_THAT(names, ElementsAre("tlb.sweep.cg", "tlb.sweep.ca", "tlb.alias"));
}

TEST(FigureTlb, TheWorkingSetIsLogarithmicWithBinaryTicks) {
  const auto all = report::sweep_figures(sample::swept(), SweepAxis::bytes);
  const auto& svg = find(all, "tlb.sweep.cg").svg;
  const double mib1 = tick_x(svg, "1 MiB"), mib64 = tick_x(svg, "64 MiB"), gib1 = tick_x(svg, "1 GiB");
  EXPECT_NEAR((mib64 - mib1) / 6, (gib1 - mib64) / 4, 0.1);
  // Stride 16 MiB, the fifth: 1, 2, 3, ... nodes, so from 16 MiB on.
  const auto line = curve_points(svg, "s4");
  const double octave = (gib1 - mib1) / 10;
  ASSERT_EQ(line.size(), 44U);
  EXPECT_NEAR(line[0].first, mib1 + 4 * octave, 0.2);
  EXPECT_NEAR(line[2].first, mib1 + (4 + std::log2(3)) * octave, 0.2);
  EXPECT_NEAR(line.back().first, mib1 + 16 * octave, 0.3);
}

TEST(FigureTlb, LatencyStandsAtItsTicks) {
  const auto all = report::sweep_figures(sample::swept(), SweepAxis::bytes);
  const auto& svg = find(all, "tlb.sweep.cg").svg;
  const auto tick_y = [&](const std::string& label) {
    std::smatch found;
    EXPECT_TRUE(
        std::regex_search(svg, found, std::regex("y=\"([.0-9]+)\" text-anchor=\"end\" class=\"soft\">" + label + "<")));
    return std::stod(found[1]) - 4;
  };
  const double y300 = tick_y("300"), y500 = tick_y("500");
  const double per_log = (y500 - y300) / std::log(500.0 / 300.0);
  const auto line = curve_points(svg, "s1");
  EXPECT_NEAR(line[7].second, y300 + per_log * std::log((280 + 0.2 * std::sin(8.0)) / 300), 0.2);
  EXPECT_NEAR(line.back().second, y300 + per_log * std::log(556.0 / 300), 0.3);
}

TEST(FigureTlb, ByNodesTheSameNumberStandsAtTheSamePlace) {
  const auto all = report::sweep_figures(sample::swept(), SweepAxis::nodes);
  const auto& svg = find(all, "tlb.sweep.cg").svg;
  const auto first = curve_points(svg, "s0");
  ASSERT_EQ(first.size(), 44U);
  for (const char* css : {"s1", "s2", "s3", "s4"}) {
    const auto line = curve_points(svg, css);
    ASSERT_EQ(line.size(), first.size());
    for (std::size_t i = 0; i < line.size(); ++i) EXPECT_EQ(line[i].first, first[i].first);
  }
  const double one = tick_x(svg, "1"), most = tick_x(svg, "4096");
  EXPECT_NEAR(first[0].first, one, 0.1);
  EXPECT_NEAR(first[2].first, one + (most - one) * std::log2(3) / 12, 0.2);
}

std::vector<std::string> marks(const std::string& svg) {
  std::vector<std::string> out;
  for (const auto& match : all_matches(svg, std::regex("class=\"steptext halo\">([^<]*)<"))) out.push_back(match[1]);
  std::sort(out.begin(), out.end());
  return out;
}

TEST(FigureTlb, StepsAreMarkedWhereTheyAre) {
  const auto by_nodes = report::sweep_figures(sample::swept(), SweepAxis::nodes);
  const auto& svg = find(by_nodes, "tlb.sweep.cg").svg;
  EXPECT_THAT(marks(svg), ElementsAre("16", "256", "32", "512")) << "once for all strides that share it";
  const auto lines = all_matches(svg, std::regex("<line x1=\"([.0-9]+)\"[^>]*class=\"step\""));
  ASSERT_EQ(lines.size(), 4U);
  for (const auto& line : lines) {
    const double one = tick_x(svg, "1"), most = tick_x(svg, "4096");
    const double octaves = 12 * (std::stod(line[1]) - one) / (most - one);
    EXPECT_THAT(std::lround(octaves), testing::AnyOf(4, 5, 8, 9));
    EXPECT_NEAR(octaves, std::round(octaves), 0.01);
  }
  EXPECT_EQ(all_matches(svg, std::regex("<circle [^>]*class=\"knee\"")).size(), 11U) << "ten, and the legend";

  const auto by_bytes = report::sweep_figures(sample::swept(), SweepAxis::bytes);
  EXPECT_THAT(marks(find(by_bytes, "tlb.sweep.cg").svg),
              ElementsAre("1 GiB", "128 MiB", "2 GiB", "256 MiB", "32 MiB", "4 GiB", "512 MiB", "64 MiB"));
}

TEST(FigureTlb, EachStrideIsNamedInTheLegendAndAtItsLine) {
  for (const auto axis : {SweepAxis::bytes, SweepAxis::nodes}) {
    const auto all = report::sweep_figures(sample::swept(), axis);
    const auto& svg = find(all, "tlb.sweep.ca").svg;
    for (const char* stride : {"1 MiB", "2 MiB", "4 MiB", "8 MiB", "16 MiB"}) {
      EXPECT_EQ(all_matches(svg, std::regex("class=\"ink\">" + std::string(stride) + "<")).size(), 1U);
      EXPECT_EQ(all_matches(svg, std::regex("class=\"ink strong\">" + std::string(stride) + "<")).size(), 1U);
    }
    EXPECT_THAT(svg, HasSubstr("SM 1980 MHz"));
    EXPECT_THAT(svg, HasSubstr("loads through L1 (.ca)"));
  }
}

TEST(FigureTlb, OfManyStridesTheFirstTheLastAndWhereStepsMoveAreNamed) {
  gpusonde::Run run;
  for (std::uint64_t stride = 1 << 19; stride <= 1ULL << 32; stride *= 2) sample::add_sweep(run, "cg", 280, stride);
  const auto all = report::sweep_figures(run, SweepAxis::nodes);
  const auto& svg = all.front().svg;
  std::vector<std::string> named;
  for (const auto& match : all_matches(svg, std::regex("class=\"ink strong\">([^<]*)<"))) named.push_back(match[1]);
  EXPECT_THAT(named, testing::UnorderedElementsAre("512 KiB", "1 MiB", "2 MiB", "4 GiB"));
  EXPECT_THAT(svg, HasSubstr("and 10 between"));
  EXPECT_EQ(all_matches(svg, std::regex("<polyline [^>]*curve thin\"")).size(), 10U);
}

TEST(FigureTlb, ThePenaltyIsLinearAndWhatWasPredictedIsDashed) {
  const auto all = figures(sample::swept());
  const auto& svg = find(all, "tlb.alias").svg;
  EXPECT_EQ(curve_points(svg, "s0").size(), 10U);
  std::smatch found;
  ASSERT_TRUE(std::regex_search(svg, found,
                                std::regex("<polyline points=\"[^\"]* ([.0-9]+),([.0-9]+)\" class=\"s1 predicted\"")));
  EXPECT_EQ(std::stod(found[1]), curve_points(svg, "s1").back().first);
  const auto line = curve_points(svg, "s1");  // 4, 8, 16, ... nodes; sin(2048) and sin(64) move them a little
  const double per_cycle = (line[9].second - line[4].second) / (240 + 3 * (std::sin(2048) - std::sin(64)));
  EXPECT_NEAR(line[0].second, line[4].second + per_cycle * (3 * (std::sin(4) - std::sin(64)) - 36), 0.3);

  auto run = sample::swept();
  auto& tables = run.measurements.tables;
  tables.erase(std::remove_if(tables.begin(), tables.end(), [](const auto& t) { return t.first == "derived.tlb.fit"; }),
               tables.end());
  EXPECT_THAT(report::alias_figure(run)->svg, Not(HasSubstr("s1 predicted")));
  EXPECT_THAT(report::alias_figure(run)->svg, Not(HasSubstr(">predicted<")));
}

TEST(FigureTlb, WhateverWasMeasuredIsWellFormed) {
  std::vector<gpusonde::Run> runs{sample::swept(), sample::hostile(), {}, {}};
  sample::add_sweep(runs[2], "cg", 280, 2 << 20, 1);
  sample::add_sweep(runs[3], "ca", 1e-8, 1ULL << 63, 1);
  for (std::uint64_t stride = 1; stride <= 40; ++stride) sample::add_sweep(runs[3], "ca", 1e8, stride, 1U << 20);
  for (const auto& run : runs) {
    for (const auto axis : {SweepAxis::bytes, SweepAxis::nodes}) {
      for (const auto& figure : report::sweep_figures(run, axis)) {
        EXPECT_TRUE(well_formed(figure.svg)) << figure.name;
        for (const char* word : {"nan", "inf", "<script", "<img", "<image", "url("})
          EXPECT_THAT(figure.svg, Not(HasSubstr(word))) << figure.name;
      }
    }
  }
}

}  // namespace
}  // namespace gpusonde
