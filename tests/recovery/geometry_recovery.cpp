// Caches of random geometry in, the same geometry out, or inconclusive. And the RTX 4090's model, of which the
// published functions are known: found again from timing, and the same on a million lines.
#include <gtest/gtest.h>

#include <array>
#include <cstdio>
#include <map>

#include "core/random.hpp"
#include "model/address_function.hpp"
#include "model/random_model.hpp"
#include "models_wanted.hpp"
#include "survey/survey.hpp"
#include "target/sim/machine.hpp"
#include "target/sim/sim_target.hpp"

namespace gpusonde {
namespace {

constexpr std::uint64_t k_l1_models = 60;
constexpr std::uint64_t k_l2_models = 10;
constexpr std::uint64_t k_slices = 10;

Run measure(const DeviceModel& model, std::uint64_t seed, std::vector<std::string> probes, bool physical = false) {
  return survey_of(model, {.seed = seed, .physical_addresses = physical}, std::move(probes));
}

using Counts = std::map<std::string, std::array<int, 2>>;  // id -> ok, not ok

void expect_none_wrong(const Run& run, Counts& counts) {
  for (const auto& finding : run.findings) {
    ++counts[finding.id][finding.outcome == Outcome::ok ? 0 : 1];
    if (finding.outcome != Outcome::ok) {
      EXPECT_FALSE(finding.value) << finding.id;
      EXPECT_FALSE(finding.reason.empty()) << finding.id;
      continue;
    }
    if (finding.truth) {
      EXPECT_TRUE(finding.agrees.value_or(false)) << finding.id << " is confidently wrong";
    }
  }
}

void print(const Counts& counts) {
  for (const auto& [id, count] : counts) std::printf("%-24s ok %3d, not %3d\n", id.c_str(), count[0], count[1]);
}

class GeometryRecovery : public testing::TestWithParam<std::uint64_t> {};

TEST_P(GeometryRecovery, finds_l1_or_says_inconclusive) {
  constexpr auto k_count = k_l1_models / k_slices;
  Counts counts;
  for (std::uint64_t i = 0; i < k_count; ++i) {
    const std::uint64_t seed = 1000 + GetParam() * k_count + i;
    SCOPED_TRACE("seed " + std::to_string(seed));
    const auto model = random_model(seed, {.max_noise = i % 2 == 0 ? 0 : 0.02, .any_geometry = true});
    expect_none_wrong(measure(model, seed, {"l1"}), counts);
  }
  print(counts);
  // Of a set whose policy is chance, searches may not end; of all others they do.
  EXPECT_GE(counts["l1.ways"][0], 3);
  EXPECT_GE(counts["l1.sets"][0], 3);
  EXPECT_EQ(counts["l1.sector_size"][0], static_cast<int>(k_count));
}

TEST_P(GeometryRecovery, finds_slices_and_l2_or_says_inconclusive) {
  constexpr auto k_count = k_l2_models / k_slices;
  Counts counts;
  for (std::uint64_t i = 0; i < k_count; ++i) {
    const std::uint64_t seed = 3000 + GetParam() * k_count + i;
    SCOPED_TRACE("seed " + std::to_string(seed));
    const auto model = random_model(seed, {.max_noise = i % 2 == 0 ? 0 : 0.02, .any_geometry = true});
    expect_none_wrong(measure(model, seed, {"slices", "l2"}), counts);
  }
  print(counts);
}

INSTANTIATE_TEST_SUITE_P(Models, GeometryRecovery, testing::Range<std::uint64_t>(0, k_slices));

const std::string& text_of(const Run& run, const std::string& id) {
  static const std::string k_none;
  const auto* finding = run.finding(id);
  if (finding == nullptr || !finding->value) {
    ADD_FAILURE() << id << " is not known: " << (finding == nullptr ? "no finding" : finding->reason);
    return k_none;
  }
  return std::get<std::string>(*finding->value);
}

AddressFunction parsed(const std::string& text) {
  auto function = AddressFunction::parse(text, {"found", 1, 1});
  EXPECT_TRUE(function) << function.error().message;
  return function ? *function : AddressFunction();
}

/// Whether two numberings of the same things are one up to names.
class SamePartition {
 public:
  void add(std::uint64_t one, std::uint64_t other) {
    const auto there = m_forth.emplace(one, other).first->second == other;
    const auto back = m_back.emplace(other, one).first->second == one;
    m_wrong += there && back ? 0 : 1;
  }
  [[nodiscard]] std::uint64_t wrong() const { return m_wrong; }
  [[nodiscard]] std::size_t classes() const { return m_forth.size(); }

