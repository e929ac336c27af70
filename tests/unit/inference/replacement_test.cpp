// The replacement policy of one set, measured on the simulated GPU's sets and on sets that no candidate covers.
#include "inference/replacement.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "replacement_checks.hpp"

namespace gpusonde {
namespace {

using Names = std::set<std::string>;

/// Further numbers of ways: tests/recovery.
class EachWays : public testing::TestWithParam<std::uint32_t> {};
INSTANTIATE_TEST_SUITE_P(Replacement, EachWays, testing::Values(3, 8));

TEST_P(EachWays, the_simulated_policies_are_recovered) { expect_simulated_policies_recovered(GetParam()); }

// Outcomes of every sequence of ten accesses to three lines, to a set of two ways.
std::vector<bool> all_outcomes_of_two_ways(const MakeSubject& make) {
  std::vector<bool> outcomes;
  constexpr int sequences = 59049;  // 3^10
  for (int code = 0; code < sequences; ++code) {
    const auto set = make(2, Random(1));
    for (int access = 0, rest = code; access < 10; ++access, rest /= 3)
      outcomes.push_back(set->access(static_cast<std::uint64_t>(rest % 3)));
  }
  return outcomes;
}

TEST(Replacement, of_two_ways_what_is_the_same_stays_open) {
  const auto lru = all_outcomes_of_two_ways(simulated(Replacement::lru));
  EXPECT_EQ(lru, all_outcomes_of_two_ways(simulated(Replacement::tree_plru)));
  EXPECT_EQ(lru, all_outcomes_of_two_ways(simulated(Replacement::nru)));
  EXPECT_NE(lru, all_outcomes_of_two_ways(simulated(Replacement::fifo)));
  EXPECT_NE(lru, all_outcomes_of_two_ways(simulated(Replacement::srrip)));
  for (const auto start : {SetStart::empty, SetStart::foreign})
    for (const double rate : {0.0, 0.01})
      for (const auto& [name, make, most_ways] : simulated_policies()) {
        const auto fit = fit_of(make, 2, 5, {start, rate, 1});
        expect_consistent(fit);
        Names expected{name};
        if (name == "lru" || name == "tree-plru" || name == "nru") expected = {"lru", "tree-plru", "nru"};
        // Both bits of a full set are set, so a victim is always sought among all, from behind the last one on.
        if (name == "fifo") expected = {"fifo", "nru"};
        EXPECT_EQ(Names(fit.survivors.begin(), fit.survivors.end()), expected) << name << "\n" << told(fit);
        EXPECT_EQ(fit.outcome, expected.size() == 1 ? Outcome::ok : Outcome::inconclusive);
      }
}

TEST_P(EachWays, what_is_unknown_has_no_name) { expect_unknown_unnamed(GetParam()); }

TEST(Replacement, a_shift_register_that_starts_anew_is_not_random) {
  for (const std::uint32_t ways : {4U, 8U}) expect_shift_register_not_random(ways);
}

TEST(Replacement, random_that_spares_the_last_is_random_too) {
  for (const std::uint32_t ways : {4U, 8U}) expect_random_that_spares_the_last(ways);
}

TEST(Replacement, protection_by_hits_is_told) { expect_protection_by_hits_told(4); }

// Hits are counted, not the lines they were of, which is all that sets it apart from a segmented set.
TEST(Replacement, coming_in_behind_hits_is_told) {
  for (const std::uint32_t ways : {3U, 4U, 6U})
    for (const auto start : {SetStart::empty, SetStart::foreign})
      for (const double rate : {0.0, 0.01}) {
        const auto fit = fit_of(behind_two_hits, ways, 3 * ways, {start, rate, 3});
        EXPECT_EQ(fit.policy, "lru-behind-hits") << ways << " ways\n" << told(fit);
        EXPECT_EQ(fit.variant, "comes in behind the last 2 hits") << ways << " ways\n" << told(fit);
        expect_consistent(fit);
      }
}

// Hence no such candidate for two ways.
TEST(SetCandidates, behind_two_hits_of_two_ways_is_slru) {
  EXPECT_EQ(all_outcomes_of_two_ways(behind_two_hits), all_outcomes_of_two_ways(segmented));
  for (const auto& candidate : set_candidates(2)) EXPECT_NE(candidate.family, "lru-behind-hits");
}

// One of the walks over ten lines of an L1 set of an NVIDIA H200, emptied before; it came out like this three times of
// three.
TEST(SetCandidates, one_alone_does_what_an_h200_did) {
  const std::string lines =
      "0123401234012340123439813381423198750855754236178057089702160879920590291738059249759784597072178172"
      "0469262874926395692079536";
  const std::string hits =
      "0000000000000000000010001111000101000111010000000011110110001010101011010000101001001100011010010111"
      "0000111010010000001011000";
  ASSERT_EQ(lines.size(), hits.size());
  std::vector<std::string> same;
  for (const auto& candidate : set_candidates(4)) {
    if (candidate.by_chance) continue;
    CacheSet set(4, 10, candidate.make(4, Random(1)));
    std::string predicted;
    for (const char line : lines) predicted += set.access(static_cast<std::uint32_t>(line - '0')) ? '1' : '0';
    if (predicted == hits) same.push_back(candidate.family + ": " + candidate.variant);
  }
  EXPECT_EQ(same, std::vector<std::string>{"lru-behind-hits: comes in behind the last 2 hits"});
}

// Access by access, over sequences of its own kind, one variant of each family does exactly what the simulated GPU
// does.
TEST(SetCandidates, hold_each_policy_of_the_simulated_gpu) {
  for (const std::uint32_t ways : {2U, 3U, 4U, 7U, 8U, 16U}) expect_candidates_hold_simulated_policies(ways);
}

TEST(Replacement, insertion_is_told_from_an_empty_start_and_else_left_open) {
  expect_insertion_told_from_an_empty_start(4);
}

TEST(Replacement, random_cases_have_no_wrong_name) { expect_no_wrong_name(1, 10, 2); }

TEST(Replacement, a_sequence_carried_over_is_one_with_what_it_follows) {
  constexpr std::uint32_t ways = 8;
  for (const auto& [name, make, most_ways] : simulated_policies()) {
    std::vector<ObservedSequence> halves;
    for (const auto& whole :
         observe(make, ways, plan_replacement_sequences(ways, 20, 3), {SetStart::foreign, 0.01, 4})) {
      const auto& lines = whole.sequence.lines;
      const auto half = static_cast<std::ptrdiff_t>(lines.size() / 2);
      halves.push_back(
          {{{lines.begin(), lines.begin() + half}, {}}, {whole.hit.begin(), whole.hit.begin() + half}, whole.start});
      halves.push_back(
          {{{lines.begin() + half, lines.end()}, {}}, {whole.hit.begin() + half, whole.hit.end()}, SetStart::carried});
    }
    EXPECT_EQ(infer_replacement(ways, halves).policy, name);
  }
}

TEST(Replacement, accesses_that_are_not_timed_still_use_the_set) {
  constexpr std::uint32_t ways = 6;
  auto plan = plan_replacement_sequences(ways, 2 * ways, 1);
  for (auto& sequence : plan)
    for (std::size_t i = 0; i < sequence.lines.size(); ++i) sequence.observed.push_back(i % 3 != 0);
  for (const auto& [name, make, most_ways] : simulated_policies()) {
    const auto fit = infer_replacement(ways, observe(make, ways, plan, {SetStart::empty, 0.01, 9}));
    EXPECT_EQ(fit.policy, name) << told(fit);
  }
}

TEST(Replacement, more_misreadings_than_allowed_leave_no_name) {
  for (const auto& [name, make, most_ways] : simulated_policies()) {
    if (name == "random") continue;
    const auto table = observe(make, 8, plan_replacement_sequences(8, 16, 1), {SetStart::empty, 0.06, 1});
    EXPECT_TRUE(infer_replacement(8, table, {0.02, 1}).survivors.empty()) << name;
    EXPECT_EQ(infer_replacement(8, table, {0.08, 1}).policy, name);
  }
}

TEST(Replacement, what_always_or_never_hits_or_is_noise_has_no_name) {
  Random random(4);
  for (const int kind : {0, 1, 2}) {
    auto table = observe(simulated(Replacement::lru), 8, plan_replacement_sequences(8, 16, 1), {});
    for (auto& sequence : table)
      for (std::size_t i = 0; i < sequence.hit.size(); ++i)
        sequence.hit[i] = kind == 2 ? random.below(2) == 0 : kind == 1;
    const auto fit = infer_replacement(8, table);
    EXPECT_EQ(fit.outcome, Outcome::inconclusive);
    EXPECT_TRUE(fit.survivors.empty()) << told(fit);
  }
}

TEST(Replacement, little_data_decides_nothing) {
  const auto plan = plan_replacement_sequences(8, 16, 1);
  for (const auto& [name, make, most_ways] : simulated_policies()) {
    auto table = observe(make, 8, plan, {});
    table.resize(1);
    table[0].sequence.lines.resize(40);
    table[0].hit.resize(40);
    const auto fit = infer_replacement(8, table);
    EXPECT_EQ(fit.outcome, Outcome::inconclusive) << name;
    EXPECT_EQ(std::count(fit.survivors.begin(), fit.survivors.end(), name), 1) << told(fit);
  }
}

TEST(Replacement, random_is_not_told_without_repetitions) {
  auto plan = plan_replacement_sequences(8, 16, 1);
  plan.resize(plan.size() / 3);
  const auto fit = infer_replacement(8, observe(simulated(Replacement::random), 8, plan, {}));
  EXPECT_EQ(fit.outcome, Outcome::inconclusive);
  EXPECT_EQ(fit.survivors, std::vector<std::string>{"random"}) << told(fit);
}

TEST(Replacement, one_way_or_too_many_are_unsupported) {
  const std::vector<ObservedSequence> table{{{{0, 1}, {}}, {false, false}, SetStart::empty}};
  EXPECT_EQ(infer_replacement(1, table).outcome, Outcome::unsupported);
  EXPECT_EQ(infer_replacement(1, table).reason, "one way: nothing to replace");
  EXPECT_EQ(infer_replacement(0, table).outcome, Outcome::unsupported);
  EXPECT_EQ(infer_replacement(65, table).outcome, Outcome::unsupported);
}

TEST(Replacement, a_malformed_table_is_named) {
  const auto reason = [](std::vector<ObservedSequence> table, double rate = 0.01) {
    const auto fit = infer_replacement(4, table, {rate, 1});
    EXPECT_EQ(fit.outcome, Outcome::inconclusive);
    EXPECT_TRUE(fit.policy.empty());
    return fit.reason;
  };
  const ObservedSequence good{{{0, 1, 0}, {}}, {false, false, true}, SetStart::empty};
  EXPECT_EQ(reason({}), "no sequence was measured");
  EXPECT_EQ(reason({{{{0}, {}}, {true}, SetStart::carried}}),
            "the first sequence has none before it to carry over from");
  EXPECT_EQ(reason({good, {{{}, {}}, {}, SetStart::empty}}), "sequence 1 has no accesses");
  EXPECT_EQ(reason({good, {{{0, 1}, {true}}, {true}, SetStart::empty}}),
            "sequence 1 does not say of each access whether it is observed");
  EXPECT_EQ(reason({{{{0, 1}, {true, false}}, {true, true}, SetStart::empty}}),
            "sequence 0 has not one result for each observed access");
  EXPECT_EQ(reason({good}, 0.3), "a quarter of the accesses or more are misread");
  EXPECT_EQ(reason({good}, std::nan("")), "a quarter of the accesses or more are misread");
  EXPECT_FALSE(reason({good}).empty());
}

TEST(ReplacementPlan, is_bounded_repeated_and_within_the_lines) {
  for (std::uint32_t ways = 2; ways <= 64; ++ways)
    for (const std::uint32_t lines : {ways + 1, 2 * ways, 10 * ways}) {
      const auto plan = plan_replacement_sequences(ways, lines, 1);
      std::size_t accesses = 0;
      std::uint32_t most = 0;
      for (const auto& [order, observed] : plan) {
        accesses += order.size();
        ASSERT_FALSE(order.empty());
        most = std::max<std::uint32_t>(most, *std::max_element(order.begin(), order.end()));
        EXPECT_EQ(std::count(plan.begin(), plan.end(), SetSequence{order, observed}) % 3, 0);
      }
      EXPECT_LT(most, std::min(lines, ways * 5 / 2));
      EXPECT_LE(accesses, 1500U * std::max(ways, 16U)) << ways;
    }
}

TEST(ReplacementPlan, is_given_by_its_seed_and_empty_where_nothing_can_be_told) {
  EXPECT_EQ(plan_replacement_sequences(8, 20, 1), plan_replacement_sequences(8, 20, 1));
  EXPECT_NE(plan_replacement_sequences(8, 20, 1), plan_replacement_sequences(8, 20, 2));
  EXPECT_TRUE(plan_replacement_sequences(1, 20, 1).empty());
  EXPECT_TRUE(plan_replacement_sequences(65, 200, 1).empty());
  EXPECT_TRUE(plan_replacement_sequences(8, 8, 1).empty());
}

}  // namespace
}  // namespace gpusonde
