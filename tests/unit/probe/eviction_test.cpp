// The smallest set of lines that pushes one out: of caches whose sets are known, and where there is none to find.
#include "probe/eviction.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <set>
#include <utility>

#include "../target_sim/small_model.hpp"
#include "core/random.hpp"
#include "core/units.hpp"

namespace gpusonde {
namespace {

using testing::IsEmpty;
using testing::UnorderedElementsAre;

constexpr std::uint64_t k_line_bytes = 128;
constexpr std::size_t k_most_lines = 64;
// L1 answers after 30 cycles, L2 after 200, DRAM after 500, each with the 10 cycles that a reading costs.
constexpr double k_l1_limit_cycles = 100;
constexpr double k_l2_limit_cycles = 300;

/// Sets by parities of three masks, so that no stride finds them.
AddressFunction hashed_sets() { return AddressFunction::parities({0x14880, 0x2A100, 0x51200}); }

DeviceModel model_with_l1(std::uint32_t ways, Replacement policy) {
  auto model = small_model();
  model.caches[0].ways = ways;
  model.caches[0].sets = 8;
  model.caches[0].set_function = hashed_sets();
  model.caches[0].replacement = policy;
  return model;
}

EvictionSettings l2_settings() {
  EvictionSettings settings;
  settings.path = LoadPath::global_cg;
  settings.at_once = false;
  settings.drop_victim = true;
  return settings;
}

/// Lines of the first 256 KiB in random order, without those that `left_out` names.
std::vector<std::uint64_t> shuffled_lines(std::uint64_t seed, const std::function<bool(std::uint64_t)>& left_out) {
  std::vector<std::uint64_t> lines;
  for (std::uint64_t line = 0; line < 256 * k_kib; line += k_line_bytes)
    if (!left_out(line)) lines.push_back(line);
  Random random(seed);
  for (std::size_t i = lines.size(); i > 1; --i) std::swap(lines[i - 1], lines[random.below(i)]);
  return lines;
}

std::vector<std::uint64_t> without(std::uint64_t victim, std::uint64_t seed) {
  return shuffled_lines(seed, [victim](std::uint64_t line) { return line == victim; });
}

EvictionSet search(Target& target, const EvictionSettings& settings, double limit, std::uint64_t victim,
                   std::vector<std::uint64_t> pool, std::size_t most_lines = k_most_lines) {
  EvictionOracle oracle(target, nullptr, settings);
  oracle.set_limit(limit);
  auto found = find_eviction_set(oracle, victim, std::move(pool), most_lines);
  EXPECT_TRUE(found) << found.error().message;
  return found.value_or(EvictionSet());
}

void expect_lines_of_one_set(const EvictionSet& found, std::uint64_t victim, std::size_t ways,
                             const std::function<std::uint64_t(std::uint64_t)>& set_of) {
  EXPECT_EQ(found.trouble, "");
  EXPECT_TRUE(found.pool_evicts);
  EXPECT_EQ(found.victim, victim);
  EXPECT_EQ(found.lines.size(), ways);
  EXPECT_EQ(std::set<std::uint64_t>(found.lines.begin(), found.lines.end()).size(), ways);
  for (const auto line : found.lines) {
    EXPECT_NE(line, victim);
    EXPECT_EQ(set_of(line), set_of(victim)) << line;
  }
  EXPECT_EQ(found.evicted, found.checks);
  EXPECT_EQ(found.evicted_less_one, 0U);
  EXPECT_GE(found.checks, 10U);
}

class EachPolicy : public testing::TestWithParam<std::pair<Replacement, std::uint32_t>> {};
INSTANTIATE_TEST_SUITE_P(Eviction, EachPolicy,
                         testing::Values(std::pair{Replacement::lru, 1U}, std::pair{Replacement::lru, 2U},
                                         std::pair{Replacement::lru, 6U}, std::pair{Replacement::lru, 16U},
                                         std::pair{Replacement::fifo, 2U}, std::pair{Replacement::fifo, 5U},
                                         std::pair{Replacement::fifo, 8U}, std::pair{Replacement::tree_plru, 2U},
                                         std::pair{Replacement::tree_plru, 4U},
                                         std::pair{Replacement::tree_plru, 16U}));

TEST_P(EachPolicy, AsManyLinesOfTheVictimsSetAsWays) {
  const auto [policy, ways] = GetParam();
  const auto target = make(model_with_l1(ways, policy));
  const auto set_of = hashed_sets();
  for (const std::uint64_t victim : {std::uint64_t{0}, 5 * k_line_bytes, 1234 * k_line_bytes}) {
    const auto found = search(*target, {}, k_l1_limit_cycles, victim, without(victim, victim + 1));
    expect_lines_of_one_set(found, victim, ways, set_of);
    EXPECT_EQ(found.evicted_cycles, 210U);  // L2 has the victim still
  }
}

// What L2 holds goes on from test to test, so questions are asked in turn and the victim is dropped first.
TEST(Eviction, AsManyLinesOfL2AsWays) {
  auto model = small_model();
  model.caches[1].sets = 64;
  model.caches[1].ways = 8;
  model.caches[1].set_function = AddressFunction::modulo(128, 64);
  const auto target = make(model);
  ASSERT_TRUE(target->capabilities().drops_lines);
  const std::uint64_t victim = 77 * k_line_bytes;
  const auto found = search(*target, l2_settings(), k_l2_limit_cycles, victim, without(victim, 3));
  expect_lines_of_one_set(found, victim, 8, [](std::uint64_t line) { return line / 128 % 64; });
  EXPECT_EQ(found.evicted_cycles, 510U);
}

TEST(Eviction, SetsThatARemainderMakes) {
  auto model = model_with_l1(4, Replacement::lru);
  model.caches[0].sets = 12;
  model.caches[0].set_function = AddressFunction::modulo(256, 12);
  const std::uint64_t victim = 100 * k_line_bytes;
  const auto found = search(*make(model), {}, k_l1_limit_cycles, victim, without(victim, 4));
  expect_lines_of_one_set(found, victim, 4, [](std::uint64_t line) { return line / 256 % 12; });
}

TEST(Eviction, APoolWithOneLineTooFewOfTheSetDoesNotPushItOut) {
  const auto target = make(model_with_l1(4, Replacement::lru));
  const auto set_of = hashed_sets();
  std::size_t taken = 0;
  const auto fewer_than = [&](std::size_t most) {
    taken = 0;
    return shuffled_lines(5, [&taken, &set_of, most](std::uint64_t line) {
      return line == 0 || (set_of(line) == set_of(0) && taken++ >= most);
    });
  };
  const auto pool = fewer_than(3);
  const auto short_of_one = search(*target, {}, k_l1_limit_cycles, 0, pool);
  EXPECT_FALSE(short_of_one.pool_evicts);
  EXPECT_THAT(short_of_one.lines, IsEmpty());
  EXPECT_EQ(short_of_one.trouble, std::to_string(pool.size()) + " lines do not push it out");
  expect_lines_of_one_set(search(*target, {}, k_l1_limit_cycles, 0, fewer_than(4)), 0, 4, set_of);
}

TEST(Eviction, AnEmptyPoolPushesNothingOut) {
  const auto found = search(*make(model_with_l1(2, Replacement::lru)), {}, k_l1_limit_cycles, 0, {});
  EXPECT_FALSE(found.pool_evicts);
  EXPECT_EQ(found.trouble, "0 lines do not push it out");
}

TEST(Eviction, MoreWaysThanLinesAllowedAreGivenUp) {
  const auto target = make(model_with_l1(8, Replacement::lru));
  const auto found = search(*target, {}, k_l1_limit_cycles, 0, without(0, 6), 7);
  EXPECT_TRUE(found.pool_evicts);
  EXPECT_THAT(found.lines, IsEmpty());
  EXPECT_EQ(found.trouble, "no 7 lines push it out");
  EXPECT_EQ(search(*target, {}, k_l1_limit_cycles, 0, without(0, 6), 8).lines.size(), 8U);
}

// Loads past L1 leave nothing there: each reading is a miss, whatever is loaded in between, and that is no cache of one
// way.
TEST(Eviction, AVictimCachedNowhereHasNoSet) {
  EvictionSettings past_l1;
  past_l1.path = LoadPath::global_cg;
  const auto target = make(model_with_l1(4, Replacement::lru));
  const auto found = search(*target, past_l1, k_l1_limit_cycles, 0, without(0, 7));
  EXPECT_THAT(found.lines, IsEmpty());
  EXPECT_EQ(found.trouble, "it is not there even when nothing else was loaded");
}

TEST(EvictionOracle, CountsVotesAndReadsTheVictimAfterEachQuestion) {
  const auto target = make(model_with_l1(2, Replacement::lru));
  const auto set_of = hashed_sets();
  std::vector<std::uint64_t> same;
  for (std::uint64_t line = k_line_bytes; same.size() < 2; line += k_line_bytes)
    if (set_of(line) == set_of(0)) same.push_back(line);
  EvictionOracle oracle(*target, nullptr, {});
  oracle.set_limit(k_l1_limit_cycles);
  const std::vector<EvictionQuestion> questions{{0, 0, 1}, {0, 0, 2}, {0, 1, 1}, {0, 0, 0}, {same[0], 1, 1}};
  EXPECT_EQ(oracle.readings(same, questions, 1).value(), (std::vector<std::uint32_t>{40, 210, 40, 40, 40}));
  EXPECT_EQ(oracle.evictions(same, questions, 3).value(), (std::vector<std::uint32_t>{0, 3, 0, 0, 0}));
  EXPECT_EQ(oracle.asked(), 5U + 15U);
}

/// Loads and answers by a rule of its own: whether lines, in the order loaded, push the victim out.
class RuledTarget : public Target {
 public:
  using Rule = std::function<bool(const std::vector<std::uint64_t>&)>;
  explicit RuledTarget(Rule rule) : m_rule(std::move(rule)) {}

