// Rows, banks, channels and refresh. A cache of one line lets every load through.
#include <gtest/gtest.h>

#include <cmath>

#include "small_model.hpp"

namespace gpusonde {
namespace {

/// 2 channels x 2 banks of rows of 1 KiB. Consecutive KiB go to one row of each channel, then each bank.
/// 500 ns with a row to open, 40 less without.
DeviceModel dram_model() {
  auto model = small_model();
  model.caches.resize(1);
  model.caches[0].sets = model.caches[0].ways = 1;
  model.caches[0].set_function = AddressFunction();
  auto& dram = model.dram;
  dram.channels_per_controller = 2;
  dram.banks = 2;
  dram.rows = 1 << 16;
  dram.channel_function = AddressFunction::modulo(1024, 2);
  dram.bank_function = AddressFunction::modulo(2048, 2);
  dram.row_function = AddressFunction::modulo(4096, 1 << 16);
  dram.activate_ns = 40;
  return model;
}

TEST(SimDram, LoadsOfAnOpenRowCostLess) {
  EXPECT_EQ(cycles_of(dram_model(), chase_of(8)), 1024 * 460);  // 8 lines of one row
  // A row in each of the four banks, all of them open.
  EXPECT_EQ(cycles_of(dram_model(), chase_of(4, LoadPath::global_ca, 1024)), 1024 * 460);
}

TEST(SimDram, AnotherRowOfTheBankHasToBeOpened) {
  EXPECT_EQ(cycles_of(dram_model(), chase_of(2, LoadPath::global_ca, 4096)), 1024 * 500);
  // Eight rows of one bank in turn.
  EXPECT_EQ(cycles_of(dram_model(), chase_of(8, LoadPath::global_ca, 4096)), 1024 * 500);
}

TEST(SimDram, TheFirstLoadOfEachBankOpensItsRow) {
  auto cold = chase_of(4, LoadPath::global_ca, 1024);
  cold.warmup = Warmup::none;
  cold.hops = 16;
  EXPECT_EQ(cycles_of(dram_model(), cold), 4 * 500 + 12 * 460);
}

TEST(SimDram, ActivationBelongsToTheFixedClock) {
  SimOptions options;
  options.sm_mhz = 2000;
  auto model = dram_model();
  model.dram.latency = {100, 400};
  EXPECT_EQ(cycles_of(model, chase_of(2, LoadPath::global_ca, 4096), options), 1024 * 900);
  EXPECT_EQ(cycles_of(model, chase_of(8), options), 1024 * 820);
}

/// Loads of 500 ns or, in a refresh, 710, over so many channels in random order.
ChaseSamples refreshed_loads(std::uint32_t channels, std::uint64_t seed) {
  auto model = dram_model();
  model.dram.activate_ns = 0;
  model.dram.controllers = channels;
  model.dram.channels_per_controller = 1;
  model.dram.channel_function = AddressFunction::modulo(1024, channels);
  model.dram.refresh_fraction = 0.05;
  model.dram.refresh_stall_ns = 210;
  model.dram.refresh_interval_ns = 3907;
  model.timing.per_hop_overhead_cycles = 0;
  auto chase = chase_of(4096, LoadPath::global_ca, 1024);
  chase.timing = HopTiming::per_hop;
  chase.hops = 8192;
  SimOptions options;
  options.seed = seed;
  return run_chase_on(*make(model, options), chase);
}

// One channel would not do: a dependent chain of equal loads keeps step with its refresh.
TEST(SimDram, AShareOfLoadsWaitsForRefresh) {
  const auto samples = refreshed_loads(16, 1);
  std::size_t stalled = 0;
  for (const auto hop : samples.hop_cycles) {
    EXPECT_TRUE(hop == 500 || hop == 710) << hop;
    stalled += hop == 710 ? 1 : 0;
  }
  // 0.0024 is the standard deviation of the share of 8192 independent loads.
  EXPECT_NEAR(static_cast<double>(stalled) / 8192, 0.05, 3 * 0.0024);
}

TEST(SimDram, RefreshIsPeriodicInSimulatedTime) {
  const auto samples = refreshed_loads(1, 1);
  // Start times of stalled loads, modulo the interval, all lie in one window of 5 % of it.
  double now = 0;
  double sum_cos = 0, sum_sin = 0;
  std::vector<double> angles;
  for (const auto hop : samples.hop_cycles) {
    if (hop == 710) {
      angles.push_back(2 * M_PI * std::fmod(now, 3907.0) / 3907.0);
      sum_cos += std::cos(angles.back());
      sum_sin += std::sin(angles.back());
    }
    now += hop;
  }
  ASSERT_GT(angles.size(), 100U);
  const double middle = std::atan2(sum_sin, sum_cos);
  for (const double angle : angles) EXPECT_LT(std::abs(std::remainder(angle - middle, 2 * M_PI)), 2 * M_PI * 0.026);
}

TEST(SimDram, TheSeedMovesTheRefresh) { EXPECT_NE(refreshed_loads(1, 1).hop_cycles, refreshed_loads(1, 2).hop_cycles); }

}  // namespace
}  // namespace gpusonde
