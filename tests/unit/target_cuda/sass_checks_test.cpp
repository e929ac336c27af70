// The checks pass on good machine code, and each fails on the one fault it is for.
#include "target/cuda/sass_checks.hpp"

#include <gtest/gtest.h>

#include "sass_excerpts.hpp"

namespace gpusonde::cuda {
namespace {

std::vector<SassCheck> checks_of(const std::string& text) { return check_sass(parse_sass(text).front()); }

std::vector<bool> passed(const std::vector<SassCheck>& checks) {
  std::vector<bool> all;
  for (const auto& check : checks) all.push_back(check.passed);
  return all;
}

// Order of the checks of a chase: form of the loads, their number, the wait.
const std::vector<bool> k_all{true, true, true};
const std::vector<bool> k_form_fails{false, true, true};
const std::vector<bool> k_count_fails{true, false, true};
const std::vector<bool> k_wait_fails{true, true, false};

TEST(SassChecks, AGoodChasePasses) {
  EXPECT_EQ(passed(checks_of(test::k_chase_ca_pointer)), k_all);
  EXPECT_EQ(passed(checks_of(test::k_chase_cg_index_timed)), k_all);
}

TEST(SassChecks, AnotherCacheOperatorFails) {
  const auto checks = checks_of(test::replaced(test::k_chase_ca_pointer, "STRONG.SM", "STRONG.GPU"));
  EXPECT_EQ(passed(checks), k_form_fails);
  EXPECT_EQ(checks[0].detail, "LDG.E.64.STRONG.GPU");
}

TEST(SassChecks, OneWrongLoadAmongManyFails) {
  const std::string good = "LDG.E.64.STRONG.SM R12, desc[UR12][R24.64]";
  EXPECT_EQ(
      passed(checks_of(test::replaced(test::k_chase_ca_pointer, good, "LDG.E.64.CONSTANT R12, desc[UR12][R24.64]"))),
      k_form_fails);
}

TEST(SassChecks, ThePartsOfAnOpcodeMayComeInAnyOrder) {
  EXPECT_EQ(passed(checks_of(test::replaced(test::k_chase_ca_pointer, "LDG.E.64.STRONG.SM", "LDG.E.STRONG.SM.64"))),
            k_all);
}

TEST(SassChecks, AnIndexLoadOf64BitsFails) {
  EXPECT_EQ(passed(checks_of(test::replaced(test::k_chase_cg_index_timed, "LDG.E.STRONG", "LDG.E.64.STRONG"))),
            k_form_fails);
}

TEST(SassChecks, ALostLoadFails) {
  const std::string line = "        /*04a0*/                   LDG.E.64.STRONG.SM R22, desc[UR12][R20.64] ;\n";
  ASSERT_NE(test::k_chase_ca_pointer.find(line), std::string::npos);
  EXPECT_EQ(passed(checks_of(test::replaced(test::k_chase_ca_pointer, line, ""))), k_count_fails);
}

TEST(SassChecks, AClockReadThatDoesNotWaitFails) {
  const auto early =
      test::replaced(test::k_chase_ca_pointer, "ISETP.NE.U32.AND P0, PT, R12,", "ISETP.NE.U32.AND P0, PT, R20,");
  EXPECT_EQ(passed(checks_of(early)), k_wait_fails);
  const auto timed = test::replaced(test::k_chase_cg_index_timed, "PT, R17, -0x1", "PT, R18, -0x1");
  EXPECT_EQ(passed(checks_of(timed)), k_wait_fails);
}

TEST(SassChecks, TwoLoadsInOneHopFail) {
  const auto two = test::replaced(test::k_chase_cg_index_timed, "        /*0040*/ ",
                                  "        /*0038*/ LDG.E.STRONG.GPU R17, desc[UR4][R14.64] ;\n        /*0040*/ ");
  EXPECT_EQ(passed(checks_of(two)), (std::vector<bool>{true, false, true}));
}

TEST(SassChecks, AReaderInALoopThatMayBeSkippedIsNoWait) {
  const auto only_in_short_loop = test::replaced(
      test::replaced(test::k_chase_ca_pointer, "ISETP.NE.U32.AND P0, PT, R12,", "ISETP.NE.U32.AND P0, PT, R40,"),
      "/*0510*/                   ISETP.NE.AND P0, PT, RZ, UR5",
      "/*0510*/                   ISETP.NE.AND P0, PT, R12, UR5");
  EXPECT_EQ(passed(checks_of(only_in_short_loop)), k_wait_fails);
}

TEST(SassChecks, NoLoopIsOneFailure) {
  const auto checks = checks_of(test::replaced(test::k_chase_ca_pointer, "LDG", "MOV"));
  ASSERT_EQ(checks.size(), 1U);
  EXPECT_FALSE(checks[0].passed);
}

TEST(SassChecks, EachPathHasItsForm) {
  const auto as = [](const std::string& kernel, const std::string& opcode) {
    return checks_of(test::replaced(test::replaced(test::k_chase_ca_pointer, "chase_ca_pointer", kernel),
                                    "LDG.E.64.STRONG.SM", opcode))[0]
        .passed;
  };
  EXPECT_TRUE(as("chase_cg_pointer", "LDG.E.64.STRONG.GPU"));
  EXPECT_TRUE(as("chase_cv_pointer", "LDG.E.64.STRONG.SYS"));
  EXPECT_TRUE(as("chase_nc_pointer", "LDG.E.64.CONSTANT"));
  EXPECT_TRUE(as("chase_shared_pointer", "LDS.64"));
  EXPECT_TRUE(as("chase_ca_pointer", "LDG.E.64"));
  EXPECT_FALSE(as("chase_cg_pointer", "LDG.E.64"));
  EXPECT_FALSE(as("chase_nc_pointer", "LDG.E.64.STRONG.GPU"));
  EXPECT_FALSE(as("chase_shared_pointer", "LDG.E.64"));
  EXPECT_FALSE(as("chase_cv_pointer", "LDG.E.64.STRONG.GPU"));
}

TEST(SassChecks, AGoodSequencePasses) {
  EXPECT_EQ(passed(checks_of(test::k_sequence_cg)), k_all);
  EXPECT_EQ(
      passed(checks_of(test::replaced(test::replaced(test::k_sequence_cg, "text.sequence_cg", "text.sequence_cg_64"),
                                      "LDG.E.64.STRONG.GPU R12", "LDG.E.LTC64B.64.STRONG.GPU R12"))),
      k_all);
  EXPECT_EQ(passed(checks_of(test::replaced(test::replaced(test::k_sequence_cg, "text.sequence_cg", "text.sequence_ca"),
                                            "LDG.E.64.STRONG.GPU R12", "LDG.E.64.STRONG.SM R12"))),
            k_all);
}

TEST(SassChecks, ASequencesLoadOfAnotherFormFails) {
  EXPECT_EQ(passed(checks_of(test::replaced(test::k_sequence_cg, "LDG.E.64.STRONG.GPU R12", "LDG.E.64.STRONG.SM R12"))),
            k_form_fails);
  EXPECT_EQ(passed(checks_of(test::replaced(test::k_sequence_cg, "LDG.E.64.STRONG.GPU R12", "LDG.E.STRONG.SYS R12"))),
            k_form_fails);
  // Nothing reads the upper half, and ptxas drops it on an H200.
  EXPECT_EQ(passed(checks_of(test::replaced(test::k_sequence_cg, "LDG.E.64.STRONG.GPU R12", "LDG.E.STRONG.GPU R12"))),
            k_all);
  // The place that is read before the clock has its own form, whatever the path.
  EXPECT_EQ(passed(checks_of(test::replaced(test::k_sequence_cg, "LDG.E.64.STRONG.GPU R8", "LDG.E.64.STRONG.SM R8"))),
            k_all);
}

TEST(SassChecks, ASequenceWithMoreOrLessThanOneTimedLoadFails) {
  const auto without = checks_of(test::replaced(test::k_sequence_cg, "LDG.E.64.STRONG.GPU R12", "MOV R12"));
  ASSERT_EQ(without.size(), 1U);
  EXPECT_FALSE(without[0].passed);
  EXPECT_EQ(without[0].detail, "CC");
  const auto two = checks_of(test::replaced(test::k_sequence_cg, "        /*0050*/ ",
                                            "        /*0048*/ LDG.E.64.STRONG.GPU R20, desc[UR4][R8.64] ;\n"
                                            "        /*0050*/ "));
  ASSERT_EQ(two.size(), 1U);
  EXPECT_FALSE(two[0].passed);
  EXPECT_EQ(two[0].detail, "CLLC");
  const auto untimed = checks_of(test::replaced(test::k_sequence_cg, "SR_CLOCKLO", "SR_LANEID"));
  ASSERT_EQ(untimed.size(), 1U);
  EXPECT_FALSE(untimed[0].passed);
}

// A gather of each width follows, with a place brought before each.
TEST(SassChecks, EveryTimedLoadOfASequenceCounts) {
  const auto with = [](const std::string& load, const std::string& reader) {
    return test::replaced(test::k_sequence_cg, "        /*00b0*/ ",
                          "        /*00a1*/ LDG.E.64.STRONG.GPU R8, desc[UR4][R4.64] ;\n"
                          "        /*00a2*/ CS2R.32 R14, SR_CLOCKLO ;\n"
                          "        /*00a3*/ @P3 " +
                              load +
                              " R20, desc[UR4][R8.64] ;\n"
                              "        /*00a4*/ ISETP.NE.AND P1, PT, " +
                              reader +
                              ", -0x61c88647, PT ;\n"
                              "        /*00a5*/ CS2R.32 R15, SR_CLOCKLO ;\n"
                              "        /*00b0*/ ");
  };
  const auto good = checks_of(with("LDG.E.128.STRONG.GPU", "R20"));
  EXPECT_EQ(passed(good), k_all);
  EXPECT_EQ(good[1].detail, "CLC, CLC");
  EXPECT_EQ(passed(checks_of(with("LDG.E.STRONG.GPU", "R20"))), k_all);
  EXPECT_EQ(passed(checks_of(with("LDG.E.128.STRONG.SM", "R20"))), k_form_fails);
  EXPECT_EQ(passed(checks_of(with("LDG.E.STRONG.GPU", "R21"))), k_wait_fails);
  const auto none = checks_of(with("MOV", "R20"));
  ASSERT_EQ(none.size(), 1U);
  EXPECT_EQ(none[0].detail, "CLC, CC");
}

TEST(SassChecks, ASequencesClockReadWaits) {
  EXPECT_EQ(passed(checks_of(test::replaced(test::k_sequence_cg, "PT, R12, -0x61c88647", "PT, R18, -0x61c88647"))),
            k_wait_fails);
}

TEST(SassChecks, TheTimerLoadsNothing) {
  const std::string timer = ".text.timer:\n/*0000*/ CS2R R2, SR_CLOCKLO ;\n/*0010*/ CS2R R4, SR_CLOCKLO ;\n";
  EXPECT_EQ(passed(checks_of(timer)), std::vector<bool>{true});
  const std::string loads =
      ".text.timer:\n/*0000*/ CS2R R2, SR_CLOCKLO ;\n/*0008*/ LDG.E R3, [R4] ;\n/*0010*/ CS2R R4, SR_CLOCKLO ;\n";
  EXPECT_EQ(passed(checks_of(loads)), std::vector<bool>{false});
}

TEST(SassChecks, ArchitectureIsTheDevices) {
  EXPECT_TRUE(check_architecture("sm_90", "sm_90").passed);
  EXPECT_FALSE(check_architecture("sm_80", "sm_90").passed);
  EXPECT_FALSE(check_architecture("", "sm_90").passed);
}

}  // namespace
}  // namespace gpusonde::cuda
