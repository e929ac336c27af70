// Random models with pipelines, constants, textures and clusters of any kind: what the two probes find is the model's
// truth, or inconclusive. Never confidently wrong. GPUSONDE_INSTRUCTION_SEEDS asks for more models than usual.
#include <gtest/gtest.h>

#include <array>
#include <map>

#include "model/random_model.hpp"
#include "models_wanted.hpp"
#include "survey/survey.hpp"
#include "target/sim/sim_target.hpp"

namespace gpusonde {
namespace {

constexpr std::uint64_t k_first_seed = 7000;
constexpr std::uint64_t k_models = 24;

Run measure(const DeviceModel& model, std::uint64_t seed) {
  return survey_of(model, {.seed = seed}, {"clock", "instr", "memories"});
}

std::string text_of(const FindingValue& value) {
  if (const auto* number = std::get_if<double>(&value)) return std::to_string(*number);
  return std::get<std::string>(value);
}

void expect_true(const Finding& finding) {
  EXPECT_TRUE(finding.truth) << finding.id << " is " << text_of(*finding.value) << ", the model has no such thing";
  if (!finding.truth) return;
  EXPECT_TRUE(finding.agrees.value_or(false))
      << finding.id << " is " << text_of(*finding.value) << " ("
      << (finding.interval ? std::to_string(finding.interval->low) + " to " + std::to_string(finding.interval->high)
                           : "")
      << "), the model has " << text_of(*finding.truth);
}

/// Id without the operation or the level.
std::string kind_of(const std::string& id) {
  if (id.starts_with("instr.")) return id.substr(id.rfind('.') + 1);
  return id.starts_with("constant.") && id.find("shares") == std::string::npos ? "constant" + id.substr(id.rfind('.'))
                                                                               : id;
}

TEST(InstructionRecovery, recovers_or_says_inconclusive) {
  std::map<std::string, std::array<int, 2>> counts;  // kind -> ok, inconclusive
  for (std::uint64_t seed = k_first_seed; seed < k_first_seed + models_wanted(k_models); ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    const auto model = random_model(seed, {.least_cache_levels = 2,
                                           .most_cache_levels = 2,
                                           .max_noise = seed % 2 == 0 ? 0 : 0.02,
                                           .most_capacity_bytes = 16ULL << 20,
                                           .any_pipelines = true});
    const auto run = measure(model, seed);
    for (const auto& finding : run.findings) {
      if (finding.id.starts_with("clock.") || finding.id.starts_with("timer.")) continue;
      EXPECT_NE(finding.outcome, Outcome::failed) << finding.id << ": " << finding.reason;
      if (finding.outcome == Outcome::ok) expect_true(finding);
      if (finding.outcome == Outcome::ok || finding.outcome == Outcome::inconclusive)
        ++counts[kind_of(finding.id)][finding.outcome == Outcome::ok ? 0 : 1];
    }
  }
  for (const auto& [kind, count] : counts)
    RecordProperty(kind, std::to_string(count[0]) + " ok, " + std::to_string(count[1]) + " inconclusive");
  // Half of the models have no noise, and most of what those have is recovered.
  for (const auto* kind :
       {"true_latency", "completion_interval", "operand.register_read", "constant.hit_latency", "constant.capacity",
        "texture.hit_latency", "shared.hit_latency", "readonly.shares_l1", "constant.shares_l1", "dsmem.latency"})
    EXPECT_GT(2 * counts[kind][0], counts[kind][1]) << kind;
}

// Readings that scatter by 10 % say little: what is still said is right.
TEST(InstructionRecovery, much_noise_is_no_reason_to_guess) {
  auto model = random_model(k_first_seed, {.least_cache_levels = 2, .most_cache_levels = 2, .any_pipelines = true});
  model.noise.run_fraction = 0.1;
  int inconclusive = 0;
  for (const auto& finding : measure(model, 3).findings) {
    if (finding.id.starts_with("clock.") || finding.id.starts_with("timer.")) continue;
    if (finding.outcome == Outcome::ok) expect_true(finding);
    inconclusive += finding.outcome == Outcome::inconclusive ? 1 : 0;
  }
  EXPECT_GT(inconclusive, 15);
}

}  // namespace
}  // namespace gpusonde
