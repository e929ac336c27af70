// What `map` says on a terminal.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <regex>
#include <sstream>

#include "map_sample.hpp"
#include "report/report.hpp"
#include "report/text_table.hpp"

namespace gpusonde {
namespace {

using testing::ContainsRegex;
using testing::HasSubstr;
using testing::Not;

std::vector<std::string> lines(const std::string& text) {
  std::vector<std::string> out;
  std::istringstream stream(text);
  for (std::string line; std::getline(stream, line);) out.push_back(line);
  return out;
}

std::string uncolored(const std::string& text) { return std::regex_replace(text, std::regex("\x1b\\[[0-9;]*m"), ""); }

TEST(MapText, CountsThenTheMapBySides) {
  const auto all = lines(map_text(sample::mapped(), {.unicode = false}));
  // Slices 0 and 1 at home on side 0 have 33 of the 64 lines; the others are 80 cycles away.
  const std::string near(33, ' '), far(33, '@'), near_too(31, ' '), far_too(31, '@');
  const std::vector<std::string> wanted{"Testchip, SM 1980 MHz",
                                        "",
                                        "8 SMs x 64 lines, 200.0 to 283.0 cycles, mean 241.5",
                                        "4 slices of 15 to 17 lines, lines by side: 33 + 31, SMs by side: 4 + 4",
                                        "",
                                        "        SM at home on side 0                |at home on side 1",
                                        "side 0   0 " + near + "|" + far_too,
                                        "         2 " + near + "|" + far_too,
                                        "         4 " + near + "|" + far_too,
                                        "         6 " + near + "|" + far_too,
                                        "",
                                        "side 1   1 " + far + "|" + near_too,
                                        "         3 " + far + "|" + near_too,
                                        "         5 " + far + "|" + near_too,
                                        "         7 " + far + "|" + near_too,
                                        "",
                                        "200.0 [ .:-=+*#%@] 283.0 cycles",
                                        "a cell is 1 SM by 1 line"};
  EXPECT_EQ(all, wanted);
}

TEST(MapText, ShadesAndColours) {
  const auto shaded = map_text(sample::mapped(), {});
  EXPECT_THAT(shaded, HasSubstr("side 1   1 █████████"));
  EXPECT_THAT(shaded, HasSubstr("200.0 [ ░▒▓█] 283.0 cycles"));
  EXPECT_THAT(shaded, Not(HasSubstr("\x1b")));
  const auto colored = map_text(sample::mapped(), {.color = true});
  EXPECT_THAT(colored, HasSubstr("side 0   0 \x1b[48;5;53m" + std::string(33, ' ') + "\x1b[0m│\x1b[48;5;220m" +
                                 std::string(31, ' ') + "\x1b[0m\n"));
  for (const auto& line : lines(colored))
    EXPECT_EQ(line.rfind("\x1b["), line.rfind("\x1b[0m")) << "no colour reaches over the end of " << line;
}

TEST(MapText, ManySmsAndLinesFitTheWindow) {
  for (const auto& shape : {sample::MapShape{144, 9000, 96}, sample::MapShape{300, 50, 2}, sample::MapShape{3, 1, 1}}) {
    for (const unsigned width : {40U, 61U, 80U, 100U, 200U}) {
      for (const bool color : {false, true}) {
        const auto text = map_text(sample::mapped(shape), {.color = color, .width = width});
        for (const auto& line : lines(text)) EXPECT_LE(report::display_width(uncolored(line)), width) << line;
        EXPECT_LE(lines(text).size(), 40U + 15U) << "40 rows and what stands around them";
      }
    }
  }
  EXPECT_THAT(map_text(sample::mapped({144, 9000, 96}), {}),
              ContainsRegex("a cell is the mean of 3 to 4 SMs by [0-9]+ to [0-9]+ lines"));
}

TEST(MapText, WhatIsNotKnownIsSaid) {
  gpusonde::Run run;
  sample::add_map(run, {2, 4, 2});
  auto text = map_text(run, {});
  EXPECT_THAT(text, HasSubstr("neither slices nor sides are known\n"));
  EXPECT_THAT(text, HasSubstr("a cell is 1 SM by 1 line, in the order measured\n"));
  EXPECT_THAT(text, Not(HasSubstr("side 0")));
  run = sample::mapped();
  run.measurements.table("derived.slices.lines").make<double>("slice")[3] = sample::k_nan;
  EXPECT_THAT(map_text(run, {}), HasSubstr(" lines, 1 in no clear slice"));
  EXPECT_EQ(lines(map_text(gpusonde::Run{}, {})).back(), "nothing was measured");
}

TEST(MapText, APlaceThatWasNotReadIsAQuestionMark) {
  gpusonde::Run run;
  sample::add_map(run, {2, 6, 2});
  run.measurements.table("slices.load").make<std::uint64_t>("sm_1_eighth_cycles")[4] = 0;
  EXPECT_THAT(map_text(run, {}), ContainsRegex("\n 1 [^?\n]*\\?[^?\n]*\n"));
  EXPECT_THAT(uncolored(map_text(run, {.color = true})), HasSubstr("\n 1     ? \n"));
}

TEST(MapText, OneLatencyEverywhereAndAtomics) {
  gpusonde::Run run;
  auto& table = run.measurements.table("slices.atomic");
  table.make<std::uint64_t>("place_bytes") = {0, 128};
  table.make<std::uint64_t>("sm_0_eighth_cycles") = {2000, 2000};
  const auto text = map_text(run, {});
  EXPECT_THAT(text, HasSubstr("atomics: 1 SM × 2 lines · 250.0 to 250.0 cycles · mean 250.0\n"));
  EXPECT_THAT(text, HasSubstr("\n250.0 cycles everywhere\n"));
  auto both = sample::mapped();
  sample::add_map(both, {8, 16, 4}, "slices.atomic");
  EXPECT_THAT(map_text(both, {}), HasSubstr("\n8 SMs × 64 lines"));
  EXPECT_THAT(map_text(both, {}), HasSubstr("\natomics: 8 SMs × 16 lines"));
}

TEST(MapText, AsciiAndNoControlCharacters) {
  auto run = sample::mapped();
  run.device.name = "x\x1b[2Jy\x07";
  EXPECT_THAT(map_text(run, {}), Not(ContainsRegex("[\x1b\x07]")));
  const auto plain = map_text(run, {.unicode = false});
  EXPECT_TRUE(std::all_of(plain.begin(), plain.end(), [](char c) { return c == '\n' || (c >= ' ' && c <= '~'); }));
}

}  // namespace
}  // namespace gpusonde
