// The probes whose work is spread over threads, whole, for the thread sanitizer.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "model/device_model.hpp"
#include "survey/survey.hpp"
#include "target/sim/sim_target.hpp"

namespace gpusonde {
namespace {

Run measure(std::vector<std::string> probes) {
  const auto model = find_model("rtx4090");
  EXPECT_TRUE(model);
  auto target = make_sim_target(*model, {.threads = 4});
  EXPECT_TRUE(target) << target.error().message;
  SurveyRequest request;
  request.probes = std::move(probes);
  request.probe.quick = true;
  request.probe.thorough = false;
  request.probe.latency.preset = SizePreset::quick;
  request.probe.latency.max_bytes = 16ULL << 20;
  auto result = run_survey(**target, request);
  EXPECT_FALSE(result.error) << result.error->message;
  return std::move(result.run);
}

double value(const Run& run, const std::string& id) {
  const auto* finding = run.finding(id);
  return finding == nullptr || !finding->value ? -1 : std::get<double>(*finding->value);
}

TEST(Threads, latency_of_a_simulated_gpu) {
  const auto run = measure({"clock", "latency", "capacity"});
  EXPECT_NEAR(value(run, "l1.hit_latency"), 40, 1);
  EXPECT_EQ(value(run, "l1.capacity"), 128 * 1024);
}

TEST(Threads, translation_caches_of_a_simulated_gpu) {
  EXPECT_EQ(value(measure({"clock", "tlb"}), "tlb.1.entries"), 16);
}

}  // namespace
}  // namespace gpusonde
