// The page as text; tests/report_page looks at it in a browser.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <regex>

#include "../survey/run_sample.hpp"
#include "report/report.hpp"

namespace gpusonde {
namespace {

using testing::HasSubstr;
using testing::Not;

nlohmann::json page_data(const std::string& html) {
  const std::string start = "<script type=\"application/json\" id=\"page-data\">";
  const auto from = html.find(start) + start.size();
  return nlohmann::json::parse(html.substr(from, html.find("</script>", from) - from));
}

std::size_t count(const std::string& text, const std::string& part) {
  std::size_t out = 0;
  for (auto at = text.find(part); at != std::string::npos; at = text.find(part, at + part.size())) ++out;
  return out;
}

TEST(HtmlReport, CarriesEveryPointOfEveryCurve) {
  const auto run = sample::partitioned();
  const auto plots = page_data(html_report(run))["plots"];
  ASSERT_EQ(plots.size(), 2U);
  EXPECT_EQ(plots[0]["policy"], "ca");
  ASSERT_EQ(plots[0]["chains"].size(), 2U);
  const auto& points = plots[0]["chains"][0]["points"];
  const auto& table = *run.measurements.find("latency.curve");
  ASSERT_EQ(points.size(), table.rows() / 3);
  for (const std::size_t i : {std::size_t{0}, std::size_t{50}, points.size() - 1}) {
    EXPECT_EQ(points[i][0], (*table.column<std::uint64_t>("size_bytes"))[i]);
    EXPECT_EQ(points[i][1], (*table.column<double>("latency_cycles"))[i]);
  }
  EXPECT_EQ(plots[0]["levels"][1]["title"], "L2 near");
  EXPECT_EQ(plots[0]["capacities"].size(), 3U);
  EXPECT_EQ(plots[1]["capacities"].size(), 2U) << "no L1 on a path past it";
}

TEST(HtmlReport, CarriesEveryPointOfEverySweep) {
  const auto run = sample::swept();
  const auto html = html_report(run);
  const auto sweeps = page_data(html)["sweeps"];
  ASSERT_EQ(sweeps.size(), 3U);
  const auto& table = *run.measurements.find("tlb.sweep");
  std::size_t drawn = 0;
  for (const auto& sweep : {sweeps[0], sweeps[1]}) {
    EXPECT_FALSE(sweep["added"].get<bool>());
    for (const auto& line : sweep["lines"]) drawn += line["points"].size();
  }
  EXPECT_EQ(drawn, table.rows());
  const auto& point = sweeps[0]["lines"][0]["points"][2];
  EXPECT_EQ(point[0], 3);
  EXPECT_EQ(point[1], 3 << 20);
  EXPECT_EQ(point[2], (*table.column<double>("cycles_per_access"))[2]);
  const auto& step = sweeps[0]["lines"][1]["steps"][0];
  EXPECT_EQ(sweeps[0]["lines"][1]["points"][step["last"].get<std::size_t>()][0], 16);
  EXPECT_TRUE(sweeps[2]["added"].get<bool>());
  EXPECT_EQ(sweeps[2]["lines"][1]["predicted"].size(), 10U);
  EXPECT_EQ(count(html, "\" data-sweep=\""), 3U);
  EXPECT_EQ(count(html, "\" data-plot=\""), 0U);
}

TEST(HtmlReport, HasAnchorsForItsEvidence) {
  const auto html = html_report(sample::simulated());
  const std::regex link("href=\"#(table-[0-9]+)\"");
  for (std::sregex_iterator at(html.begin(), html.end(), link), end; at != end; ++at)
    EXPECT_EQ(count(html, "id=\"" + (*at)[1].str() + "\""), 1U);
  EXPECT_EQ(count(html, "href=\"#table-"), sample::simulated().findings.size());
}

TEST(HtmlReport, AsksForNothing) {
  const auto html = html_report(sample::partitioned());
  EXPECT_THAT(html, HasSubstr("default-src 'none'"));
  EXPECT_THAT(html, Not(HasSubstr("'unsafe-eval'")));
  std::vector<std::string> targets;
  const std::regex reference("(?:src|href)=\"([^\"#][^\"]{0,8})");
  for (std::sregex_iterator at(html.begin(), html.end(), reference), end; at != end; ++at) targets.push_back((*at)[1]);
  for (const auto& target : targets) EXPECT_THAT(target, testing::StartsWith("data:"));
}

TEST(HtmlReport, NothingOfARunBecomesMarkup) {
  const auto html = html_report(sample::hostile());
  EXPECT_THAT(html, Not(HasSubstr("<img")));
  EXPECT_EQ(count(html, "</script>"), count(html_report(sample::simulated()), "</script>"));
  EXPECT_EQ(page_data(html)["plots"][1]["policy"].get<std::string>().substr(0, 9), "</script>");
}

TEST(HtmlReport, StaysUnderItsSizeHoweverMuchWasMeasured) {
  auto run = sample::partitioned();
  for (int t = 0; t < 5; ++t) {
    auto& values = run.measurements.table("big" + std::to_string(t)).make<double>("latency_cycles");
    for (int i = 0; i < 50'000; ++i) values.push_back(0.1 * i);
  }
  const auto html = html_report(run);
  EXPECT_LT(html.size(), 1'500'000U);
  EXPECT_THAT(html, HasSubstr("The first 25 of 50000 rows; all are in run.json and data/big3.csv"));
}

TEST(HtmlReport, ProgramsAndLongListsKeepTheirLines) {
  auto run = sample::simulated();
  auto program = sample::ok("l2.set_function", "text", 0, 0, 0);
  program.value = std::string("q = a / 1152\n  b0 = q < 3 && a\nreturn b0");
  program.interval.reset();
  auto masks = program;
  masks.id = "l1.set_masks";
  masks.value = std::vector<std::string>{"0x80", "0x100", "0x200", "0x400"};
  run.findings.insert(run.findings.end(), {program, masks});
  const auto html = html_report(run);
  EXPECT_THAT(html, HasSubstr("<summary>q = a / 1152 (3 lines)</summary>"
                              "<pre>q = a / 1152\n  b0 = q &lt; 3 &amp;&amp; a\nreturn b0\n</pre>"));
  EXPECT_THAT(html, HasSubstr("<pre>0x80\n0x100\n0x200\n0x400\n</pre>"));
  EXPECT_THAT(html, HasSubstr(">40.0 cyc</td>")) << "a number stands as it is";
}

TEST(HtmlReport, AnEmptyRunIsAPageToo) {
  const auto html = html_report(gpusonde::Run{});
  EXPECT_THAT(html, HasSubstr("No curve was measured."));
  EXPECT_THAT(html, HasSubstr("No level was found."));
}

}  // namespace
}  // namespace gpusonde
