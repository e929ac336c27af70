// The heat map read back: every cell's shade from the paths, and what stands around them.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <random>
#include <regex>
#include <sstream>

#include "map_sample.hpp"
#include "report/latency_map.hpp"
#include "report/report.hpp"
#include "svg_text.hpp"

namespace gpusonde {
namespace {

using namespace svg_text;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;

std::vector<std::string> names(const std::vector<Figure>& all) {
  std::vector<std::string> out;
  for (const auto& figure : all) out.push_back(figure.name);
  return out;
}

std::size_t count(const std::string& text, const std::string& part) {
  std::size_t out = 0;
  for (auto at = text.find(part); at != std::string::npos; at = text.find(part, at + part.size())) ++out;
  return out;
}

/// Classes of the cells, by rows: the ground's where no path goes.
std::vector<std::vector<std::string>> drawn_cells(const std::string& svg, std::size_t rows, std::size_t columns) {
  std::smatch ground;
  std::regex_search(svg, ground, std::regex("rx=\"0\" class=\"heat ([a-z0-9]+)\"/>\n<g transform"));
  std::vector<std::vector<std::string>> cells(rows, std::vector<std::string>(columns, ground[1]));
  // By hand, since a long path overflows the stack of std::regex under the address sanitizer.
  const std::string begin = "<path d=\"", middle = "\" class=\"heat ";
  for (auto at = svg.find(begin); at != std::string::npos; at = svg.find(begin, at + 1)) {
    const auto from = at + begin.size(), quote = svg.find('"', from);
    if (svg.compare(quote, middle.size(), middle) != 0) continue;
    const std::string data = svg.substr(from, quote - from);
    const auto name = quote + middle.size();
    const std::string shade = svg.substr(name, svg.find('"', name) - name);
    double x = 0, y = 0;
    for (const auto& step : all_matches(data, std::regex("([Mm])(-?[0-9]+)(?: |(?=-))(-?[0-9.]+)h([0-9]+)"))) {
      x = step[1] == "M" ? std::stod(step[2]) : x + std::stod(step[2]);
      y = step[1] == "M" ? std::stod(step[3]) : y + std::stod(step[3]);
      for (int i = 0; i < std::stoi(step[4]); ++i, ++x)
        cells.at(static_cast<std::size_t>(y - 0.5)).at(static_cast<std::size_t>(x)) = shade;
    }
  }
  return cells;
}

/// Every reading scattered by up to `cycles`.
void scatter(Run& run, const std::string& table, int cycles) {
  std::mt19937_64 random(3);
  for (auto& [name, column] : run.measurements.table(table).columns)
    if (name != "place_bytes")
      for (auto& reading : std::get<std::vector<std::uint64_t>>(column))
        reading += random() % static_cast<std::uint64_t>(8 * cycles);
}

TEST(MapFigure, NearAndFarAreTheEndsOfTheScale) {
  const auto svg = find(figures(sample::mapped()), "slices.map").svg;
  const auto cells = drawn_cells(svg, 8, 64);
  const auto map = report::latency_map(sample::mapped().measurements, "slices.load");
  for (std::size_t row = 0; row < 8; ++row)
    for (std::size_t column = 0; column < 64; ++column)
      EXPECT_EQ(cells[row][column], (row < 4) == (map->lines[column].home_side == 0) ? "h0" : "h15");
}

TEST(MapFigure, EveryCellHasTheShadeOfItsMean) {
  auto run = sample::mapped({24, 3000, 10});
  scatter(run, "slices.load", 60);
  run.measurements.table("slices.load").make<std::uint64_t>("sm_5_eighth_cycles").assign(3000, 0);
  const auto map = report::latency_map(run.measurements, "slices.load");
  const auto bins = report::bins_of_lines(*map, 300);
  std::vector<report::MapBin> rows;
  for (std::size_t i = 0; i < 24; ++i) rows.push_back({i, 1});
  const auto means = report::map_cells(*map, rows, bins);
  const auto scale = report::heat_scale(means);
  const auto cells = drawn_cells(find(figures(run), "slices.map").svg, 24, bins.size());
  std::size_t empty = 0;
  for (std::size_t row = 0; row < 24; ++row) {
    for (std::size_t column = 0; column < bins.size(); ++column) {
      const double mean = means[row][column];
      const bool none = std::isnan(mean);
      empty += none ? 1 : 0;
      ASSERT_EQ(cells[row][column], none ? "void" : "h" + std::to_string(scale.shade(mean, 16)));
    }
  }
  EXPECT_EQ(empty, bins.size());
}

TEST(MapFigure, SidesSlicesAndLegendAreNamed) {
  const auto svg = find(figures(sample::mapped()), "slices.map").svg;
  EXPECT_THAT(svg, HasSubstr(">Testchip: L2 latency by SM and line<"));
  EXPECT_THAT(svg, HasSubstr("8 SMs × 64 lines · 200.0 to 283.0 cycles"));
  EXPECT_THAT(svg, HasSubstr(">a column is a line<"));
  for (const char* label : {"at home on side 0", "at home on side 1", "side 0", "side 1", "200.0", "241.5", "283.0"})
    EXPECT_EQ(count(svg, std::string(">") + label + "<"), 1U) << label;
  EXPECT_EQ(count(svg, "class=\"seam wide\""), 2U) << "between sides of lines and of SMs";
  EXPECT_EQ(count(svg, "class=\"seam\""), 3U) << "between slices";
  // Slice 1 begins where the lines of slice 0 end.
  const auto map = report::latency_map(sample::mapped().measurements, "slices.load");
  const auto slices = report::slices_of_lines(*map);
  std::smatch first;
  ASSERT_TRUE(std::regex_search(svg, first, std::regex("<line x1=\"([.0-9]+)\"[^>]*class=\"seam\"")));
  EXPECT_NEAR(std::stod(first[1]), 104 + 832.0 * static_cast<double>(slices[1].first) / 64, 0.06);
}

TEST(MapFigure, WithoutSidesTheOrderGivenIsSaid) {
  gpusonde::Run run;
  sample::add_map(run, {3, 20, 2});
  const auto svg = find(figures(run), "slices.map").svg;
  EXPECT_THAT(svg, HasSubstr(">lines, in the order measured<"));
  EXPECT_THAT(svg, HasSubstr(">SMs, in the order measured<"));
  EXPECT_THAT(svg, Not(HasSubstr("class=\"seam")));
  const auto cells = drawn_cells(svg, 3, 20);
  for (std::uint64_t sm = 0; sm < 3; ++sm)
    for (std::uint64_t line = 0; line < 20; ++line)
      EXPECT_EQ(cells[sm][line] == "h0", sample::map_cycles(sm, line, {3, 20, 2}) < 210);
}

TEST(MapFigure, StaysSmallWhateverItShows) {
  // Readings without any order, as many as there may be, and one line a column, where nothing is averaged.
  for (const std::uint64_t lines : {600U, 65536U}) {
    gpusonde::Run run;
    sample::add_map(run, {144, lines, 96});
    scatter(run, "slices.load", 1000);
    const auto all = figures(run);
    EXPECT_LT(find(all, "slices.map").svg.size(), 300'000U) << lines;
  }
}

TEST(MapFigure, AtomicsHaveOneOfTheirOwn) {
  auto run = sample::mapped();
  sample::add_map(run, {8, 32, 4}, "slices.atomic");
  const auto all = figures(run);
  EXPECT_THAT(names(all), ElementsAre("slices.map", "slices.atomic"));
  EXPECT_THAT(all[1].svg, HasSubstr(">Testchip: Latency of atomics by SM and line<"));
  EXPECT_THAT(all[1].svg, HasSubstr("8 SMs × 32 lines"));
}

TEST(MapFigure, OddMapsAreStillPictures) {
  std::vector<gpusonde::Run> runs{sample::mapped({1, 1, 1}), sample::mapped({2, 300, 300}),
                                  sample::mapped({300, 5, 2})};
  runs.push_back(sample::mapped());
  runs.back().device.name = sample::k_harm;
  for (auto& side : runs.back().measurements.table("derived.slices.lines").make<double>("home_side"))
    side = sample::k_nan;
  for (const auto& run : runs) {
    const auto all = figures(run);
    ASSERT_EQ(all.size(), 1U);
    EXPECT_TRUE(well_formed(all[0].svg));
    EXPECT_THAT(all[0].svg, Not(HasSubstr("nan")));
    EXPECT_THAT(all[0].svg, Not(HasSubstr("inf")));
    EXPECT_THAT(all[0].svg, Not(HasSubstr("<img")));
  }
}

TEST(MapFigure, StandsInThePageUnderItsOwnHeadingBehindTheOthers) {
  auto run = sample::swept();
  sample::add_map(run, {4, 16, 2});
  sample::add_map(run, {4, 16, 2}, "slices.atomic");
  EXPECT_THAT(names(figures(run)),
              ElementsAre("tlb.sweep.cg", "tlb.sweep.ca", "tlb.alias", "slices.map", "slices.atomic"));
  const auto html = html_report(run);
  const auto at = [&](const std::string& heading) { return html.find("<h3>" + heading + "</h3>"); };
  EXPECT_LT(at("TLB penalty by number of nodes"), at("L2 latency by SM and line"));
  EXPECT_LT(at("L2 latency by SM and line"), at("Latency of atomics by SM and line"));
  EXPECT_NE(at("Latency of atomics by SM and line"), std::string::npos);
  EXPECT_EQ(count(html, "\" data-sweep=\""), 3U) << "a map is not drawn again by the script";
  // Without the alias curves the map is not taken for them.
  gpusonde::Run alone;
  sample::add_map(alone, {4, 16, 2});
  const auto page = html_report(alone);
  EXPECT_THAT(page, HasSubstr("<h3>L2 latency by SM and line</h3>"));
  EXPECT_THAT(page, Not(HasSubstr("TLB penalty by number of nodes</h3>")));
}

}  // namespace
}  // namespace gpusonde