  [[nodiscard]] const DeviceInfo& device() const noexcept override { return m_device; }
  [[nodiscard]] const Capabilities& capabilities() const noexcept override { return m_capabilities; }
  [[nodiscard]] Environment environment() override { return {}; }
  [[nodiscard]] ClockState clocks() override { return {}; }
  [[nodiscard]] Result<std::vector<Samples>> run(std::span<const Experiment> experiments,
                                                 const RunControl& /*control*/) override {
    std::vector<Samples> all;
    for (const auto& experiment : experiments) {
      const auto& e = std::get<SequenceExperiment>(experiment);
      SequenceSamples samples;
      std::vector<std::uint64_t> loaded;
      for (const auto& step : e.steps) {
        const auto first = e.places.begin() + step.first;
        if (step.kind != StepKind::time) {
          loaded.insert(loaded.end(), first, first + step.count);
          continue;
        }
        loaded.erase(loaded.begin());  // the victim's own
        samples.cycles.push_back(m_rule(loaded) ? 500 : 40);
        loaded.clear();
      }
      all.emplace_back(std::move(samples));
    }
    return all;
  }

 private:
  Rule m_rule;
  DeviceInfo m_device;
  Capabilities m_capabilities;
};

// The victim has two places. As long as the pool's first line comes first, the one that line 40 takes answers; else
// the one that lines 5 and 10 take together.
TEST(Eviction, LinesKeptForAnotherPlaceOfTheVictimArePruned) {
  std::vector<std::uint64_t> pool;
  for (std::uint64_t i = 0; i < 64; ++i) pool.push_back(i * k_line_bytes);
  const auto held = [&](const std::vector<std::uint64_t>& lines, std::size_t i) {
    return std::find(lines.begin(), lines.end(), pool[i]) != lines.end();
  };
  std::set<std::vector<std::uint64_t>> asked;
  RuledTarget target([&](const std::vector<std::uint64_t>& lines) {
    asked.insert(lines);
    if (!lines.empty() && lines.front() == pool[0]) return held(lines, 40);
    return held(lines, 5) && held(lines, 10);
  });
  const auto found = search(target, {}, k_l1_limit_cycles, 1000 * k_line_bytes, pool);
  EXPECT_EQ(found.trouble, "");
  EXPECT_THAT(found.lines, UnorderedElementsAre(pool[5], pool[10]));
  EXPECT_EQ(found.evicted, found.checks);
  EXPECT_EQ(found.evicted_less_one, 0U);
  EXPECT_TRUE(asked.contains({pool[5], pool[10], pool[40]}));  // kept until then
}

TEST(Eviction, WhatTheNumberOfLinesPushedOutIsNamed) {
  std::vector<std::uint64_t> pool;
  for (std::uint64_t i = 0; i < 64; ++i) pool.push_back(i * k_line_bytes);
  RuledTarget target([&](const std::vector<std::uint64_t>& lines) {
    return lines.size() >= 20 && lines.front() == pool[0];  // once one is kept, no number does
  });
  const auto found = search(target, {}, k_l1_limit_cycles, 1000 * k_line_bytes, pool);
  EXPECT_TRUE(found.pool_evicts);
  EXPECT_THAT(found.lines, IsEmpty());
  EXPECT_EQ(found.trouble, "what pushed it out after 20 lines was none of them");
}

}  // namespace
}  // namespace gpusonde
