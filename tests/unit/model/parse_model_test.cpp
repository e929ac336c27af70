// What a model file may say, and what is said about files that are wrong: where, what, and the way out.
#include <gtest/gtest.h>

#include <string>

#include "model/device_model.hpp"

namespace gpusonde {
namespace {

const std::string k_good = R"(name = "card"
sm_count = 2
memory_bytes = "1 GiB"
[timing]
sm_mhz = 1000
[[cache]]
name = "l1"
ways = 4
sets = 64
hit = { sm_cycles = 30 }
[[cache]]
name = "l2"
scope = "gpu"
ways = 16
sets = 1024
slices = 2
hit = { sm_cycles = 200, fixed_ns = 10 }
[dram]
latency = { fixed_ns = 500 }
)";

std::string replaced(std::string text, const std::string& from, const std::string& to) {
  const auto at = text.find(from);
  EXPECT_NE(at, std::string::npos) << from;
  return text.replace(at, from.size(), to);
}

/// The message for the good file with one passage replaced.
std::string error_with(const std::string& from, const std::string& to) {
  const auto model = parse_model(replaced(k_good, from, to), "m.toml");
  if (model) return "no error";
  EXPECT_EQ(model.error().kind, ErrorKind::bad_input);
  return model.error().message;
}

TEST(ParseModel, FillsInWhatTheFileLeavesOut) {
  const auto model = parse_model(k_good, "some/where/m.toml");
  ASSERT_TRUE(model) << model.error().message;
  EXPECT_EQ(model->id, "m");
  EXPECT_EQ(model->origin, "some/where/m.toml");
  EXPECT_EQ(model->memory_bytes, 1ULL << 30);
  ASSERT_EQ(model->caches.size(), 2U);
  EXPECT_EQ(model->caches[0].line_bytes, 128U);
  EXPECT_EQ(model->caches[1].hit.cycles(1000), 210.0);
  EXPECT_EQ(model->caches[1].hit.cycles(2000), 220.0);
  EXPECT_TRUE(model->tlbs.empty());
  // Plain functions: lines go round the slices, then round the sets.
  for (std::uint64_t line = 0; line < 5000; ++line) {
    ASSERT_EQ(model->caches[0].set_function(line * 128), line % 64);
    ASSERT_EQ(model->caches[1].slice_function(line * 128), line % 2);
    ASSERT_EQ(model->caches[1].set_function(line * 128), line / 2 % 1024);
    ASSERT_EQ(model->dram.channel_function(line * 1024), line % 24);
    ASSERT_EQ(model->dram.bank_function(line * 1024), line / 24 % 16);
    ASSERT_EQ(model->dram.row_function(line * 1024), line / 384);
  }
}

TEST(ParseModel, NamesTheLineOfATomlError) {
  EXPECT_EQ(error_with("sm_count = 2", "sm_count = = 2").rfind("m.toml:2:12: not TOML: ", 0), 0U);
  EXPECT_EQ(error_with("name = \"card\"", "name = \"card").rfind("m.toml:1:", 0), 0U);
}

TEST(ParseModel, NamesTheNearestKey) {
  EXPECT_EQ(error_with("ways = 4", "wasy = 4"), "m.toml:8:1: 'wasy' is not a key of cache; did you mean 'ways'?");
  EXPECT_EQ(error_with("sm_mhz", "sm_mzh"), "m.toml:5:1: 'sm_mzh' is not a key of timing; did you mean 'sm_mhz'?");
  EXPECT_EQ(error_with("fixed_ns = 10", "fixed = 10"),
            "m.toml:17:26: 'fixed' is not a key of cache.hit; did you mean 'fixed_ns'?");
  EXPECT_EQ(error_with("[timing]", "[timings]"),
            "m.toml:4:2: 'timings' is not a key of a model; did you mean 'timing'?");
  EXPECT_EQ(error_with("[timing]", "[noise]\nxyzzy = 1\n[timing]"),
            "m.toml:5:1: 'xyzzy' is not a key of noise; its keys are run_fraction, hop_cycles");
}

TEST(ParseModel, AsksForWhatIsMissing) {
  EXPECT_EQ(error_with("sets = 64\n", ""), "m.toml:6:1: cache.sets is missing; give the sets of a slice");
  EXPECT_EQ(error_with("[dram]\nlatency = { fixed_ns = 500 }\n", ""),
            "m.toml:1:1: dram is missing; give a table [dram] with latency");
  EXPECT_EQ(error_with("latency = { fixed_ns = 500 }", ""),
            "m.toml:18:1: dram.latency is missing; give a latency such as { sm_cycles = 40, fixed_ns = 0 }");
}

TEST(ParseModel, NamesWrongTypes) {
  EXPECT_EQ(error_with("sm_mhz = 1000", "sm_mhz = \"fast\""), "m.toml:5:10: timing.sm_mhz is a text; give a number");
  EXPECT_EQ(error_with("ways = 4", "ways = 4.5"),
            "m.toml:8:8: cache.ways is a number with a fraction; give an integer");
  EXPECT_EQ(error_with("ways = 4", "ways = -4"), "m.toml:8:8: cache.ways is -4; give 0 or more");
  EXPECT_EQ(error_with("ways = 4", "ways = 4294967300"), "m.toml:8:8: cache.ways is 4294967300; give less than 2^32");
  EXPECT_EQ(error_with("\"1 GiB\"", "\"1 GB/s\""),
            "m.toml:3:16: memory_bytes: '1 GB/s' has an unknown unit; write a size such as 4KiB, 2MiB or 1GiB");
  EXPECT_EQ(error_with("\"1 GiB\"", "true"),
            "m.toml:3:16: memory_bytes is true or false; give bytes or a size such as \"128 KiB\"");
  EXPECT_EQ(error_with("{ sm_cycles = 30 }", "30"), "m.toml:10:7: cache.hit is an integer; give a table");
  EXPECT_EQ(error_with("scope = \"gpu\"", "scope = \"chip\""),
            "m.toml:13:9: cache.scope is 'chip'; give sm, tpc, cpc, gpc, partition or gpu");
  EXPECT_EQ(error_with("scope = \"gpu\"", "scope = 7"),
            "m.toml:13:9: cache.scope is an integer; give a text in quotes");
  EXPECT_EQ(error_with("scope = \"gpu\"", "replacement = \"plru\""),
            "m.toml:13:15: cache.replacement is 'plru'; give lru, fifo, tree-plru, nru, srrip or random");
  EXPECT_EQ(error_with("scope = \"gpu\"", "compute_capability = 8.9\nscope = \"gpu\"").substr(0, 20),
            "m.toml:13:1: 'comput");
  EXPECT_EQ(error_with("sm_count = 2", "sm_count = 2\ncompute_capability = \"new\""),
            "m.toml:3:22: compute_capability is not a compute capability; give one such as \"8.9\"");
}

TEST(ParseModel, PointsIntoHashPrograms) {
  EXPECT_EQ(
      error_with("sets = 64", "sets = 64\nset_function = '''\nx = a / 128\nreturn x %\n'''"),
      "m.toml:12:11: the end of line stands where a value should; write a, a name, a number, parity(...) or (...)");
  EXPECT_EQ(error_with("sets = 64", "sets = 64\nset_function = \"return b\""),
            "m.toml:10:24: 'b' is not defined; define it on a line above");
  EXPECT_EQ(error_with("sets = 64", "sets = 64\nset_function = '''return b'''"),
            "m.toml:10:26: 'b' is not defined; define it on a line above");
  EXPECT_EQ(error_with("sets = 64", "sets = 64\nset_function = '''x = 1\n  return b'''"),
            "m.toml:11:10: 'b' is not defined; define it on a line above");
  EXPECT_EQ(
      error_with("sets = 64", "sets = 64\nset_function = 5"),
      "m.toml:10:16: cache.set_function is an integer; give a program in quotes, such as \"return a / 128 % 64\"");
}

TEST(ParseModel, ChecksMasks) {
  EXPECT_EQ(error_with("sets = 64", "sets = 64\nset_masks = [0x80, 0x100]"),
            "m.toml:10:13: cache.set_masks has 2 masks for 64 values; give 6");
  EXPECT_EQ(error_with("sets = 64", "sets = 36\nset_masks = [0x80, 0x100]"),
            "m.toml:10:13: cache.set_masks has 2 masks for 36 values; write set_function instead");
  EXPECT_EQ(error_with("sets = 64", "sets = 64\nset_masks = [0x80, 0]"),
            "m.toml:10:20: cache.set_masks: the mask 0 selects no bit; give a mask above 0");
  EXPECT_EQ(error_with("sets = 64", "sets = 64\nset_masks = [1.5]"),
            "m.toml:10:14: cache.set_masks is a number with a fraction; give integers such as 0x80");
  EXPECT_EQ(error_with("sets = 64", "sets = 2\nset_function = \"return a / 128\"\nset_masks = [0x80]"),
            "m.toml:11:13: cache.set_masks stands beside set_function; give one of them");
}

TEST(ParseModel, PlacesWhatDoesNotHoldTogether) {
  EXPECT_EQ(error_with("ways = 4", "ways = 0"), "m.toml:8:8: l1.ways is 0; give at least 1");
  EXPECT_EQ(error_with("sets = 1024", "sets = 0"), "m.toml:15:8: l2.sets is 0; give at least 1");
  EXPECT_EQ(error_with("sets = 1024", "sets = 1048576"),
            "m.toml:15:8: l2.sets makes a cache of 4 GiB, larger than the memory; give fewer");
  EXPECT_EQ(error_with("sm_cycles = 30", "sm_cycles = 0"), "m.toml:10:7: l1.hit is 0 cycles; give more");
  EXPECT_EQ(error_with("sm_cycles = 30", "sm_cycles = -30"), "m.toml:10:7: l1.hit has sm_cycles -30; give 0 or more");
  EXPECT_EQ(error_with("sm_cycles = 200", "sm_cycles = 10"),
            "m.toml:17:7: l2.hit is 20.0 cycles at 1000 MHz; give more than the 30.0 of l1");
  EXPECT_EQ(error_with("fixed_ns = 500", "fixed_ns = 50"),
            "m.toml:19:11: dram.latency is 50.0 cycles at 1000 MHz; give more than the 210.0 of l2");
  EXPECT_EQ(error_with("sm_mhz = 1000", "sm_mhz = 0"),
            "m.toml:5:10: timing.sm_mhz is 0; give more than 0, at most 10000");
  EXPECT_EQ(error_with("sm_mhz = 1000", "sm_mhz = inf").substr(0, 27), "m.toml:5:10: timing.sm_mhz ");
  EXPECT_EQ(error_with("name = \"l2\"", "name = \"l3\""),
            "m.toml:12:8: l2.name is 'l3'; name the cache levels l1, l2, l3, nearest first");
  EXPECT_EQ(error_with("ways = 4", "line_bytes = 100\nways = 4"),
            "m.toml:8:14: l1.line_bytes is 100 B; give a power of two from 32 B to 4 KiB");
  EXPECT_EQ(error_with("[dram]", "[dram]\nrows = 100"),
            "m.toml:19:8: dram.rows is 100: all rows hold 39321600 bytes of the memory's 1073741824; give more");
}

TEST(ParseModel, FillsInWhatL2CanDo) {
  const auto plain = parse_model(k_good, "m.toml");
  ASSERT_TRUE(plain) << plain.error().message;
  const auto& l2 = plain->caches.at(1);
  EXPECT_EQ(l2.fetch_bytes, 0U);
  EXPECT_EQ(l2.fetched_bytes(), 32U);
  EXPECT_EQ(l2.lines_per_cycle, 0.5);
  EXPECT_EQ(l2.partitions, 1U);
  EXPECT_EQ(l2.far_cycles, 0);
  EXPECT_EQ(l2.atomic_cycles, 0);
  EXPECT_EQ(plain->timing.crossbar_lines_per_cycle, 2);
  EXPECT_EQ(plain->timing.crossbar_bytes_per_cycle, 0);
  EXPECT_EQ(plain->timing.shared_bytes_per_cycle, 128);
}

TEST(ParseModel, ReadsWhatL2CanDo) {
  const auto text = replaced(
      replaced(k_good, "slices = 2",
               "slices = 2\nfetch_bytes = \"64 B\"\nlines_per_cycle = 0.25\npartitions = 2\n"
               "home_masks = [0x2ab000]\nfar_cycles = 200\natomic_cycles = 12.5"),
      "sm_mhz = 1000",
      "sm_mhz = 1000\ncrossbar_lines_per_cycle = 1.5\ncrossbar_bytes_per_cycle = 48\nshared_bytes_per_cycle = 64");
  const auto given = parse_model(text, "m.toml");
  ASSERT_TRUE(given) << given.error().message;
  const auto& l2 = given->caches.at(1);
  EXPECT_EQ(l2.fetch_bytes, 64U);
  EXPECT_EQ(l2.fetched_bytes(), 64U);
  EXPECT_EQ(l2.lines_per_cycle, 0.25);
  EXPECT_EQ(l2.partitions, 2U);
  EXPECT_EQ(l2.far_cycles, 200);
  EXPECT_EQ(l2.atomic_cycles, 12.5);
  EXPECT_EQ(given->timing.crossbar_lines_per_cycle, 1.5);
  EXPECT_EQ(given->timing.crossbar_bytes_per_cycle, 48);
  EXPECT_EQ(given->timing.shared_bytes_per_cycle, 64);
  EXPECT_EQ(l2.home_function(0x2ab000), 0U);  // six bits
  EXPECT_EQ(l2.home_function(0x2aa000), 1U);
  EXPECT_EQ(l2.home_function(0x554fff), 0U);  // none of them
}

TEST(ParseModel, HomesAlternateWhereTheFileDoesNotSay) {
  const auto model = parse_model(replaced(k_good, "slices = 2", "slices = 2\npartitions = 2"), "m.toml");
  ASSERT_TRUE(model) << model.error().message;
  for (std::uint64_t line = 0; line < 100; ++line) ASSERT_EQ(model->caches.at(1).home_function(line * 128), line % 2);
}

/// The message for the good file with lines of their own after the slices of l2, from line 17 on.
std::string error_in_l2(const std::string& lines) { return error_with("slices = 2", "slices = 2\n" + lines); }

TEST(ParseModel, PlacesWhatL2CannotDo) {
  EXPECT_EQ(error_in_l2("fetch_bytes = 16"),
            "m.toml:17:15: l2.fetch_bytes is 16 B; give a power of two from 32 B to 128 B");
  EXPECT_EQ(error_in_l2("fetch_bytes = 256"),
            "m.toml:17:15: l2.fetch_bytes is 256 B; give a power of two from 32 B to 128 B");
  EXPECT_EQ(error_in_l2("fetch_bytes = 96"),
            "m.toml:17:15: l2.fetch_bytes is 96 B; give a power of two from 32 B to 128 B");
  EXPECT_EQ(error_in_l2("lines_per_cycle = 0"),
            "m.toml:17:19: l2.lines_per_cycle is 0; give more than 0, at most 1024");
  EXPECT_EQ(error_in_l2("lines_per_cycle = -1"),
            "m.toml:17:19: l2.lines_per_cycle is -1; give more than 0, at most 1024");
  EXPECT_EQ(error_in_l2("partitions = 0"), "m.toml:17:14: l2.partitions is 0; give 1 or 2");
  EXPECT_EQ(error_in_l2("partitions = 3"), "m.toml:17:14: l2.partitions is 3; give 1 or 2");
  EXPECT_EQ(error_in_l2("far_cycles = -1"), "m.toml:17:14: l2.far_cycles is -1; give 0 to 10000");
  EXPECT_EQ(error_in_l2("far_cycles = nan").substr(0, 27), "m.toml:17:14: l2.far_cycles");
  EXPECT_EQ(error_in_l2("atomic_cycles = 20000"), "m.toml:17:17: l2.atomic_cycles is 20000; give 0 to 10000");
  EXPECT_EQ(error_in_l2("atomic_cycles = \"slow\""), "m.toml:17:17: cache.atomic_cycles is a text; give a number");
  EXPECT_EQ(error_with("ways = 4", "ways = 4\npartitions = 2"),
            "m.toml:9:14: l1.partitions is 2 where the scope is not gpu; give it the scope gpu");
  EXPECT_EQ(error_with("sm_mhz = 1000", "sm_mhz = 1000\ncrossbar_lines_per_cycle = 0"),
            "m.toml:6:28: timing.crossbar_lines_per_cycle is 0; give more than 0, at most 1024");
  EXPECT_EQ(error_with("sm_mhz = 1000", "sm_mhz = 1000\ncrossbar_bytes_per_cycle = -1"),
            "m.toml:6:28: timing.crossbar_bytes_per_cycle is -1; give 0 to 65536");
  EXPECT_EQ(error_with("sm_mhz = 1000", "sm_mhz = 1000\nshared_bytes_per_cycle = 0"),
            "m.toml:6:26: timing.shared_bytes_per_cycle is 0; give more than 0, at most 65536");
}

TEST(ParseModel, PlacesHomesThatAreNone) {
  EXPECT_EQ(error_in_l2("partitions = 2\nhome_function = \"return 0\""),
            "m.toml:18:17: l2.home_function reaches only 1 of 2 values; make it reach all of them");
  EXPECT_EQ(error_in_l2("partitions = 2\nhome_masks = [0x1000, 0x2000]"),
            "m.toml:18:14: cache.home_masks has 2 masks for 2 values; give 1");
  EXPECT_EQ(error_in_l2("partitions = 2\nhome_masks = [0x7f]"),  // bits inside the line
            "m.toml:18:14: l2.home_function reaches only 1 of 2 values; make it reach all of them");
  EXPECT_EQ(error_in_l2("partitions = 2\nhome_function = \"return a / 128\"\nhome_masks = [0x1000]"),
            "m.toml:19:14: cache.home_masks stands beside home_function; give one of them");
}

TEST(ParseModel, PointsIntoSliceAndHomePrograms) {
  EXPECT_EQ(error_in_l2("slice_function = \"return a / 128 % p\""),
            "m.toml:17:36: 'p' is not defined; define it on a line above");
  EXPECT_EQ(error_in_l2("slice_function = '''\np = parity(a & 0x400)\nreturn p + q\n'''"),
            "m.toml:19:12: 'q' is not defined; define it on a line above");
  EXPECT_EQ(
      error_in_l2("set_function = '''\np = a / 128\nreturn p %\n'''"),
      "m.toml:19:11: the end of line stands where a value should; write a, a name, a number, parity(...) or (...)");
  EXPECT_EQ(error_in_l2("partitions = 2\nhome_function = '''\n  return b'''"),
            "m.toml:19:10: 'b' is not defined; define it on a line above");
  EXPECT_EQ(error_in_l2("slice_masks = [0x80, 0x100]"),
            "m.toml:17:15: cache.slice_masks has 2 masks for 2 values; give 1");
}

/// The good file with a TLB of 24 entries before [dram], in lines 18 to 23.
std::string with_tlb(const std::string& ways, const std::string& index) {
  return replaced(k_good, "[dram]",
                  "[[tlb]]\nentries = 24\n" + ways + "\nindex = " + index +
                      "\nspan_bytes = \"2 MiB\"\nmiss = { sm_cycles = 10 }\n[dram]");
}

std::string tlb_error(const std::string& ways, const std::string& index) {
  const auto model = parse_model(with_tlb(ways, index), "m.toml");
  if (model) return "no error";
  EXPECT_EQ(model.error().kind, ErrorKind::bad_input);
  return model.error().message;
}

TEST(ParseModel, ReadsHowATlbIsIndexed) {
  const auto folded = parse_model(with_tlb("ways = 3", "\"folded\""), "m.toml");
  ASSERT_TRUE(folded) << folded.error().message;
  EXPECT_EQ(folded->tlbs.at(0).index, TlbIndex::folded);
  const auto modulo = parse_model(with_tlb("ways = 4", "\"modulo\""), "m.toml");
  ASSERT_TRUE(modulo) << modulo.error().message;
  EXPECT_EQ(modulo->tlbs.at(0).index, TlbIndex::modulo);
  const auto unsaid = parse_model(replaced(with_tlb("", "\"folded\""), "index = \"folded\"", ""), "m.toml");
  ASSERT_TRUE(unsaid) << unsaid.error().message;
  EXPECT_EQ(unsaid->tlbs.at(0).index, TlbIndex::modulo);
}

TEST(ParseModel, AFoldedIndexNeedsAPowerOfTwoOfSets) {
  EXPECT_EQ(tlb_error("ways = 4", "\"folded\""),
            "m.toml:21:9: tlb 1.index is folded with 6 sets; give a power of two of them");
  EXPECT_EQ(tlb_error("ways = 4", "\"modulo\""), "no error");
  EXPECT_EQ(tlb_error("ways = 6", "\"folded\""), "no error");
  EXPECT_EQ(tlb_error("ways = 0", "\"folded\""), "no error");  // one set
  EXPECT_EQ(tlb_error("ways = 4", "\"hashed\""), "m.toml:21:9: tlb.index is 'hashed'; give modulo or folded");
  EXPECT_EQ(tlb_error("ways = 4", "7"), "m.toml:21:9: tlb.index is an integer; give a text in quotes");
}

TEST(ParseModel, ReadsHowSmsAreGrouped) {
  const auto plain = parse_model(k_good, "m.toml");
  ASSERT_TRUE(plain) << plain.error().message;
  EXPECT_EQ(plain->sms_per_tpc, 2U);
  EXPECT_EQ(plain->sms_per_cpc, 6U);
  EXPECT_EQ(plain->sms_per_gpc, 18U);
  const auto given = parse_model(
      replaced(k_good, "sm_count = 2", "sm_count = 2\nsms_per_tpc = 3\nsms_per_cpc = 9\nsms_per_gpc = 27"), "m.toml");
  ASSERT_TRUE(given) << given.error().message;
  EXPECT_EQ(given->sms_per_tpc, 3U);
  EXPECT_EQ(given->sms_per_cpc, 9U);
  EXPECT_EQ(given->sms_per_gpc, 27U);
}

TEST(ParseModel, AGpcIsMadeOfWholeTpcs) {
  EXPECT_EQ(error_with("sm_count = 2", "sm_count = 2\nsms_per_tpc = 3\nsms_per_gpc = 16"),
            "m.toml:4:15: sms_per_gpc is 16; give a multiple of the 3 SMs of a TPC");
  EXPECT_EQ(error_with("sm_count = 2", "sm_count = 2\nsms_per_cpc = 5"),
            "m.toml:3:15: sms_per_cpc is 5; give a multiple of the 2 SMs of a TPC");
  EXPECT_EQ(error_with("sm_count = 2", "sm_count = 2\nsms_per_tpc = 0"),
            "m.toml:3:15: sms_per_tpc is 0; give at least 1");
  EXPECT_EQ(error_with("sm_count = 2", "sm_count = 2\nsms_per_gpc = 2000"),
            "m.toml:3:15: sms_per_gpc is 2000; give at most 1024");
  EXPECT_EQ(error_with("sm_count = 2", "sm_count = 2\nsms_per_gpc = \"all\""),
            "m.toml:3:15: sms_per_gpc is a text; give an integer");
}

TEST(ParseModel, RefusesFunctionsThatLeaveSetsOut) {
  EXPECT_EQ(error_with("sets = 64", "sets = 64\nset_function = \"return a / 128 % 16\""),
            "m.toml:10:16: l1.set_function reaches only 16 of 64 values; make it reach all of them");
}

TEST(LoadModel, NamesTheFileOrTheBuiltInModels) {
  const auto missing = load_model("/nowhere/x.toml");
  ASSERT_FALSE(missing);
  EXPECT_EQ(missing.error().message,
            "cannot read the model /nowhere/x.toml: No such file or directory; check the path");
  const auto folder = load_model("/");
  ASSERT_FALSE(folder);
  EXPECT_EQ(folder.error().message, "/ is a folder; name a model file in it");
  const auto unknown = find_model("rtx9999");
  ASSERT_FALSE(unknown);
  EXPECT_EQ(unknown.error().message,
            "no model is named 'rtx9999'; the built-in ones are rtx4090, rtx5080, l40s, h200, or give a path that ends "
            "in .toml");
}

}  // namespace
}  // namespace gpusonde
