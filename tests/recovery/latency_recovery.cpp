// Random models, 60 of them or as many as wanted: what the probes find is the model's truth, or inconclusive. Never
// confidently wrong.
#include <gtest/gtest.h>

#include <cmath>
#include <cstdio>
#include <map>

#include "model/random_model.hpp"
#include "models_wanted.hpp"
#include "survey/survey.hpp"
#include "target/sim/sim_target.hpp"

namespace gpusonde {
namespace {

constexpr std::uint64_t k_models = 60;
constexpr std::uint64_t k_slices = 5;

Run measure(const DeviceModel& model, std::uint64_t seed) {
  SurveyRequest request;
  request.probe.latency.points_per_octave = 5;
  return survey_of(model, {.seed = seed}, {"clock", "latency", "capacity"}, std::move(request));
}

// How far an ok value may lie from the truth: latencies 2 % or 2 cycles, capacities behind L1 3 % (their
// intervals, when wider), and L1's to the byte.
double tolerance(const Finding& finding, double truth) {
  if (finding.id == "l1.capacity") return 0;
  if (finding.unit == "bytes") return std::max(0.03 * truth, std::abs(finding.interval->high - finding.interval->low));
  if (finding.unit == "cycles") return std::max(2.0, 0.02 * truth);
  return std::max(1.0, 0.02 * truth);
}

class LatencyRecovery : public testing::TestWithParam<std::uint64_t> {};

TEST_P(LatencyRecovery, recovers_or_says_inconclusive) {
  std::map<std::string, std::array<int, 2>> counts;  // id -> ok, not ok
  const std::uint64_t models = models_wanted(k_models) / k_slices;
  const std::uint64_t first = 1000 + GetParam() * models;
  for (std::uint64_t seed = first; seed < first + models; ++seed) {
    const auto model = random_model(seed, {.least_cache_levels = 1,
                                           .most_cache_levels = 3,
                                           .max_noise = 0.03,
                                           .with_tlb = true,
                                           .most_capacity_bytes = 16ULL << 20});
    SCOPED_TRACE("seed " + std::to_string(seed));
    const auto run = measure(model, seed);
    const bool two_l2_levels = model.caches.size() == 3;
    for (const auto& finding : run.findings) {
      auto& count = counts[finding.id];
      ++count[finding.outcome == Outcome::ok ? 0 : 1];
      if (finding.outcome != Outcome::ok) {
        EXPECT_FALSE(finding.value) << finding.id;
        EXPECT_FALSE(finding.reason.empty()) << finding.id;
        continue;
      }
      if (finding.id.starts_with("timer.")) continue;
      EXPECT_TRUE(finding.truth) << finding.id << " is ok, but the model has no such thing";
      if (!finding.truth) continue;
      const auto* truth = std::get_if<double>(&*finding.truth);
      ASSERT_NE(truth, nullptr) << finding.id;
      const double value = std::get<double>(*finding.value);
      const double width = finding.interval->high - finding.interval->low;
      EXPECT_LE(width, std::max(0.15 * value, 4.0)) << finding.id << " is said to be known";
      EXPECT_TRUE(std::abs(value - *truth) <= tolerance(finding, *truth) || finding.agrees.value_or(false))
          << finding.id << ": " << value << " (" << finding.interval->low << " to " << finding.interval->high
          << "), the model has " << *truth;
    }
    if (const auto* far = run.finding("l2.far_latency"); far != nullptr && far->outcome == Outcome::unsupported) {
      EXPECT_FALSE(two_l2_levels) << "a level was missed and said not to exist";
    }
  }
  std::printf("seeds %llu to %llu:", static_cast<unsigned long long>(first),
              static_cast<unsigned long long>(first + models - 1));
  for (const char* id :
       {"l1.hit_latency", "l2.hit_latency", "l2.far_latency", "dram.latency", "l1.capacity", "l2.capacity"})
    std::printf(" %s %d/%d", id, counts[id][0], counts[id][0] + counts[id][1]);
  std::printf("\n");
  // Inconclusive is an answer, but not always: most levels must be found.
  const auto of_ten = [&](int n) { return n * static_cast<int>(models); };
  EXPECT_GE(10 * counts["l1.hit_latency"][0], of_ten(6));
  EXPECT_GE(10 * counts["dram.latency"][0], of_ten(4));
  EXPECT_GE(10 * counts["l1.capacity"][0], of_ten(5));
}

INSTANTIATE_TEST_SUITE_P(Models, LatencyRecovery, testing::Range<std::uint64_t>(0, k_slices));

}  // namespace
}  // namespace gpusonde
