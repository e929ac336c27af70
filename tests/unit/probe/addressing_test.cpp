// Virtual or physical: what two probes say of a cache, and what follows when they agree, or do not.
#include "probe/addressing_probe.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <initializer_list>

namespace gpusonde {
namespace {

using testing::HasSubstr;
using testing::StartsWith;

constexpr std::uint64_t k_mib = 1ULL << 20;

enum class Index { not_measured, crowds, spreads };

AddressingVerdict verdict(AliasAnswer alias, SweepAnswer sweep, Index index = Index::spreads) {
  AddressingEvidence evidence;
  evidence.alias = alias;
  evidence.tested = 512;
  evidence.hits = alias == AliasAnswer::all_hit ? 512 : alias == AliasAnswer::none_hit ? 0 : 16;
  evidence.first_cycles = 336;
  evidence.again_cycles = 50;
  evidence.sweep = sweep;
  evidence.sweep_nodes = 76;
  evidence.sweep_stride_bytes = 32 * k_mib;
  evidence.translation_cycles = 11.44;
  evidence.hit_cycles = sweep == SweepAnswer::step ? 11.4 : 0;
  if (sweep == SweepAnswer::unknown) evidence.sweep_note = "no stride shows it";
  evidence.crowds_known = index != Index::not_measured;
  evidence.crowds = index == Index::crowds;
  evidence.same_offset_cycles = 540;
  evidence.spread_cycles = 250;
  return addressing_verdict(evidence);
}

constexpr auto k_indices = {Index::not_measured, Index::crowds, Index::spreads};

TEST(AddressingVerdict, NoLineIsFoundAndAHitWaitsForNothingIsVirtual) {
  for (const auto index : k_indices)
    EXPECT_EQ(verdict(AliasAnswer::none_hit, SweepAnswer::no_step, index).name, "VIVT");
  EXPECT_EQ(verdict(AliasAnswer::none_hit, SweepAnswer::no_step).reason,
            "0 of 512 loads hit through a second address of a line loaded before (336 cycles the first time, 50 "
            "again); with 76 nodes 32 MiB apart translation costs 11.4 cycles past L1 and 0.0 on a hit");
}

TEST(AddressingVerdict, SomeLinesAreFoundAndAHitWaitsIsAVirtualIndex) {
  for (const auto index : k_indices) {
    const auto found = verdict(AliasAnswer::some_hit, SweepAnswer::step, index);
    EXPECT_EQ(found.name, "VIPT");
    EXPECT_THAT(found.reason, HasSubstr("; a line is found through those addresses that share its set"));
  }
}

TEST(AddressingVerdict, AllLinesAreFoundAndTheIndexHasBitsOfThePageIsPhysical) {
  const auto found = verdict(AliasAnswer::all_hit, SweepAnswer::step, Index::spreads);
  EXPECT_EQ(found.name, "PIPT");
  EXPECT_THAT(found.reason,
              HasSubstr("512 of 512 loads hit through a second address of a line loaded before (336 cycles the first "
                        "time, 50 again); with 76 nodes 32 MiB apart translation costs 11.4 cycles past L1 and 11.4 "
                        "on a hit; lines at one offset of many pages take 540.0 cycles, spread over the pages 250.0, "
                        "so the index has bits of the physical page"));
}

TEST(AddressingVerdict, AnIndexOfOffsetBitsMayBeEither) {
  const auto crowded = verdict(AliasAnswer::all_hit, SweepAnswer::step, Index::crowds);
  EXPECT_EQ(crowded.name, "");
  EXPECT_THAT(crowded.reason, StartsWith("PIPT, or VIPT with an index of offset bits alone"));
  const auto unknown = verdict(AliasAnswer::all_hit, SweepAnswer::step, Index::not_measured);
  EXPECT_EQ(unknown.name, "");
  EXPECT_THAT(unknown.reason, StartsWith("PIPT or VIPT: where its index comes from was not measured"));
}

TEST(AddressingVerdict, TwoProbesThatDisagreeSayNothing) {
  for (const auto index : k_indices)
    for (const auto& [alias, sweep] :
         {std::pair{AliasAnswer::none_hit, SweepAnswer::step}, std::pair{AliasAnswer::some_hit, SweepAnswer::no_step},
          std::pair{AliasAnswer::all_hit, SweepAnswer::no_step}}) {
      const auto none = verdict(alias, sweep, index);
      EXPECT_EQ(none.name, "");
      EXPECT_THAT(none.reason, StartsWith("the two probes disagree: "));
    }
}

TEST(AddressingVerdict, WithoutEitherAnswerThereIsNone) {
  for (const auto index : k_indices) {
    for (const auto sweep : {SweepAnswer::unknown, SweepAnswer::no_step, SweepAnswer::step}) {
      const auto none = verdict(AliasAnswer::unknown, sweep, index);
      EXPECT_EQ(none.name, "");
      EXPECT_THAT(none.reason, StartsWith("the alias test is not clear: 16 of 512 loads hit"));
    }
    for (const auto alias : {AliasAnswer::none_hit, AliasAnswer::some_hit, AliasAnswer::all_hit}) {
      const auto none = verdict(alias, SweepAnswer::unknown, index);
      EXPECT_EQ(none.name, "");
      EXPECT_THAT(none.reason, StartsWith("the sweep says nothing: "));
      EXPECT_THAT(none.reason, HasSubstr("no stride shows it"));
    }
  }
}

// Tables by hand: an L1 hit takes 40 cycles and 50 timed alone, an L2 hit 330 and 340.

/// Of `pages` pages with 8 lines each, the first `hits` lines of all answer in `hit` cycles, the others in `miss`.
void add_alias(Measurements& measurements, const std::string& policy, int pages, int hits, int hit, int miss) {
  auto& table = measurements.table("addressing.alias");
  int line = 0;
  for (int page = 0; page < pages; ++page) {
    std::string readings;
    for (int i = 0; i < 8; ++i, ++line)
      readings += (readings.empty() ? "" : " ") + std::to_string(line < hits ? hit : miss);
    table.make<std::string>("policy").push_back(policy);
    table.make<std::uint64_t>("page").push_back(static_cast<std::uint64_t>(page) + 1);
    table.make<double>("home_cycles").push_back(hit);
    table.make<double>("first_cycles").push_back(miss);
    table.make<double>("again_cycles").push_back(hit);
    table.make<std::string>("first_readings").push_back(readings);
  }
}

struct Point {
  std::uint64_t nodes;
  double cycles;
};

void add_curve(Measurements& measurements, const char* name, const std::string& policy, std::uint64_t stride_bytes,
               std::initializer_list<Point> points) {
  auto& table = measurements.table(name);
  for (const auto& [nodes, cycles] : points) {
    table.make<std::string>("policy").push_back(policy);
    table.make<std::uint64_t>("stride_bytes").push_back(stride_bytes);
    table.make<std::uint64_t>("nodes").push_back(nodes);
    table.make<double>("cycles_per_access").push_back(cycles);
  }
}

/// Both policies at one stride: pages cost 11 cycles past L1 from 19 nodes on, and `on_hit` on an L1 hit.
void add_sweep(Measurements& measurements, std::uint64_t stride_bytes, double on_hit, const char* name = "tlb.sweep") {
  add_curve(measurements, name, "ca", stride_bytes,
            {{2, 40}, {4, 40}, {8, 40}, {16, 40}, {19, 40 + on_hit}, {32, 40 + on_hit}, {64, 40 + on_hit}});
  add_curve(measurements, name, "cg", stride_bytes,
            {{2, 330}, {4, 330}, {8, 330}, {16, 330}, {19, 341}, {32, 341}, {64, 341}});
}

Measurements virtual_l1() {
  Measurements measurements;
  add_alias(measurements, "ca", 64, 0, 50, 340);
  add_alias(measurements, "cg", 16, 128, 340, 900);
  add_sweep(measurements, 2 * k_mib, 0);
  return measurements;
}

AddressingEvidence alias_evidence(int pages, int hits) {
  Measurements measurements;
  add_alias(measurements, "ca", pages, hits, 50, 340);
  add_alias(measurements, "cg", 16, 128, 340, 900);
  return addressing_evidence(measurements, "ca");
}

TEST(AddressingEvidence, AliasesHitNowhereSomewhereOrEverywhere) {
  const auto none = alias_evidence(64, 0);
  EXPECT_EQ(none.alias, AliasAnswer::none_hit);
  EXPECT_EQ(none.tested, 512U);
  EXPECT_EQ(none.hits, 0U);
  EXPECT_EQ(none.first_cycles, 340);
  EXPECT_EQ(none.again_cycles, 50);
  const auto some = alias_evidence(64, 16);
  EXPECT_EQ(some.alias, AliasAnswer::some_hit);
  EXPECT_EQ(some.hits, 16U);
  EXPECT_EQ(alias_evidence(64, 512).alias, AliasAnswer::all_hit);
  EXPECT_EQ(alias_evidence(64, 500).alias, AliasAnswer::all_hit) << "a few strays";
  EXPECT_EQ(alias_evidence(1024, 1).alias, AliasAnswer::none_hit) << "one stray of 8192";
  EXPECT_EQ(alias_evidence(64, 256).alias, AliasAnswer::unknown) << "half is no answer";
}

TEST(AddressingEvidence, L2IsAskedPastL1) {
  Measurements measurements;
  add_alias(measurements, "cg", 16, 128, 340, 900);
  EXPECT_EQ(addressing_evidence(measurements, "cg").alias, AliasAnswer::all_hit);
  EXPECT_EQ(addressing_evidence(measurements, "cg").hits, 128U);
  Measurements missing;
  add_alias(missing, "cg", 16, 0, 340, 900);
  EXPECT_EQ(addressing_evidence(missing, "cg").alias, AliasAnswer::none_hit);
}

TEST(AddressingEvidence, WithoutL2ToCompareWithAnL1HitIsNotKnown) {
  Measurements measurements;
  add_alias(measurements, "ca", 64, 0, 50, 340);
  EXPECT_EQ(addressing_evidence(measurements, "ca").tested, 0U);
  add_alias(measurements, "cg", 16, 128, 60, 900);  // as fast as L1
  EXPECT_EQ(addressing_evidence(measurements, "ca").alias, AliasAnswer::unknown);
}

TEST(AddressingEvidence, AHitThatWaitsForNothingHasNoStep) {
  const auto evidence = addressing_evidence(virtual_l1(), "ca");
  EXPECT_EQ(evidence.sweep, SweepAnswer::no_step);
  EXPECT_DOUBLE_EQ(evidence.translation_cycles, 11);
  EXPECT_DOUBLE_EQ(evidence.hit_cycles, 0);
  EXPECT_EQ(evidence.sweep_nodes, 64U);
  EXPECT_EQ(evidence.sweep_stride_bytes, 2 * k_mib);
  EXPECT_FALSE(evidence.over_aliases);
  EXPECT_EQ(addressing_verdict(evidence).name, "VIVT");
}

TEST(AddressingEvidence, AHitThatIsTranslatedHasTheStep) {
  Measurements measurements;
  add_sweep(measurements, 2 * k_mib, 11);
  const auto evidence = addressing_evidence(measurements, "ca");
  EXPECT_EQ(evidence.sweep, SweepAnswer::step);
  EXPECT_DOUBLE_EQ(evidence.hit_cycles, 11);
  EXPECT_EQ(addressing_evidence(measurements, "cg").sweep, SweepAnswer::step) << "L2 waits with every load past L1";
}

TEST(AddressingEvidence, HalfAStepIsNotClear) {
  Measurements measurements;
  add_sweep(measurements, 2 * k_mib, 5);
  const auto evidence = addressing_evidence(measurements, "ca");
  EXPECT_EQ(evidence.sweep, SweepAnswer::unknown);
  EXPECT_EQ(evidence.sweep_note, "what the pages cost a hit is neither nothing nor what they cost past L1");
}

TEST(AddressingEvidence, WithoutAStepPastL1TheSweepSaysNothing) {
  Measurements measurements;
  add_curve(measurements, "tlb.sweep", "ca", 2 * k_mib, {{2, 40}, {4, 40}, {16, 40}, {64, 40}});
  add_curve(measurements, "tlb.sweep", "cg", 2 * k_mib, {{2, 330}, {4, 330}, {16, 330}, {64, 331}});
  const auto evidence = addressing_evidence(measurements, "ca");
  EXPECT_EQ(evidence.sweep, SweepAnswer::unknown);
  EXPECT_EQ(evidence.sweep_note, "no stride shows pages that cost something while their lines are still hits");
}

TEST(AddressingEvidence, ALoneReadingIsNoStep) {
  Measurements measurements;
  add_curve(measurements, "tlb.sweep", "ca", 2 * k_mib, {{2, 40}, {4, 40}, {8, 40}, {16, 40}, {32, 40}, {64, 40}});
  add_curve(measurements, "tlb.sweep", "cg", 2 * k_mib,
            {{2, 330}, {4, 330}, {8, 350}, {16, 330}, {32, 330}, {64, 341}});
  EXPECT_EQ(addressing_evidence(measurements, "ca").sweep, SweepAnswer::unknown);
}

// A rise by as much as an L1 miss costs, where the pages cost so much too, may be just that.
TEST(AddressingEvidence, ARiseLikeAnL1MissIsNotClear) {
  Measurements measurements;
  add_curve(measurements, "tlb.sweep", "ca", 2 * k_mib, {{2, 40}, {4, 40}, {16, 40}, {32, 330}, {64, 330}});
  add_curve(measurements, "tlb.sweep", "cg", 2 * k_mib, {{2, 330}, {4, 330}, {16, 330}, {32, 620}, {64, 620}});
  EXPECT_EQ(addressing_evidence(measurements, "ca").sweep, SweepAnswer::unknown);
}

TEST(AddressingEvidence, StridesThatAgreeAreOneAnswer) {
  auto measurements = virtual_l1();
  add_sweep(measurements, 32 * k_mib, 0.5);
  EXPECT_EQ(addressing_evidence(measurements, "ca").sweep, SweepAnswer::no_step);
}

TEST(AddressingEvidence, StridesThatDisagreeAreNone) {
  auto measurements = virtual_l1();
  add_sweep(measurements, 32 * k_mib, 11);
  add_sweep(measurements, 4 * k_mib, 0, "addressing.sweep");
  const auto evidence = addressing_evidence(measurements, "ca");
  EXPECT_EQ(evidence.sweep, SweepAnswer::unknown);
  EXPECT_EQ(evidence.sweep_note, "the strides of the sweep disagree");
  EXPECT_FALSE(evidence.over_aliases) << "a contradiction is not passed over for another measurement";
}

TEST(AddressingEvidence, WhereMemoryDoesNotReachTheSweepOverAliasesCounts) {
  Measurements measurements;
  add_curve(measurements, "tlb.sweep", "ca", 2 * k_mib, {{2, 40}, {4, 40}, {8, 40}});
  add_curve(measurements, "tlb.sweep", "cg", 2 * k_mib, {{2, 330}, {4, 330}, {8, 330}});
  add_sweep(measurements, 64 * k_mib, 0, "addressing.sweep");
  const auto evidence = addressing_evidence(measurements, "ca");
  EXPECT_EQ(evidence.sweep, SweepAnswer::no_step);
  EXPECT_TRUE(evidence.over_aliases);
  EXPECT_EQ(evidence.sweep_stride_bytes, 64 * k_mib);
  EXPECT_THAT(addressing_verdict(evidence).reason, HasSubstr("64 MiB apart over aliases translation costs"));
}

TEST(AddressingEvidence, LinesAtOneOffsetCrowdWhenTheyAreSlower) {
  Measurements measurements;
  auto& table = measurements.table("addressing.index");
  const auto add = [&](const char* policy, double same, double spread) {
    table.make<std::string>("policy").emplace_back(policy);
    table.make<std::uint64_t>("lines").push_back(160);
    table.make<double>("same_offset_cycles").push_back(same);
    table.make<double>("spread_cycles").push_back(spread);
  };
  add("ca", 250, 60);
  add("cg", 260, 250);
  const auto l1 = addressing_evidence(measurements, "ca");
  EXPECT_TRUE(l1.crowds_known);
  EXPECT_TRUE(l1.crowds);
  const auto l2 = addressing_evidence(measurements, "cg");
  EXPECT_TRUE(l2.crowds_known);
  EXPECT_FALSE(l2.crowds);
  EXPECT_EQ(l2.same_offset_cycles, 260);
  EXPECT_FALSE(addressing_evidence({}, "cg").crowds_known);
}

const Finding& named(const Analysis& analysis, std::string_view id) {
  return *std::find_if(analysis.findings.begin(), analysis.findings.end(),
                       [&](const Finding& f) { return f.id == id; });
}

Analysis analyzed(const Measurements& measurements) { return analyze_addressing({measurements, {}, {}}); }

TEST(Addressing, WithoutTablesItIsSkipped) {
  const auto analysis = analyzed({});
  ASSERT_EQ(analysis.findings.size(), 2U);
  for (const auto& finding : analysis.findings) {
    EXPECT_EQ(finding.outcome, Outcome::skipped);
    EXPECT_EQ(finding.reason, "the alias test was not run");
    EXPECT_FALSE(finding.value);
  }
}

TEST(Addressing, TablesWithoutTheirColumnsAreAsGoodAsNone) {
  Measurements measurements;
  for (const char* name : {"addressing.alias", "addressing.index", "addressing.sweep", "tlb.sweep"})
    measurements.table(name).make<std::string>("policy").emplace_back("ca");
  for (const auto& finding : analyzed(measurements).findings) EXPECT_EQ(finding.outcome, Outcome::skipped);
}

TEST(Addressing, WithoutASweepTheVerdictIsOpen) {
  Measurements measurements;
  add_alias(measurements, "ca", 64, 0, 50, 340);
  add_alias(measurements, "cg", 16, 128, 340, 900);
  const auto analysis = analyzed(measurements);
  EXPECT_EQ(named(analysis, "l1.addressing").outcome, Outcome::inconclusive);
  EXPECT_THAT(named(analysis, "l1.addressing").reason, StartsWith("the sweep says nothing: 0 of 512 loads hit"));
}

TEST(Addressing, EachCacheHasItsOwnVerdict) {
  const auto analysis = analyzed(virtual_l1());
  const auto& l1 = named(analysis, "l1.addressing");
  EXPECT_EQ(l1.outcome, Outcome::ok);
  EXPECT_EQ(std::get<std::string>(*l1.value), "VIVT");
  EXPECT_EQ(l1.evidence, "#/measurements/addressing.alias");
  const auto& l2 = named(analysis, "l2.addressing");  // where its index comes from was not measured
  EXPECT_EQ(l2.outcome, Outcome::inconclusive);
}

}  // namespace
}  // namespace gpusonde
