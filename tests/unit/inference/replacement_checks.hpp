// What must hold of the inference of replacement for any number of ways: a few numbers are checked with every build,
// the rest with the recovery of random models.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

#include "inference/set_policy.hpp"
#include "replacement_subjects.hpp"

namespace gpusonde {

struct NamedSubject {
  std::string name;
  MakeSubject make;
  std::uint32_t most_ways = 64;
};

inline const std::vector<NamedSubject>& simulated_policies() {
  static const std::vector<NamedSubject> list{
      {"lru", simulated(Replacement::lru)},       {"fifo", simulated(Replacement::fifo)},
      {"nru", simulated(Replacement::nru)},       {"tree-plru", simulated(Replacement::tree_plru)},
      {"random", simulated(Replacement::random)}, {"srrip", simulated(Replacement::srrip), 32},
  };
  return list;
}

inline std::string told(const ReplacementFit& fit) {
  std::string text = std::string(to_string(fit.outcome)) + " " + fit.policy + ": " + fit.reason;
  for (const auto& one : fit.agreements)
    text +=
        "\n  " + one.policy + " (" + one.variant + ") " + std::to_string(one.agreement) + (one.survives ? " *" : "");
  return text;
}

inline ReplacementFit fit_of(const MakeSubject& make, std::uint32_t ways, std::uint32_t lines, const Measured& how) {
  return infer_replacement(ways, observe(make, ways, plan_replacement_sequences(ways, lines, how.seed), how));
}

inline void expect_consistent(const ReplacementFit& fit) {
  EXPECT_EQ(fit.outcome == Outcome::ok, fit.reason.empty());
  EXPECT_EQ(fit.outcome == Outcome::ok, !fit.policy.empty());
  if (fit.outcome == Outcome::ok) {
    EXPECT_EQ(fit.survivors, std::vector<std::string>{fit.policy});
  }
}

/// Each policy of the simulated GPU is named, or stays among what may be.
inline void expect_simulated_policies_recovered(std::uint32_t ways) {
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

/// A name may be given to what no candidate covers only where it cannot be told from one; none of these can.
inline void expect_unknown_unnamed(std::uint32_t ways) {
  const std::vector<NamedSubject> odd{
      {"most recent", most_recent},
      {"among the oldest half", random_but_newest([](std::uint32_t all) { return all / 2; })},
      {"second chance", second_chance},
      {"moved by one", moved_by_one},
  };
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

/// The same each time, so not random, however random it looks.
inline void expect_shift_register_not_random(std::uint32_t ways) {
  const auto fit = fit_of(shift_register, ways, 2 * ways, {SetStart::empty, 0.01, 5});
  EXPECT_TRUE(fit.survivors.empty()) << ways << " ways\n" << told(fit);
}

inline void expect_random_that_spares_the_last(std::uint32_t ways) {
  const auto make = random_but_newest([](std::uint32_t) { return 1U; });
  const auto fit = fit_of(make, ways, 3 * ways, {SetStart::empty, 0, 2});
  EXPECT_EQ(fit.policy, "random") << told(fit);
  EXPECT_TRUE(ways != 4 || fit.variant == "any way but the one used last") << told(fit);
}

/// Lines hit again are hardly ever evicted by lines touched once, and which kind of that it is shows.
inline void expect_protection_by_hits_told(std::uint32_t ways) {
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

/// Access by access, over sequences of its own kind, one variant of each family does exactly what the simulated GPU
/// does.
inline void expect_candidates_hold_simulated_policies(std::uint32_t ways) {
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

/// Where a line comes in and where a hit line is protected are the same while all protected places are taken.
inline void expect_insertion_told_from_an_empty_start(std::uint32_t ways) {
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

/// Any policy, known or not, measured in any way: the right name, a list that has it, or none.
inline void expect_no_wrong_name(std::uint64_t first_seed, std::uint64_t last_seed, std::size_t least_named) {
  std::vector<NamedSubject> subjects = simulated_policies();
  for (const auto& odd : std::vector<NamedSubject>{{"", most_recent},
                                                   {"", second_chance},
                                                   {"", moved_by_one},
                                                   {"", inserted_halfway},
                                                   {"", shift_register},
                                                   {"", random_but_newest([](std::uint32_t all) { return all / 2; })},
                                                   {"lru-insertion", inserted_oldest}})
    subjects.push_back(odd);
  std::size_t named = 0;
  for (std::uint64_t seed = first_seed; seed <= last_seed; ++seed) {
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
  EXPECT_GE(named, least_named);  // or else it would show little
}

}  // namespace gpusonde
