// The short warm-up of large rings against the full one.
#include "target/sim/warmup.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "small_model.hpp"

namespace gpusonde {
namespace {

/// L2 of 3 slices x 32 sets x 16 ways (192 KiB), hashed, over shuffled pages of 64 KiB; two TLB levels.
DeviceModel large_model(Replacement policy) {
  auto model = small_model();
  model.caches[0].sets = 64;
  model.caches[0].set_function = AddressFunction::parities({0x12880, 0x25100, 0x4a200, 0x94400, 0x128800, 0x251000});
  auto& l2 = model.caches[1];
  l2.slices = 3;
  l2.sets = 32;
  l2.ways = 16;
  l2.slice_function = *AddressFunction::parse("return a / 128 + a / 4096 + a / 0x20000", {});
  l2.set_function = AddressFunction::parities({0x1180, 0x62100, 0x2480, 0x94800, 0x119000});
  l2.replacement = policy;
  l2.slice_spread_cycles = 40;
  model.paging = {64 * k_kib, Placement::random};
  TlbModel near;
  near.entries = 4;
  near.span_bytes = 64 * k_kib;
  near.miss = {11, 0};
  TlbModel far = near;
  far.entries = 128;
  far.miss = {70, 0};
  model.tlbs = {near, far};
  return model;
}

std::vector<std::uint64_t> timed(const DeviceModel& model, const ChaseExperiment& chase, bool full) {
  SimOptions options;
  options.full_warmup = full;
  return run_chase_on(*make(model, options), chase).cycles;
}

ChaseExperiment large_chase(const DeviceModel& model, double settlings, LoadPath path) {
  auto chase = chase_of(0, path);
  chase.ring.order.node_count =
      static_cast<std::uint64_t>(settlings * static_cast<double>(sim::settling_loads(model, path, 128)));
  chase.repetitions = 3;
  return chase;
}

TEST(SimWarmup, IsReplayedInFullUpToTheSettlingLength) {
  const auto model = large_model(Replacement::lru);
  const auto loads = sim::settling_loads(model, LoadPath::global_cg, 128);
  // 96 sets of 16 ways; a Poisson distribution stays below 16 with a probability of 10^-5 at a mean of 38.9.
  EXPECT_NEAR(static_cast<double>(loads) / 96, 38.9, 0.2);
  // Four nodes a line.
  EXPECT_NEAR(static_cast<double>(sim::settling_loads(model, LoadPath::global_cg, 32)),
              4.0 * static_cast<double>(loads), 4);
  EXPECT_EQ(sim::settling_loads(model, LoadPath::global_cg, 4096), loads);
}

TEST(SimWarmup, TheShortOneGivesTheSameCycles) {
  for (const auto policy : {Replacement::lru, Replacement::fifo, Replacement::tree_plru}) {
    const auto model = large_model(policy);
    for (const double settlings : {1.02, 1.5, 3.0, 20.0})
      for (const auto path : {LoadPath::global_ca, LoadPath::global_cg}) {
        auto chase = large_chase(model, settlings, path);
        EXPECT_EQ(timed(model, chase, false), timed(model, chase, true)) << to_string(policy) << ' ' << settlings;
        chase.warmup_laps = 3;
        EXPECT_EQ(timed(model, chase, false), timed(model, chase, true)) << to_string(policy) << ' ' << settlings;
      }
  }
}

// Page by page, the end of the lap does not touch the ring's first pages, which the larger TLB still holds.
TEST(SimWarmup, TheShortOneKeepsWhatTheTlbsHold) {
  const auto model = large_model(Replacement::lru);
  for (const double settlings : {1.5, 2.0, 10.0, 30.0}) {
    auto chase = large_chase(model, settlings, LoadPath::global_cg);
    chase.ring.order.group_nodes = 64 * k_kib / 128;
    EXPECT_EQ(timed(model, chase, false), timed(model, chase, true)) << settlings;
  }
}

TEST(SimWarmup, ForPoliciesThatForgetGraduallyItIsCloseTo) {
  for (const auto policy : {Replacement::random, Replacement::nru, Replacement::srrip}) {
    const auto model = large_model(policy);
    auto chase = large_chase(model, 1.1, LoadPath::global_cg);
    const auto brief = timed(model, chase, false);
    const auto full = timed(model, chase, true);
    for (std::size_t i = 0; i < brief.size(); ++i) {
      // exp(-10) of the lines, a hop that hits instead of missing: 300 of 500 cycles.
      EXPECT_NEAR(static_cast<double>(brief[i]), static_cast<double>(full[i]), 1024 * 300 * 1e-3) << to_string(policy);
    }
  }
}

}  // namespace
}  // namespace gpusonde
