// Geometry of one H200's caches: runs of `gpusonde cache l1` and `gpusonde cache l2`, analysed again. What is asserted
// is written up, with its evidence, in docs/results/h200.md.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <map>

#include "capture.hpp"
#include "survey/survey.hpp"

namespace gpusonde {
namespace {

class H200Geometry : public testing::Test {
 protected:
  void load(const char* name, std::string_view without = {}) {
    auto stored = read_capture(name);
    ASSERT_TRUE(stored) << stored.error().message;
    std::erase_if(stored->measurements.tables, [&](const auto& table) { return table.first == without; });
    m_run = analyze(*stored);
  }
  [[nodiscard]] const Finding& found(const std::string& id) const {
    static const Finding k_absent;
    const auto* finding = m_run.finding(id);
    if (finding == nullptr) ADD_FAILURE() << id << " is absent";
    return finding == nullptr ? k_absent : *finding;
  }
  template <class T>
  [[nodiscard]] T value(const std::string& id) const {
    const auto& finding = found(id);
    const auto* held = finding.value ? std::get_if<T>(&*finding.value) : nullptr;
    if (held == nullptr) ADD_FAILURE() << id << ": " << finding.reason;
    return held == nullptr ? T{} : *held;
  }
  [[nodiscard]] double number(const std::string& id) const { return value<double>(id); }
  template <class T>
  [[nodiscard]] T sample(const std::string& id, const std::string& name) const {
    for (const auto& [key, held] : found(id).samples)
      if (const auto* as = std::get_if<T>(&held); key == name && as != nullptr) return *as;
    ADD_FAILURE() << id << " has no such sample: " << name;
    return T{};
  }
  void expect_inconclusive(const std::string& id, const std::string& because) const {
    const auto& finding = found(id);
    EXPECT_EQ(finding.outcome, Outcome::inconclusive) << id;
    EXPECT_FALSE(finding.value) << id;
    EXPECT_NE(finding.reason.find(because), std::string::npos) << id << ": " << finding.reason;
  }
  gpusonde::Run m_run;
};

TEST_F(H200Geometry, L1) {
  ASSERT_NO_FATAL_FAILURE(load("h200-l1.json.gz"));
  EXPECT_EQ(number("l1.line_size"), 128);
  EXPECT_EQ(number("l1.sector_size"), 32);
  EXPECT_EQ(number("l1.ways"), 4);
  EXPECT_EQ(number("l1.sets"), 512);
  EXPECT_EQ(value<std::vector<std::string>>("l1.set_masks"),
            (std::vector<std::string>{"0x20cac00", "0xaa88200", "0x10127980", "0x510a1280", "0xc0a24300", "0x102823400",
                                      "0x184a10480", "0x214583000", "0x230860100"}));
  EXPECT_EQ(sample<std::string>("l1.sets", "sets_looked_at"), "512 of 512 hold 4");
  EXPECT_EQ(value<std::string>("l1.replacement"), "lru-behind-hits");
  EXPECT_EQ(sample<std::string>("l1.replacement", "variant"), "comes in behind the last 2 hits");
  EXPECT_EQ(sample<std::string>("l1.replacement", "lru-behind-hits"), "100.0 % of 19050");
  EXPECT_EQ(sample<std::string>("l1.replacement", "slru"), "97.4 % of 19050");
  EXPECT_EQ(sample<std::string>("l1.replacement", "lru"), "94.3 % of 19050");
}

// Without any fit: three times the same hits, so nothing is left to chance; and the masks put each group into one set.
TEST_F(H200Geometry, L1HitsAreTheSameEachTimeAndGroupsShareASet) {
  auto stored = read_capture("h200-l1.json.gz");
  ASSERT_TRUE(stored) << stored.error().message;
  const auto* policy = stored->measurements.find("cache.l1.policy");
  ASSERT_NE(policy, nullptr);
  std::map<std::string, std::map<std::string, int>> outcomes;
  for (std::size_t row = 0; row < policy->rows(); ++row)
    ++outcomes[(*policy->column<std::string>("walk"))[row]][(*policy->column<std::string>("hits"))[row]];
  EXPECT_EQ(outcomes.size(), 15U);
  for (const auto& [walk, hits] : outcomes) {
    EXPECT_EQ(hits.size(), 1U) << walk;
    EXPECT_EQ(hits.begin()->second, 3) << walk;
  }
  const auto* lines = stored->measurements.find("cache.l1.lines");
  ASSERT_NE(lines, nullptr);
  constexpr std::array<std::uint64_t, 9> k_masks{0x20cac00,   0xaa88200,   0x10127980,  0x510a1280, 0xc0a24300,
                                                 0x102823400, 0x184a10480, 0x214583000, 0x230860100};
  std::uint64_t victim = 0;
  int inside = 0;
  int apart = 0;
  for (std::size_t row = 0; row < lines->rows(); ++row) {
    const auto address = (*lines->column<std::uint64_t>("virtual_address"))[row];
    const auto& role = (*lines->column<std::string>("role"))[row];
    if (role == "victim") victim = address;
    const bool same = std::all_of(k_masks.begin(), k_masks.end(), [&](const std::uint64_t mask) {
      return std::popcount((address ^ victim) & mask) % 2 == 0;
    });
    EXPECT_EQ(same, role != "apart") << row;
    (same ? inside : apart) += 1;
  }
  EXPECT_EQ(inside, 351);
  EXPECT_EQ(apart, 624);
}

TEST_F(H200Geometry, L2AndItsSlices) {
  // With the table of lines all classes are made out once more, for a count of sets that stays open: a second of work.
  ASSERT_NO_FATAL_FAILURE(load("h200-l2.json.gz", "cache.l2.lines"));
  EXPECT_EQ(number("l2.line_size"), 128);
  EXPECT_EQ(number("l2.sector_size"), 32);
  EXPECT_EQ(number("l2.fetch_granularity"), 64);
  EXPECT_EQ(sample<double>("l2.fetch_granularity", "limit_32"), 32);
  EXPECT_EQ(sample<double>("l2.fetch_granularity", "limit_128"), 128);
  EXPECT_EQ(sample<double>("l2.fetch_granularity", "prefetch_128"), 128);
  EXPECT_EQ(number("l2.ways"), 16);
  EXPECT_EQ(value<std::string>("l2.replacement"), "lru");
  EXPECT_EQ(sample<std::string>("l2.replacement", "lru"), "100.0 % of 21654");

  expect_inconclusive("l2.slices", "too few to tell one slice from two alike");
  EXPECT_EQ(sample<double>("l2.slices", "classes_apart"), 88);
  EXPECT_EQ(sample<std::string>("l2.slices", "consecutive_lines").substr(0, 23), "0 0 1 1 0 0 1 1 2 2 3 3");
  expect_inconclusive("l2.slice_function", "not linear");

  EXPECT_EQ(number("l2.partitions"), 2);
  EXPECT_EQ(sample<std::string>("l2.partitions", "sms"), "66 and 66");
  EXPECT_NEAR(sample<double>("l2.partitions", "far_less_near_cycles"), 196, 2);
  EXPECT_EQ(value<std::string>("l2.home_mask"), "0xab000");
  EXPECT_EQ(sample<double>("l2.home_mask", "held_out_wrong"), 0);
  EXPECT_NEAR(number("l2.latency_spread"), 84.5, 0.5);

  const auto* lines = m_run.measurements.find("derived.slices.lines");
  ASSERT_NE(lines, nullptr);
  std::map<double, int> sizes;
  for (std::size_t row = 512; row < lines->rows(); ++row) ++sizes[(*lines->column<double>("slice"))[row]];
  const auto twice =
      std::count_if(sizes.begin(), sizes.end(), [](const auto& size) { return size.second > 1.75 * 44; });
  EXPECT_EQ(twice, 6) << "classes of the size of two";
}

/// Share of lines still in a set of `ways` under LRU, of `all` bytes at random the `back` touched last.
double still_there(double ways, double capacity, double all, double back) {
  const double lines = ways * all / capacity;  // of a set
  const double share = std::min(1.0, back / all);
  double sum = 0;
  for (double k = 0; k < ways; ++k)
    sum += share >= 1 ? 0
                      : std::exp(std::lgamma(lines + 1) - std::lgamma(k + 1) - std::lgamma(lines - k + 1) +
                                 k * std::log(share) + (lines - k) * std::log1p(-share));
  return sum;
}

// Another measurement, of another card, which knows of no sets: how many lines of a lap at random still hit. It is what
// 16 ways under LRU leave, and not what 8 or 32 do.
TEST_F(H200Geometry, RecencyIsThatOfSixteenWaysUnderLru) {
  auto stored = read_capture("h200-survey.json.gz");
  ASSERT_TRUE(stored) << stored.error().message;
  const auto* table = stored->measurements.find("capacity.recency");
  ASSERT_NE(table, nullptr);
  m_run = std::move(*stored);
  const double capacity = number("l2.near_capacity");
  std::map<int, double> worst;
  int points = 0;
  for (std::size_t row = 0; row < table->rows(); ++row) {
    if ((*table->column<std::string>("zone"))[row] != "edge") continue;
    ++points;
    for (const int ways : {8, 16, 32})
      worst[ways] = std::max(
          worst[ways],
          std::abs((*table->column<double>("near_fraction"))[row] -
                   still_there(ways, capacity, static_cast<double>((*table->column<std::uint64_t>("ring_bytes"))[row]),
                               static_cast<double>((*table->column<std::uint64_t>("bytes_back"))[row]))));
  }
  EXPECT_EQ(points, 50);
  EXPECT_LT(worst[16], 0.025);
  EXPECT_GT(worst[8], 0.08);
  EXPECT_GT(worst[32], 0.08);
}

}  // namespace
}  // namespace gpusonde
