// The cards of the two latency documents: the figures that were printed come out of the simulated cards.
#include <gtest/gtest.h>

#include "library/open_device.hpp"
#include "probe/options_text.hpp"
#include "survey/domains.hpp"
#include "survey/survey.hpp"
#include "target/sim/sim_target.hpp"

namespace gpusonde {
namespace {

Run measure(const std::string& label, double sm_mhz, ChainKind chain, bool thorough) {
  auto device = open_device(label, 1, {.sm_mhz = sm_mhz});
  EXPECT_TRUE(device) << device.error().message;
  SurveyRequest request;
  request.probe.latency.chains = {chain};
  request.probe.thorough = thorough;
  request.truth = truth_of(*device->model, device->sim_sm_mhz);
  auto result = run_survey(*device->target, request);
  EXPECT_FALSE(result.error) << result.error->message;
  return std::move(result.run);
}

double value(const Run& run, const std::string& id) {
  const auto* finding = run.finding(id);
  if (finding == nullptr || !finding->value) {
    ADD_FAILURE() << id << ": " << (finding == nullptr ? "absent" : finding->reason);
    return -1;
  }
  return std::get<double>(*finding->value);
}

TEST(KnownModels, rtx4090_gives_the_printed_figures) {
  const auto run = measure("sim:rtx4090", 0, ChainKind::pointer, true);
  EXPECT_NEAR(value(run, "l1.hit_latency"), 40, 1);
  EXPECT_NEAR(value(run, "l2.hit_latency"), 330, 4);
  EXPECT_NEAR(value(run, "dram.latency"), 660, 14);
  EXPECT_NEAR(value(run, "l1.hit_latency_ns"), 15.4, 0.4);
  EXPECT_NEAR(value(run, "l2.hit_latency_ns"), 127.4, 1.6);
  EXPECT_NEAR(value(run, "dram.latency_ns"), 255.4, 5.4);
  EXPECT_EQ(value(run, "l1.capacity"), 128 * 1024);
  EXPECT_NEAR(value(run, "l2.capacity"), 72.0 * 1024 * 1024, 0.03 * 72 * 1024 * 1024);
  EXPECT_EQ(run.finding("l2.far_latency")->outcome, Outcome::unsupported);
  for (const auto& finding : run.findings) EXPECT_NE(finding.outcome, Outcome::failed) << finding.id;
}

// Under a random ring the RTX 4090's 11 cycles beyond 32 MiB come on as 11 (1 - 32 MiB / size): no step. A TLB
// of two entries and 60 cycles makes one inside L2, which is translation and no level.
TEST(KnownModels, translation_step_is_no_level) {
  auto model = *find_model("rtx4090");
  model.paging.placement = Placement::contiguous;
  model.tlbs.front().entries = 2;
  model.tlbs.front().miss = {60, 0};
  auto target = make_sim_target(model);
  ASSERT_TRUE(target) << target.error().message;
  SurveyRequest request;
  request.probes = {"clock", "latency"};
  const auto result = run_survey(**target, request);
  ASSERT_FALSE(result.error) << result.error->message;
  EXPECT_NEAR(value(result.run, "l2.hit_latency"), 330, 4);
  EXPECT_EQ(result.run.finding("l2.far_latency")->outcome, Outcome::unsupported);
  const auto* levels = result.run.measurements.find("derived.latency.levels");
  ASSERT_NE(levels, nullptr);
  int translation_steps = 0;
  for (std::size_t row = 0; row < levels->rows(); ++row) {
    if ((*levels->column<std::string>("kind"))[row] != "step") continue;
    EXPECT_TRUE((*levels->column<std::string>("note"))[row].starts_with("translation"))
        << (*levels->column<std::string>("note"))[row];
    EXPECT_LT((*levels->column<double>("latency_cycles"))[row], 61);
    ++translation_steps;
  }
  EXPECT_GE(translation_steps, 1);
}

// The document's first-level table: 16 entries of 2 MiB, and about 11 cycles beyond 32 MiB. Source:
// models/rtx4090.toml.
TEST(KnownModels, rtx4090_gives_its_first_translation_cache) {
  auto device = open_device("sim:rtx4090", 1, {});
  ASSERT_TRUE(device) << device.error().message;
  SurveyRequest request;
  request.probes = {"clock", "tlb"};
  const auto result = run_survey(*device->target, request);
  ASSERT_FALSE(result.error) << result.error->message;
  const auto name = [&](const std::string& id) {
    const auto* finding = result.run.finding(id);
    if (finding == nullptr || !finding->value) return id + " has no value";
    return std::get<std::string>(*finding->value);
  };
  EXPECT_EQ(value(result.run, "tlb.1.entries"), 16);
  EXPECT_EQ(value(result.run, "tlb.1.ways"), 16);
  EXPECT_EQ(value(result.run, "tlb.1.span"), 2.0 * 1024 * 1024);
  EXPECT_EQ(value(result.run, "tlb.1.reach"), 32.0 * 1024 * 1024);
  EXPECT_NEAR(value(result.run, "tlb.1.miss_cost"), 11.44, 0.5);
  EXPECT_EQ(name("tlb.1.replacement"), "lru");
  EXPECT_EQ(name("tlb.1.scope"), "sm");
}

struct Rtx5080Case {
  double sm_mhz, l1, l2, dram;
};

TEST(KnownModels, rtx5080_follows_the_clocks_as_printed) {
  std::vector<gpusonde::Run> runs;
  for (const auto& [mhz, l1, l2, dram] : {Rtx5080Case{997, 43, 302, 520}, Rtx5080Case{2932, 43, 366, 922}}) {
    runs.push_back(measure("sim:rtx5080", mhz, ChainKind::index, false));
    EXPECT_NEAR(value(runs.back(), "l1.hit_latency_index"), l1, 0.5);
    EXPECT_NEAR(value(runs.back(), "l2.hit_latency_index"), l2, 0.01 * l2);
    EXPECT_NEAR(value(runs.back(), "dram.latency_index"), dram, 0.01 * dram);
    EXPECT_NEAR(value(runs.back(), "clock.sm"), mhz, 0.001 * mhz);
  }
  const auto split = split_domains(runs);
  ASSERT_TRUE(split) << split.error().message;
  // The lines through the printed points: cycles(f) = a + b f.
  EXPECT_NEAR(value(*split, "domain.l1_index.sm_cycles"), 43, 0.5);
  EXPECT_NEAR(value(*split, "domain.l1_index.fixed_ns"), 0, 0.3);
  EXPECT_NEAR(value(*split, "domain.l2_index.fixed_ns"), (366 - 302) / 1.935, 2.5);
  EXPECT_NEAR(value(*split, "domain.dram_index.fixed_ns"), (922 - 520) / 1.935, 6);
}

}  // namespace
}  // namespace gpusonde
