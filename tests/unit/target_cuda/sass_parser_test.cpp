// Both disassemblers' text, taken apart.
#include "target/cuda/sass_parser.hpp"

#include <gtest/gtest.h>

#include "sass_excerpts.hpp"

namespace gpusonde::cuda {
namespace {

TEST(SassParser, ReadsNvdisasm) {
  const auto functions = parse_sass(test::k_chase_ca_pointer);
  ASSERT_EQ(functions.size(), 1U);
  EXPECT_EQ(functions[0].name, "chase_ca_pointer");
  ASSERT_EQ(functions[0].instructions.size(), 89U);
  const auto& load = functions[0].instructions[1];
  EXPECT_EQ(load.address, 0x10U);
  EXPECT_EQ(load.guard, "");
  EXPECT_EQ(load.opcode, "LDG.E.64.STRONG.SM");
  EXPECT_EQ(load.operands, "R4, desc[UR4][R4.64]");
  const auto& branch = functions[0].instructions[71];
  EXPECT_EQ(branch.guard, "@P0");
  EXPECT_EQ(branch.opcode, "BRA");
  EXPECT_EQ(branch.target, 0x60U);
}

TEST(SassParser, ReadsCuobjdump) {
  const auto functions = parse_sass(test::k_chase_cg_index_timed);
  ASSERT_EQ(functions.size(), 1U);
  EXPECT_EQ(functions[0].name, "chase_cg_index_timed");
  ASSERT_EQ(functions[0].instructions.size(), 12U);
  EXPECT_EQ(functions[0].instructions[9].target, 0x10U);
  EXPECT_EQ(functions[0].instructions[3].opcode, "LDG.E.STRONG.GPU");
}

TEST(SassParser, LabelsBelongToTheirFunction) {
  const auto two = test::k_chase_ca_pointer + test::replaced(test::k_chase_ca_pointer, "ca_pointer", "cg_pointer");
  const auto functions = parse_sass(two);
  ASSERT_EQ(functions.size(), 2U);
  EXPECT_EQ(functions[1].name, "chase_cg_pointer");
  EXPECT_EQ(functions[0].instructions[71].target, functions[1].instructions[71].target);
}

TEST(SassParser, FindsTheArchitecture) {
  EXPECT_EQ(sass_architecture(test::k_chase_ca_pointer), "sm_90");
  EXPECT_EQ(sass_architecture(test::k_chase_cg_index_timed), "sm_90");
  EXPECT_EQ(sass_architecture("\t.target\tsm_120\n"), "sm_120");
  EXPECT_EQ(sass_architecture("nothing"), "");
}

TEST(SassParser, TellsRegistersApart) {
  const SassInstruction i{
      .address = 0, .guard = {}, .opcode = "IADD3", .operands = "R1, P0, R12, UR7, R3.reuse", .target = {}};
  EXPECT_TRUE(reads_register(i, 12));
  EXPECT_TRUE(reads_register(i, 3));
  EXPECT_FALSE(reads_register(i, 1)) << "the destination; R12 is another";
  EXPECT_FALSE(reads_register(i, 7)) << "UR7 is another";
  EXPECT_EQ(destination_register(i), 1U);
}

TEST(SassParser, AnythingElseIsNothing) {
  for (const char* text : {"", "\n\n", "/*", "/*0000*/", ".L:\n", ".text.:", "Function : \n/*00*/ ;", "/*zz*/ X ;"})
    for (const auto& function : parse_sass(text)) EXPECT_LE(function.instructions.size(), 1U) << text;
}

}  // namespace
}  // namespace gpusonde::cuda
