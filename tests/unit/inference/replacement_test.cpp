// The replacement policy of one set, measured on the simulated GPU's sets and on sets that no candidate covers.
#include "inference/replacement.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "inference/set_policy.hpp"
#include "replacement_subjects.hpp"

namespace gpusonde {
namespace {

using Names = std::set<std::string>;

struct NamedSubject {
  std::string name;
  MakeSubject make;
  std::uint32_t most_ways = 64;
};

const std::vector<NamedSubject>& simulated_policies() {
  static const std::vector<NamedSubject> list{
      {"lru", simulated(Replacement::lru)},       {"fifo", simulated(Replacement::fifo)},
      {"nru", simulated(Replacement::nru)},       {"tree-plru", simulated(Replacement::tree_plru)},
      {"random", simulated(Replacement::random)}, {"srrip", simulated(Replacement::srrip), 32},
  };
  return list;
}

std::string told(const ReplacementFit& fit) {
  std::string text = std::string(to_string(fit.outcome)) + " " + fit.policy + ": " + fit.reason;
  for (const auto& one : fit.agreements)
    text +=
        "\n  " + one.policy + " (" + one.variant + ") " + std::to_string(one.agreement) + (one.survives ? " *" : "");
  return text;
}

ReplacementFit fit_of(const MakeSubject& make, std::uint32_t ways, std::uint32_t lines, const Measured& how) {
  return infer_replacement(ways, observe(make, ways, plan_replacement_sequences(ways, lines, how.seed), how));
}

void expect_consistent(const ReplacementFit& fit) {
  EXPECT_EQ(fit.outcome == Outcome::ok, fit.reason.empty());
  EXPECT_EQ(fit.outcome == Outcome::ok, !fit.policy.empty());
  if (fit.outcome == Outcome::ok) {
    EXPECT_EQ(fit.survivors, std::vector<std::string>{fit.policy});
  }
}

class EachWays : public testing::TestWithParam<std::uint32_t> {};
INSTANTIATE_TEST_SUITE_P(Replacement, EachWays, testing::Values(3, 4, 6, 8, 12, 16, 32, 64));

TEST_P(EachWays, the_simulated_policies_are_recovered) {
  const auto ways = GetParam();
  for (const auto& [name, make, most_ways] : simulated_policies()) {
    if (ways > most_ways) continue;
    for (const auto start : {SetStart::empty, SetStart::foreign})
      for (const double rate : {0.0, 0.01}) {
        // Both numbers of lines at each start and at each rate, in half the time.
        const bool few_lines = (start == SetStart::empty) == (rate == 0);
        const auto fit = fit_of(make, ways, few_lines ? ways + 1 : 3 * ways, {start, rate, ways});
        // One line more than ways tells little of many ways when the start is not known either.
        const bool may_stay_open = few_lines && start == SetStart::foreign && ways >= 12;
        EXPECT_EQ(std::count(fit.survivors.begin(), fit.survivors.end(), name), 1);
        EXPECT_TRUE(fit.policy == name || (may_stay_open && fit.policy.empty()))
            << ways << " ways, start " << static_cast<int>(start) << ", misread " << rate << ", few lines " << few_lines
            << "\n"
            << told(fit);
        expect_consistent(fit);
      }
  }
}

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

// A name may be given to what no candidate covers only where it cannot be told from one; none of these can.
TEST(Replacement, what_is_unknown_has_no_name) {
  const std::vector<NamedSubject> odd{
      {"most recent", most_recent},
      {"among the oldest half", random_but_newest([](std::uint32_t ways) { return ways / 2; })},
      {"second chance", second_chance},
      {"moved by one", moved_by_one},
  };
  for (const std::uint32_t ways : {3U, 4U, 8U, 16U, 64U})
    for (const auto& [name, make, most_ways] : odd) {
      if (ways == 3 && name == "among the oldest half") continue;  // spares one of three: a known variant of random
      for (const auto start : {SetStart::empty, SetStart::foreign}) {
        const bool few_lines = (ways == 8) == (start == SetStart::empty);
        const auto fit = fit_of(make, ways, few_lines ? ways + 1 : 3 * ways, {start, 0.01, ways});
        EXPECT_EQ(fit.outcome, Outcome::inconclusive) << name << ", " << ways << " ways\n" << told(fit);
        if (few_lines && start == SetStart::foreign) continue;  // may leave something standing, which is not named
        EXPECT_TRUE(fit.survivors.empty()) << name << ", " << ways << " ways\n" << told(fit);
        EXPECT_NE(fit.reason.find("no known policy predicts more than"), std::string::npos) << fit.reason;
      }
    }
}

// The same each time, so not random, however random it looks.
TEST(Replacement, a_shift_register_that_starts_anew_is_not_random) {
  for (const std::uint32_t ways : {4U, 8U, 16U, 64U}) {
    const auto fit = fit_of(shift_register, ways, 2 * ways, {SetStart::empty, 0.01, 5});
    EXPECT_TRUE(fit.survivors.empty()) << ways << " ways\n" << told(fit);
  }
}

TEST(Replacement, random_that_spares_the_last_is_random_too) {
  const auto make = random_but_newest([](std::uint32_t) { return 1U; });
  for (const std::uint32_t ways : {4U, 8U, 16U}) {
    const auto fit = fit_of(make, ways, 3 * ways, {SetStart::empty, 0, 2});
    EXPECT_EQ(fit.policy, "random") << told(fit);
    EXPECT_TRUE(ways != 4 || fit.variant == "any way but the one used last") << told(fit);
  }
}

// Lines hit again are hardly ever evicted by lines touched once, and which kind of that it is shows.
TEST(Replacement, protection_by_hits_is_told) {
  for (const std::uint32_t ways : {4U, 8U, 16U})
    for (const double rate : {0.0, 0.01}) {
      const auto slru = fit_of(segmented, ways, 3 * ways, {SetStart::empty, rate, 3});
      EXPECT_EQ(slru.policy, "slru") << told(slru);
      EXPECT_EQ(slru.variant, "at most " + std::to_string(ways / 2) + " ways protected");
      const auto nru = fit_of(marked_by_hits, ways, 3 * ways, {SetStart::empty, rate, 3});
      EXPECT_EQ(nru.policy, "nru-on-hit") << told(nru);
      const auto foreign = fit_of(marked_by_hits, ways, 3 * ways, {SetStart::foreign, rate, 3});
      EXPECT_EQ(std::count(foreign.survivors.begin(), foreign.survivors.end(), "nru-on-hit"), 1) << told(foreign);
    }
}

// Hits are counted, not the lines they were of, which is all that sets it apart from a segmented set.
TEST(Replacement, coming_in_behind_hits_is_told) {
  for (const std::uint32_t ways : {3U, 4U, 6U, 8U, 16U})
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
  for (std::uint32_t ways = 2; ways <= 64; ++ways)
    for (const auto& [name, make, most_ways] : simulated_policies()) {
      if (name == "random" || ways > most_ways) continue;
      std::size_t same = 0;
      for (const auto& candidate : set_candidates(ways)) {
        if (candidate.family != name || candidate.stale) continue;
        Random random(ways);
        const auto subject = make(ways, Random(1));
        CacheSet set(ways, 2 * ways, candidate.make(ways, Random(1)));
        bool agrees = true;
        for (std::uint32_t i = 0; i < 60 * ways && agrees; ++i) {
          const auto line = static_cast<std::uint32_t>(random.below(ways + 1 + (i / (8 * ways)) % ways));
          agrees = subject->access(line) == set.access(line);
        }
        same += agrees ? 1 : 0;
      }
      EXPECT_GE(same, 1U) << name << ", " << ways << " ways";
    }
}

// Where a line comes in and where a hit line is protected are the same while all protected places are taken.
TEST(Replacement, insertion_is_told_from_an_empty_start_and_else_left_open) {
  for (const std::uint32_t ways : {4U, 8U, 16U}) {
    for (const double rate : {0.0, 0.01}) {
      const auto from_empty = fit_of(inserted_oldest, ways, 3 * ways, {SetStart::empty, rate, 1});
      EXPECT_EQ(from_empty.policy, "lru-insertion") << told(from_empty);
      const auto from_foreign = fit_of(inserted_oldest, ways, 3 * ways, {SetStart::foreign, rate, 1});
      EXPECT_TRUE(std::count(from_foreign.survivors.begin(), from_foreign.survivors.end(), "lru-insertion") == 1)
          << told(from_foreign);
    }
    const auto halfway = fit_of(inserted_halfway, ways, 3 * ways, {SetStart::empty, 0.01, 1});
    EXPECT_TRUE(halfway.survivors.empty()) << told(halfway);  // fills as no candidate does
  }
}

// Any policy, known or not, measured in any way: the right name, a list that has it, or none.
TEST(Replacement, two_hundred_random_cases_have_no_wrong_name) {
  std::vector<NamedSubject> subjects = simulated_policies();
  for (const auto& odd : std::vector<NamedSubject>{{"", most_recent},
                                                   {"", second_chance},
                                                   {"", moved_by_one},
                                                   {"", inserted_halfway},
                                                   {"", shift_register},
                                                   {"", random_but_newest([](std::uint32_t ways) { return ways / 2; })},
                                                   {"lru-insertion", inserted_oldest},
                                                   {"lru-behind-hits", behind_two_hits}})
    subjects.push_back(odd);
  std::size_t named = 0;
  for (std::uint64_t seed = 1; seed <= 200; ++seed) {
    Random random(seed);
    const auto& [name, make, most_ways] = subjects[random.below(subjects.size())];
    const auto ways = static_cast<std::uint32_t>(random.between(4, 12));
    const auto lines = static_cast<std::uint32_t>(ways + random.between(1, 2ULL * ways));
    auto plan = plan_replacement_sequences(ways, lines, seed);
    // Some of the plan, the last sequence broken off, and of some sequences not all is timed.
    plan.resize(random.below(4) == 0 ? random.between(1, plan.size()) : plan.size());
    plan.back().lines.resize(random.between(1, plan.back().lines.size()));
    if (random.below(3) == 0)
      for (std::size_t i = 0; i < plan.front().lines.size(); ++i) plan.front().observed.push_back(random.below(2) == 0);
    const auto start = random.below(2) == 0 ? SetStart::empty : SetStart::foreign;
    const auto fit = infer_replacement(ways, observe(make, ways, plan, {start, 0.02 * random.uniform(), seed}));
    expect_consistent(fit);
    if (fit.outcome == Outcome::ok) {
      ++named;
      // A shift register whose phase is not known is as random as any.
      const bool as_random = name.empty() && start == SetStart::foreign && fit.policy == "random";
      EXPECT_TRUE(fit.policy == name || as_random)
          << "seed " << seed << ", " << name << ", " << ways << " ways, " << lines << " lines\n"
          << told(fit);
    }
  }
  EXPECT_GE(named, 40U);  // or else it would show little
}

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
