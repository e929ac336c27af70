// What `cache` and `slices` say on a terminal, and how the survey shows the same findings.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <sstream>

#include "map_sample.hpp"
#include "report/finding_text.hpp"
#include "report/quantity.hpp"
#include "report/report.hpp"
#include "report/text_table.hpp"

namespace gpusonde {
namespace {

using testing::ContainsRegex;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;

using Names = std::vector<std::string>;

Names lines(const std::string& text) {
  Names out;
  std::istringstream stream(text);
  for (std::string line; std::getline(stream, line);) out.push_back(line);
  return out;
}

Finding number(const char* id, const char* unit, double value) {
  return sample::ok(id, unit, value, value, value, "#/measurements/cache.lines");
}

Finding named(const char* id, const char* unit, FindingValue value,
              const char* evidence = "#/measurements/cache.sets") {
  Finding finding;
  finding.id = id;
  finding.unit = unit;
  finding.outcome = Outcome::ok;
  finding.value = std::move(value);
  finding.evidence = evidence;
  return finding;
}

const Names k_masks{"0x2ab000", "0x15400080"};
const std::string k_program = "q = a / 1152\nb0 = parity(a & 0x80)\n  ^ parity(q & 0xe500)\nreturn b0\n";

Run l1_run() {
  gpusonde::Run run;
  run.device.name = "Testchip";
  run.device.kind = DeviceKind::cuda;
  run.findings = {sample::ok("l1.capacity", "bytes", 131072, 131072, 131072),
                  number("l1.line_size", "bytes", 128),
                  number("l1.sector_size", "bytes", 32),
                  number("l1.ways", "count", 4),
                  number("l1.sets", "count", 256),
                  number("l1.geometry_bytes", "bytes", 131072),
                  named("l1.set_masks", "hex list", k_masks)};
  return run;
}

TEST(CacheText, OneFindingALineWithMasksAndTheirBits) {
  EXPECT_THAT(lines(cache_text(l1_run(), {})), ElementsAre("Testchip", "", "L1",                                   //
                                                           "  line size           128 B    =",                     //
                                                           "  sector size         32 B     =",                     //
                                                           "  ways                4        =",                     //
                                                           "  sets                256      =",                     //
                                                           "  ways × sets × line  128 KiB  =",                     //
                                                           "    as l1.capacity, 128 KiB, measured apart from it",  //
                                                           "  set masks           2 masks",                        //
                                                           "    0x2ab000    bits 12 13 15 17 19 21",               //
                                                           "    0x15400080  bits 7 22 24 26 28"));
}

TEST(CacheText, AProgramKeepsItsLines) {
  gpusonde::Run run;
  run.findings = {named("l2.set_function", "text", k_program)};
  EXPECT_THAT(cache_text(run, {}), HasSubstr("L2\n"
                                             "  set function  4 lines\n"
                                             "    q = a / 1152\n"
                                             "    b0 = parity(a & 0x80)\n"
                                             "      ^ parity(q & 0xe500)\n"
                                             "    return b0\n"));
}

TEST(CacheText, TheCapacityIsHeldAgainstWhatWasMeasured) {
  auto run = l1_run();
  run.findings[0] = sample::ok("l1.capacity", "bytes", 123 * 1024, 122 * 1024, 124 * 1024);
  EXPECT_THAT(cache_text(run, {}), HasSubstr("    5 KiB more than l1.capacity, 123 KiB, measured apart from it\n"));
  run.findings[0] = sample::ok("l1.capacity", "bytes", 150 * 1024, 150 * 1024, 150 * 1024);
  EXPECT_THAT(cache_text(run, {}), HasSubstr("    22 KiB less than l1.capacity, 150 KiB, measured apart from it\n"));
  run.findings[0] = sample::ok("l1.capacity", "bytes", 130 * 1024, 126 * 1024, 134 * 1024);
  EXPECT_THAT(cache_text(run, {}), HasSubstr("    as l1.capacity, 130 KiB, measured apart from it\n"));
  run.findings[0] = sample::not_ok("l1.capacity", "bytes", Outcome::inconclusive, "noise");
  EXPECT_THAT(cache_text(run, {}), HasSubstr("    no l1.capacity was measured to hold it against\n"));
}

TEST(CacheText, TruthIsMarkedAndAnIntervalShown) {
  auto run = l1_run();
  run.findings[3] = sample::with_truth(number("l1.ways", "count", 4), 4);
  run.findings[4] = sample::with_truth(sample::ok("l1.sets", "count", 256, 250, 260), 512);
  run.findings[6].truth = Names{"0x2ab000", "0x40"};
  run.findings[6].agrees = false;
  const auto text = cache_text(run, {});
  EXPECT_THAT(text, ContainsRegex("\n  ways +4 += +✓\n"));
  EXPECT_THAT(text, ContainsRegex("\n  sets +256 +250 to 260 +✗ the model has 512\n"));
  EXPECT_THAT(text, ContainsRegex("\n  set masks +2 masks +✗ the model has another, below\n"));
  EXPECT_THAT(text, HasSubstr("    0x15400080  bits 7 22 24 26 28\n    the model has\n"
                              "    0x2ab000  bits 12 13 15 17 19 21\n    0x40      bits 6\n"));
  for (const char* mark : {"✓", "✗", "model"}) EXPECT_THAT(cache_text(l1_run(), {}), Not(HasSubstr(mark)));
}

TEST(CacheText, AReasonStandsInPlace) {
  auto run = l1_run();
  run.findings[3] = sample::not_ok("l1.ways", "count", Outcome::inconclusive, "sets of 4 and of 8 fit as well");
  run.findings[3].truth = 4.0;
  const auto text = cache_text(run, {});
  EXPECT_THAT(text,
              ContainsRegex("\n  ways +inconclusive +the model has 4\n    sets of 4 and of 8 fit as well\n  sets "));
}

TEST(CacheText, SaysWhatAFindingRestsOn) {
  auto run = l1_run();
  run.findings[1].samples = {{"because", std::string("the step is at 128 B")}, {"strides", 12.0}};
  run.findings[2].samples = {{"a", 1.0}, {"b_c", 2.5}, {"d", std::string("x")}, {"e", 4.0}, {"f", 5.0}, {"g", 6.0}};
  const auto text = cache_text(run, {});
  EXPECT_THAT(text, HasSubstr("    because the step is at 128 B\n    because strides 12\n"));
  EXPECT_THAT(text, HasSubstr("    because a 1 · b c 2.5 · d x · e 4 · 2 more in run.json\n"));
}

TEST(CacheText, ClassesAreCountedByLevel) {
  auto run = l1_run();
  auto& table = run.measurements.table("derived.cache.sets");
  for (std::uint64_t i = 0; i < 12; ++i) {
    table.make<std::string>("level").emplace_back(i < 10 ? "l1" : "l2");
    table.make<std::uint64_t>("class").push_back(i);
    table.make<std::uint64_t>("lines").push_back(i < 10 ? 5 + i % 3 : 16);
  }
  const auto text = cache_text(run, {});
  EXPECT_THAT(text, HasSubstr("  10 classes of lines that put each other out, 5 to 7 lines in each\n"));
  EXPECT_THAT(text, HasSubstr("L2\n  2 classes of lines that put each other out, 16 lines in each\n"));
}

TEST(CacheText, OnlyGeometryAndWhatRestsOnItsTables) {
  auto run = l1_run();
  run.findings.push_back(sample::ok("l1.hit_latency", "cycles", 32, 32, 32));
  run.findings.push_back(named("l1.allocation", "name", std::string("read"), "#/measurements/derived.cache.sets"));
  const auto text = cache_text(run, {});
  EXPECT_THAT(text, Not(HasSubstr("latency")));
  EXPECT_THAT(text, ContainsRegex("\n  allocation +read\n"));
  EXPECT_EQ(lines(cache_text(gpusonde::Run{}, {})).back(), "nothing was measured");
}

TEST(SlicesText, FunctionsAndSides) {
  auto run = sample::mapped({8, 64, 4});
  run.measurements.table("derived.slices.sms").make<double>("side")[6] = sample::k_nan;
  run.measurements.table("derived.slices.lines").make<double>("slice")[0] = sample::k_nan;
  run.findings = {named("l2.slice_function", "text", k_program, "#/measurements/slices.load"),
                  sample::ok("l2.slices", "count", 4, 4, 4, "#/measurements/slices.load"),
                  named("l2.home_mask", "hex", std::string("0x2ab000"), "#/measurements/slices.load"),
                  number("l2.ways", "count", 16)};
  EXPECT_THAT(lines(slices_text(run, {})),
              ElementsAre("Testchip · SM 1980 MHz", "",     //
                          "  slices          4         =",  //
                          "  home mask       0x2ab000",     //
                          "    bits 12 13 15 17 19 21",     //
                          "  slice function  4 lines",      //
                          "    q = a / 1152", "    b0 = parity(a & 0x80)", "      ^ parity(q & 0xe500)",
                          "    return b0", "",                                      //
                          "SMs by side", "  side 0  3 SMs, mean 240.0 cyc: 0 2 4",  //
                          "  side 1  4 SMs, mean 240.0 cyc: 1 3 5 7",               //
                          "  not known  1 SM, mean 240.0 cyc: 6", "",               //
                          "64 lines · 33 at home on side 0 · 31 at home on side 1 · 1 in no clear slice"));
  EXPECT_EQ(lines(slices_text(gpusonde::Run{}, {})).back(), "nothing was measured");
}

TEST(SlicesText, SmsThatFollowEachOtherAreOneRange) {
  gpusonde::Run run;
  auto& table = run.measurements.table("derived.slices.sms");
  for (std::uint64_t sm = 0; sm < 12; ++sm) {
    table.make<std::uint64_t>("sm").push_back(sm);
    table.make<double>("side").push_back(sm / 4 == 1 || sm == 11 ? 1 : 0);
    table.make<double>("mean_cycles").push_back(200);
  }
  const auto text = slices_text(run, {});
  EXPECT_THAT(text, HasSubstr("  side 0  7 SMs, mean 200.0 cyc: 0-3 8-10\n"));
  EXPECT_THAT(text, HasSubstr("  side 1  5 SMs, mean 200.0 cyc: 4-7 11\n"));
}

/// All of it in one: long lists, long reasons, markup.
Run long_run() {
  auto run = l1_run();
  Names masks;
  for (std::uint64_t i = 1; i < 14; ++i) masks.push_back("0x" + std::to_string(123456789012 * i));
  run.findings[6].value = masks;
  run.findings.push_back(
      sample::not_ok("l1.replacement", "name", Outcome::inconclusive,
                     std::string(30, 'x') + " and " + std::string(30, 'y') + " both explain the 512 sequences seen"));
  run.findings.push_back(named("l2.set_function", "text", k_program));
  run.findings[1].samples = {{"because", std::string("x\x1b[2Jy\x07 and so on and so forth until the line is full")}};
  return run;
}

TEST(CacheText, KeepsWithinTheWidthInAsciiAndWithoutControlCharacters) {
  for (const unsigned width : {60U, 80U, 100U, 160U})
    for (const auto& line : lines(cache_text(long_run(), {.width = width})))
      EXPECT_LE(report::display_width(line), width) << line;
  const auto plain = cache_text(long_run(), {.unicode = false});
  EXPECT_TRUE(std::all_of(plain.begin(), plain.end(), [](char c) { return c == '\n' || (c >= ' ' && c <= '~'); }));
  EXPECT_THAT(plain, HasSubstr("ways x sets x line"));
  EXPECT_THAT(cache_text(long_run(), {.color = true}), HasSubstr("\x1b[1mL1\x1b[0m\n"));
}

TEST(TextReport, MasksAndProgramsDoNotBreakTheTable) {
  const auto text = text_report(long_run(), {});
  for (const auto& line : lines(text)) EXPECT_LE(report::display_width(line), 100U) << line;
  EXPECT_THAT(text, ContainsRegex("\n  l1.set_masks +0x123456789012, … \\(13 in all\\)\n"));
  EXPECT_THAT(text, ContainsRegex("\n  l2.set_function +q = a / 1152 \\(4 lines\\)\n"));
  EXPECT_THAT(text_report(l1_run(), {}), ContainsRegex("\n  l1.set_masks +0x2ab000, 0x15400080\n"));
}

TEST(TextReport, TheGeometryOfBothCaches) {
  auto run = l1_run();
  for (const auto& [id, value] :
       {std::pair{"l2.slices", 36}, std::pair{"l2.ways", 16}, std::pair{"l2.sets_per_slice", 1024}})
    run.findings.push_back(number(id, "count", value));
  run.findings.push_back(number("l2.line_size", "bytes", 128));
  run.findings.push_back(number("l2.sector_size", "bytes", 32));
  EXPECT_THAT(text_report(run, {}), HasSubstr("4 ways × 256 sets × 128 B / 32 B"));
  EXPECT_THAT(text_report(run, {}), HasSubstr("36 slices × 1024 × 16 × 128 B / 32 B"));
  // With one missing each number says what it counts.
  run.findings[7] = sample::not_ok("l2.slices", "count", Outcome::skipped, "not asked for");
  EXPECT_THAT(text_report(run, {}), HasSubstr("16 ways × 1024 sets a slice × 128 B / 32 B"));
}

TEST(Quantity, CompactIsOneShortLine) {
  using report::compact;
  EXPECT_EQ(compact(4096.0, "bytes"), "4 KiB");
  EXPECT_EQ(compact(std::string("lru"), "name"), "lru");
  EXPECT_EQ(compact(Names{"lru", "fifo"}, "name"), "lru, fifo");
  EXPECT_EQ(compact(Names(20, "0x12345"), "hex"), "0x12345, … (20 in all)");
  EXPECT_EQ(compact(std::string("one\ntwo"), "text"), "one (2 lines)");
  EXPECT_EQ(compact(std::string("one\n"), "text"), "one");
  EXPECT_EQ(report::display_width(compact(std::string(90, 'x'), "text")), 40U);
  EXPECT_EQ(report::display_width(compact(std::string("×") + std::string(90, 'x'), "text")), 40U);
}

TEST(FindingText, BitsOfHexadecimalNumbersOnly) {
  EXPECT_EQ(report::bits_of("0x2ab000"), "12 13 15 17 19 21");
  EXPECT_EQ(report::bits_of("0x8000000000000001"), "0 63");
  EXPECT_EQ(report::bits_of("0x0"), "none");
  for (const char* text : {"", "2ab000", "0x", "0xzz", "0x10000000000000000", "0x1 "})
    EXPECT_EQ(report::bits_of(text), "") << text;
}

}  // namespace
}  // namespace gpusonde
