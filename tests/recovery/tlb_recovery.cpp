// Random models, 60 of them or as many as wanted, with one to three levels of translation caches of any kind: what the
// alias probe finds is the model's truth, or inconclusive. Never confidently wrong.
#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <cstdio>
#include <map>
#include <variant>

#include "model/random_model.hpp"
#include "models_wanted.hpp"
#include "survey/survey.hpp"
#include "target/sim/sim_target.hpp"

namespace gpusonde {
namespace {

constexpr std::uint64_t k_first_seed = 2000;
constexpr std::uint64_t k_models = 60;
constexpr std::uint64_t k_slices = 5;

Run measure(const DeviceModel& model, std::uint64_t seed) {
  return survey_of(model, {.seed = seed}, {"clock", "tlb", "sweep", "addressing"});
}

std::string text_of(const FindingValue& value) {
  const auto* number = std::get_if<double>(&value);
  if (number == nullptr) return std::get<std::string>(value);
  std::array<char, 32> text{};
  std::snprintf(text.data(), text.size(), "%.10g", *number);
  return text.data();
}

std::string said(const Finding& finding) {
  std::string text = finding.id + " is " + text_of(*finding.value);
  if (finding.interval) text += " (" + text_of(finding.interval->low) + " to " + text_of(finding.interval->high) + ")";
  return text + ", the model has " + (finding.truth ? text_of(*finding.truth) : "no such thing");
}

/// The levels of a model on one line, for the message of a failure.
std::string tables_of(const DeviceModel& model) {
  std::string text;
  for (const auto& [id, value] : truth_of(model, model.timing.sm_mhz))
    if (id.starts_with("tlb.")) text += (text.empty() ? "" : ", ") + id + " " + text_of(value);
  for (const auto& tlb : model.tlbs) text += tlb.index == TlbIndex::folded ? ", folded" : ", modulo";
  return text;
}

void expect_true(const Finding& finding) {
  ASSERT_TRUE(finding.value) << finding.id;
  ASSERT_TRUE(finding.truth) << said(finding);
  if (finding.id.ends_with(".miss_cost")) {
    const double truth = std::get<double>(*finding.truth);
    // A walk whose cost seems to depend on the stride has its interval over the strides.
    const double off = std::abs(std::get<double>(*finding.value) - truth);
    EXPECT_TRUE(off <= std::max(1.0, 0.02 * truth) || finding.agrees.value_or(false)) << said(finding);
    return;
  }
  EXPECT_TRUE(finding.agrees.value_or(false)) << said(finding);
  if (finding.id.ends_with(".entries")) {
    ASSERT_TRUE(finding.interval) << finding.id;
    EXPECT_LE(finding.interval->high - finding.interval->low, 0.05 * std::get<double>(*finding.value)) << said(finding);
  }
}

class TlbRecovery : public testing::TestWithParam<std::uint64_t> {};

TEST_P(TlbRecovery, recovers_or_says_inconclusive) {
  const std::uint64_t count = models_wanted(k_models) / k_slices;
  const std::uint64_t first = k_first_seed + GetParam() * count;
  std::map<std::string, std::array<int, 2>> counts;  // id -> ok, not ok
  std::array<int, 2> scopes{};
  for (std::uint64_t seed = first; seed < first + count; ++seed) {
    const auto model = random_model(seed, {.least_cache_levels = 2,
                                           .most_cache_levels = 2,
                                           .max_noise = 0.02,
                                           .any_translation = true,
                                           .most_capacity_bytes = 16ULL << 20});
    SCOPED_TRACE("seed " + std::to_string(seed) + ": " + tables_of(model));
    const auto run = measure(model, seed);
    for (const auto& finding : run.findings) {
      if (!finding.id.starts_with("tlb.") && !finding.id.ends_with(".addressing")) continue;
      const bool ok = finding.outcome == Outcome::ok;
      ++counts[finding.id][ok ? 0 : 1];
      if (finding.id.ends_with(".scope")) ++scopes[ok ? 0 : 1];
      EXPECT_NE(finding.outcome, Outcome::failed) << finding.id << ": " << finding.reason;
      if (ok) {
        expect_true(finding);
      } else {
        EXPECT_FALSE(finding.value) << finding.id;
        EXPECT_FALSE(finding.reason.empty()) << finding.id;
      }
    }
  }
  std::printf("seeds %llu to %llu:", static_cast<unsigned long long>(first),
              static_cast<unsigned long long>(first + count - 1));
  for (const char* id :
       {"tlb.1.entries", "tlb.1.ways", "tlb.1.span", "tlb.1.miss_cost", "tlb.1.replacement", "tlb.2.entries",
        "tlb.2.miss_cost", "tlb.3.entries", "tlb.3.miss_cost", "l1.addressing", "l2.addressing"})
    std::printf(" %s %d/%d", id, counts[id][0], counts[id][0] + counts[id][1]);
  std::printf(" scopes %d/%d\n", scopes[0], scopes[0] + scopes[1]);
  // Inconclusive is an answer, but not always: most tables must be found.
  EXPECT_GE(10 * counts["tlb.1.entries"][0], static_cast<int>(4 * count));
  EXPECT_GE(10 * scopes[0], static_cast<int>(5 * count));
}

INSTANTIATE_TEST_SUITE_P(Models, TlbRecovery, testing::Range<std::uint64_t>(0, k_slices));

}  // namespace
}  // namespace gpusonde
