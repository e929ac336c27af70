// Many loads at once on a GPU whose queues can be counted by hand.
#include <gtest/gtest.h>

#include "small_model.hpp"

namespace gpusonde {
namespace {

/// 4 SMs; an L2 of 4 slices by line, 64 KiB, half a line a cycle each; an L1 that gives a line a cycle.
DeviceModel busy_model() {
  auto model = small_model();
  model.caches[0].lines_per_cycle = 1;
  model.caches[0].sets = 64;  // 16 KiB
  model.caches[0].set_function = AddressFunction::modulo(128, 64);
  model.caches[1].slices = 4;
  model.caches[1].sets = 32;
  model.caches[1].slice_function = AddressFunction::modulo(128, 4);
  model.caches[1].set_function = AddressFunction::modulo(512, 32);
  model.caches[1].lines_per_cycle = 0.5;
  model.timing.crossbar_lines_per_cycle = 2;
  model.timing.shared_hit_cycles = 20;
  model.shared_per_sm_bytes = 64 * k_kib;
  return model;
}

template <class Samples, class Kind>
Samples run_on(const DeviceModel& model, const Kind& e) {
  const auto target = make(model);
  const Experiment experiment = e;
  auto samples = target->run(std::span(&experiment, 1), {});
  EXPECT_TRUE(samples.has_value()) << (samples ? "" : samples.error().message);
  return samples ? std::get<Samples>(samples->front()) : Samples{};
}

LoadedChaseSamples chase(const DeviceModel& model, const LoadedChaseExperiment& e) {
  return run_on<LoadedChaseSamples>(model, e);
}
BandwidthSamples stream(const DeviceModel& model, const BandwidthExperiment& e) {
  return run_on<BandwidthSamples>(model, e);
}

LoadedChaseExperiment ring_of(std::uint64_t nodes, LoadPath path = LoadPath::global_cg) {
  LoadedChaseExperiment e;
  e.ring.order.node_count = nodes;
  e.path = path;
  e.rounds = 512;
  return e;
}

TEST(SimLoadedChase, OneChainTakesWhatTheModelSays) {
  const auto model = busy_model();
  EXPECT_DOUBLE_EQ(chase(model, ring_of(64, LoadPath::global_ca)).round_cycles, 30);
  EXPECT_DOUBLE_EQ(chase(model, ring_of(256)).round_cycles, 200);
  const auto memory = chase(model, ring_of(100'000));
  EXPECT_DOUBLE_EQ(memory.round_cycles, 500);
  EXPECT_DOUBLE_EQ(memory.elapsed_cycles, 500 * 512);
  EXPECT_NEAR(static_cast<double>(memory.wall_ns), 500 * 512, 1000);  // a tick of the timer
  EXPECT_EQ(memory.loads, 512U);
  EXPECT_EQ(memory.bytes, 512U * 8);
  EXPECT_EQ(memory.sm_count, 1U);
}

TEST(SimLoadedChase, TheFirstTranslationsMissBeyondTheirReach) {
  auto model = busy_model();
  model.tlbs.push_back({.entries = 4, .miss = {11, 0}});  // 8 MiB
  EXPECT_DOUBLE_EQ(chase(model, ring_of(8 * k_mib / 128)).round_cycles, 500);
  EXPECT_DOUBLE_EQ(chase(model, ring_of(16 * k_mib / 128)).round_cycles, 511);
}

// A sector is not kept waiting by the rest of what is fetched with it; the other sectors of a line are.
TEST(SimLoadedChase, FurtherColumnsTakeTheirTime) {
  auto model = busy_model();
  model.dram.column_ns = 4;
  model.caches[1].fetch_bytes = 64;
  auto e = ring_of(100'000);
  EXPECT_DOUBLE_EQ(chase(model, e).round_cycles, 500);
  e.whole_lines = true;
  EXPECT_DOUBLE_EQ(chase(model, e).round_cycles, 512);
}

TEST(SimLoadedChase, ChainsOfAWarpOverlap) {
  const auto model = busy_model();
  for (const std::uint32_t chains : {2U, 4U, 8U}) {
    auto e = ring_of(64, LoadPath::global_ca);
    e.chains = chains;
    // A line a cycle for L1: up to 30 fit into its latency.
    EXPECT_NEAR(chase(model, e).round_cycles, 30, 0.2) << chains;
  }
}

TEST(SimLoadedChase, ManyWarpsGetWhatTheSlicesServe) {
  auto e = ring_of(512);
  e.chains = 4;
  e.warps = 32;
  e.sms = 0;
  e.whole_lines = true;
  const auto samples = chase(busy_model(), e);
  // 512 lines of 128 bytes under way, 4 slices of half a line a cycle: 256 cycles for all of them.
  EXPECT_NEAR(samples.round_cycles, 256, 256 * 0.05);
  EXPECT_EQ(samples.sm_count, 4U);
  EXPECT_EQ(samples.bytes, 512U * 512 * 128);
}

TEST(SimLoadedChase, TheWayBackLimitsAnSm) {
  auto model = busy_model();
  model.timing.crossbar_bytes_per_cycle = 32;
  auto e = ring_of(256);
  e.chains = 8;
  e.warps = 32;
  e.whole_lines = true;
  // 256 lines under way; a line takes 4 cycles on the way back.
  EXPECT_NEAR(chase(model, e).round_cycles, 1024, 1024 * 0.05);
}

TEST(SimBandwidth, OfL1AndSharedMemoryIsTheirWidth) {
  const auto model = busy_model();
  BandwidthExperiment e;
  e.bytes = 32 * k_kib;
  e.passes = 100;
  e.path = LoadPath::shared;
  const auto shared = stream(model, e);
  EXPECT_EQ(shared.bytes, 4U * 100 * 32 * k_kib);
  EXPECT_DOUBLE_EQ(shared.cycles, 100 * 32 * 1024 / 128.0 + 20);
  auto larger = model;
  larger.caches[0].sets = 128;
  larger.caches[0].set_function = AddressFunction::modulo(128, 128);
  e.path = LoadPath::global_ca;
  e.per_sm = true;
  EXPECT_DOUBLE_EQ(stream(larger, e).cycles, 100 * 32 * 1024 / 128.0 + 30);
}

TEST(SimBandwidth, OfL2IsThatOfItsSlices) {
  BandwidthExperiment e;
  e.bytes = 64 * k_kib;
  e.passes = 1000;
  for (const auto transfer : {Transfer::read, Transfer::write, Transfer::copy}) {
    e.transfer = transfer;
    const auto samples = stream(busy_model(), e);
    EXPECT_EQ(samples.bytes, 64000U * k_kib);
    // 4 slices of 64 bytes a cycle.
    EXPECT_NEAR(static_cast<double>(samples.bytes) / samples.cycles, 256, 256 * 0.02);
  }
}

TEST(SimBandwidth, OfMemoryIsThatOfItsPins) {
  auto model = busy_model();
  model.bus_width_bits = 64;  // 16 bytes a nanosecond, which is a cycle
  BandwidthExperiment e;
  e.bytes = 32 * k_mib;
  const auto samples = stream(model, e);
  const double rate = static_cast<double>(samples.bytes) / samples.cycles;
  EXPECT_LE(rate, 16.0001);
  EXPECT_GE(rate, 15.7);
  model.dram.column_ns = 4;  // one bank, a column of 32 bytes in 4 ns
  EXPECT_NEAR(static_cast<double>(samples.bytes) / stream(model, e).cycles, 8, 0.2);
}

TEST(SimBandwidth, NoiseScalesCyclesAndTimeAlike) {
  auto model = busy_model();
  model.noise.run_fraction = 0.05;
  BandwidthExperiment e;
  e.bytes = 32 * k_kib;
  e.passes = 10'000;
  e.path = LoadPath::shared;
  const auto samples = stream(model, e);
  EXPECT_NE(samples.cycles, 2'560'020);
  EXPECT_NEAR(samples.cycles, 2'560'020, 0.3 * 2'560'020);
  EXPECT_NEAR(static_cast<double>(samples.wall_ns), samples.cycles, 1001);
}

TEST(SimThroughput, SomeSmsHaveTheirOwnWay) {
  auto model = busy_model();
  model.timing.crossbar_lines_per_cycle = 0.25;
  ThroughputExperiment e;
  for (std::uint64_t line = 0; line < 64; ++line) e.places.push_back(128 * line);
  for (const std::uint32_t sms : {1U, 3U}) {
    e.sms = sms;
    const auto samples = run_on<ThroughputSamples>(model, e);
    EXPECT_EQ(samples.sm_count, sms);
    EXPECT_NEAR(static_cast<double>(samples.lines) / samples.cycles, 0.25 * sms, 0.01 * sms);
  }
}

TEST(SimThroughput, EachSideHasSlicesOfItsOwn) {
  auto model = busy_model();
  ThroughputExperiment e;
  for (std::uint64_t line = 0; line < 64; ++line) e.places.push_back(128 * line);
  const auto rate = [&] {
    const auto samples = run_on<ThroughputSamples>(model, e);
    return static_cast<double>(samples.lines) / samples.cycles;
  };
  EXPECT_NEAR(rate(), 2, 0.02);  // 4 slices of half a line
  model.caches[1].partitions = 2;
  model.caches[1].home_function = AddressFunction::modulo(128, 2);
  EXPECT_NEAR(rate(), 4, 0.04);
}

}  // namespace
}  // namespace gpusonde