 private:
  std::map<std::uint64_t, std::uint64_t> m_forth;
  std::map<std::uint64_t, std::uint64_t> m_back;
  std::uint64_t m_wrong = 0;
};

TEST(KnownGeometry, an_rtx_4090_with_physical_addresses_shows_its_published_functions) {
  const auto model = find_model("rtx4090");
  ASSERT_TRUE(model);
  const auto run = measure(*model, 1, {"l1", "slices", "l2"}, true);
  Counts counts;
  expect_none_wrong(run, counts);
  for (const char* id : {"l1.line_size", "l1.sector_size", "l1.ways", "l1.sets", "l1.set_masks", "l1.replacement",
                         "l2.line_size", "l2.sector_size", "l2.ways", "l2.sets_per_slice", "l2.slices",
                         "l2.fetch_granularity", "l2.partitions", "l2.replacement"})
    EXPECT_EQ(counts[id][0], 1) << id;
  const auto& l2 = model->caches[1];
  const auto slice = parsed(text_of(run, "l2.slice_function"));
  const auto set = parsed(text_of(run, "l2.set_function"));
  SamePartition slices;
  SamePartition sets;
  Random random(7);
  for (int i = 0; i < 1'000'000; ++i) {
    const std::uint64_t address = random.below(model->memory_bytes / 128) * 128;
    const std::uint64_t true_slice = l2.slice_function(address);
    slices.add(slice(address), true_slice);
    sets.add(std::uint64_t{slice(address)} << 32U | set(address), true_slice << 32U | l2.set_function(address));
  }
  EXPECT_EQ(slices.classes(), 36U);
  EXPECT_EQ(slices.wrong(), 0U);
  EXPECT_EQ(sets.classes(), 36U * 1024U);
  EXPECT_EQ(sets.wrong(), 0U);
}

// Without physical addresses the function is of the offset in a page, up to constants of the page: every line of a page
// of which most were never looked at is predicted.
TEST(KnownGeometry, an_rtx_4090_without_physical_addresses_shows_its_slices_within_pages) {
  const auto model = find_model("rtx4090");
  ASSERT_TRUE(model);
  const auto run = measure(*model, 1, {"slices"});
  const auto* slices = run.finding("l2.slices");
  ASSERT_TRUE(slices != nullptr && slices->value);
  EXPECT_EQ(std::get<double>(*slices->value), 36);
  const auto slice = parsed(text_of(run, "l2.slice_function"));
  // The first page has all constants 0, so there the function stands as it is.
  const sim::PageTable pages(model->paging, model->memory_bytes, sim::page_seed(1));
  SamePartition first_page;
  for (std::uint64_t offset = 0; offset < model->paging.frame_bytes; offset += 128)
    first_page.add(slice(offset), model->caches[1].slice_function(pages.physical(offset)));
  EXPECT_EQ(first_page.classes(), 36U);
  EXPECT_EQ(first_page.wrong(), 0U);
  // k slices answer k times as many lines.
  const auto* table = run.measurements.find("slices.contention");
  ASSERT_NE(table, nullptr);
  const auto& count = *table->column<std::uint64_t>("slices");
  const auto& rate = *table->column<double>("lines_per_cycle");
  ASSERT_EQ(count.back(), 36U);
  for (std::size_t i = 0; i < count.size(); ++i)
    EXPECT_NEAR(rate[i] / rate[0], static_cast<double>(count[i]), 0.02 * static_cast<double>(count[i]));
}

TEST(KnownGeometry, an_l40s_has_48_slices) {
  const auto model = find_model("l40s");
  ASSERT_TRUE(model);
  const auto run = measure(*model, 1, {"slices"});
  const auto* slices = run.finding("l2.slices");
  ASSERT_TRUE(slices != nullptr && slices->value) << (slices == nullptr ? "" : slices->reason);
  EXPECT_EQ(std::get<double>(*slices->value), 48);
}

}  // namespace
}  // namespace gpusonde
