// Random models: what many loads at once bring is what the model says, or inconclusive. Never confidently wrong.
#include <gtest/gtest.h>

#include <algorithm>

#include "core/random.hpp"
#include "core/units.hpp"
#include "library/open_device.hpp"
#include "model/random_model.hpp"
#include "models_wanted.hpp"
#include "survey/survey.hpp"
#include "target/sim/sim_target.hpp"

namespace gpusonde {
namespace {

Run measure(Target& target, std::vector<std::string> probes, const DeviceModel& model, double sm_mhz,
            std::uint64_t seed = 1) {
  SurveyRequest request;
  request.probe.seed = seed;
  request.probes = std::move(probes);
  request.truth = truth_of(model, sm_mhz);
  auto result = run_survey(target, request);
  EXPECT_FALSE(result.error) << result.error->message;
  return std::move(result.run);
}

/// Widths of all kinds, and SMs in any number, for models that have the rest.
DeviceModel with_widths(DeviceModel model, std::uint64_t seed) {
  Random random(mix64(seed ^ 0x10AD));
  model.sm_count = static_cast<std::uint32_t>(random.between(1, 24));
  model.bus_width_bits = static_cast<std::uint32_t>(64 * random.between(1, 16));
  model.timing.memory_mhz = static_cast<double>(random.between(1000, 10000));
  model.timing.crossbar_lines_per_cycle = 0.125 * static_cast<double>(random.between(1, 8));
  model.timing.crossbar_bytes_per_cycle = static_cast<double>(32 * random.between(0, 4));
  model.timing.shared_hit_cycles = 20;
  model.timing.shared_bytes_per_cycle = static_cast<double>(32 * random.between(1, 4));
  model.shared_per_sm_bytes = 64 * k_kib;
  model.dram.activate_ns = static_cast<double>(random.below(12));
  model.dram.column_ns = static_cast<double>(random.below(4));
  for (auto& cache : model.caches) cache.lines_per_cycle = 0.25 * static_cast<double>(random.between(1, 4));
  return model;
}

void expect_no_wrong_claim(const DeviceModel& model, const Run& run) {
  const double pins = model.memory_bytes_per_second();
  for (const auto& finding : run.findings) {
    EXPECT_NE(finding.outcome, Outcome::failed) << finding.id << ": " << finding.reason;
    if (finding.outcome != Outcome::ok) {
      EXPECT_FALSE(finding.value) << finding.id;
      EXPECT_FALSE(finding.reason.empty()) << finding.id;
      continue;
    }
    const double value = std::get<double>(*finding.value);
    EXPECT_LE(finding.interval->low, value) << finding.id;
    EXPECT_GE(finding.interval->high, value) << finding.id;
    if (finding.id.starts_with("bandwidth.dram.") || finding.id == "load.dram.peak") {
      EXPECT_LE(value, pins) << finding.id;
    }
    if (finding.truth && !finding.id.starts_with("timer.")) {
      EXPECT_TRUE(finding.agrees.value_or(false))
          << finding.id << ": " << value << " (" << finding.interval->low << " to " << finding.interval->high
          << "), the model has " << std::get<double>(*finding.truth);
    }
  }
}

void recover(std::uint64_t first, std::uint64_t models) {
  std::map<std::string, std::pair<int, int>> counts;  // by id: ok, not
  for (std::uint64_t seed = first; seed < first + models; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    const auto model = with_widths(random_model(seed, {.least_cache_levels = 2,
                                                       .most_cache_levels = 3,
                                                       .max_noise = 0.02,
                                                       .with_tlb = seed % 2 == 0,
                                                       .most_capacity_bytes = 16ULL << 20}),
                                   seed);
    auto target = make_sim_target(model, {.seed = seed});
    ASSERT_TRUE(target) << target.error().message;
    const auto run = measure(**target, {"clock", "crossbar", "bandwidth", "load"}, model, model.timing.sm_mhz, seed);
    expect_no_wrong_claim(model, run);
    for (const auto& finding : run.findings) {
      auto& [ok, not_ok] = counts[finding.id];
      ++(finding.outcome == Outcome::ok ? ok : not_ok);
    }
  }
  std::string text;
  for (const auto& [id, count] : counts)
    text += id + " " + std::to_string(count.first) + "/" + std::to_string(count.first + count.second) + "\n";
  std::printf("recovered:\n%s", text.c_str());
  // Figures that rest on nothing but widths come out of most models.
  EXPECT_GE(2 * counts["bandwidth.shared.read"].first, static_cast<int>(models));
  EXPECT_GE(2 * counts["load.l1.completion_interval"].first, static_cast<int>(models));
}

TEST(LoadsRecovery, random_models_are_recovered_or_inconclusive) { recover(1, models_wanted(4)); }

double value(const Run& run, const std::string& id) {
  const auto* finding = run.finding(id);
  if (finding == nullptr || !finding->value) {
    ADD_FAILURE() << id << ": " << (finding == nullptr ? "absent" : finding->reason);
    return -1;
  }
  return std::get<double>(*finding->value);
}

TEST(LoadsRecovery, rtx4090_has_the_printed_crossbar_and_its_own_latencies) {
  auto device = open_device("sim:rtx4090", 1, {});
  ASSERT_TRUE(device) << device.error().message;
  const auto run =
      measure(*device->target, {"clock", "crossbar", "bandwidth", "load"}, *device->model, device->sim_sm_mhz);
  EXPECT_NEAR(value(run, "crossbar.lines_per_cycle"), 2, 0.04);
  EXPECT_NEAR(value(run, "crossbar.all_lines_per_cycle"), 18, 0.4);  // 36 slices of half a line
  const double pins = 2 * 10501e6 * 384 / 8;
  for (const auto* transfer : {"read", "write", "copy"}) {
    const double rate = value(run, std::string("bandwidth.dram.") + transfer);
    EXPECT_GE(rate, 0.85 * pins) << transfer;
    EXPECT_LE(rate, pins) << transfer;
  }
  EXPECT_NEAR(value(run, "bandwidth.l1.read"), 128 * 128 * 2600e6, 0.002 * 128 * 128 * 2600e6);
  EXPECT_NEAR(value(run, "bandwidth.l2.read"), 18 * 128 * 2600e6, 0.02 * 18 * 128 * 2600e6);
  EXPECT_NEAR(value(run, "load.l1.completion_interval"), 5, 0.05);
  EXPECT_NEAR(value(run, "load.l2.idle_latency"), 331.24, 3.3);
  // The document's 255.4 ns, and three further columns of 3.4 ns.
  EXPECT_NEAR(value(run, "load.dram.idle_latency"), (255.4 + 10.2) * 2.6, 0.01 * 690);
  EXPECT_LE(value(run, "load.l2.peak"), 18 * 128 * 2600e6 * 1.005);
  EXPECT_LT(value(run, "load.dram.knee"), value(run, "load.dram.peak"));
  expect_no_wrong_claim(*device->model, run);
}

}  // namespace
}  // namespace gpusonde
