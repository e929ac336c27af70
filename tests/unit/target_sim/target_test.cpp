// The target as a whole: batches, seeds, threads, noise, clocks, cancelling, refusals.
#include <gtest/gtest.h>

#include <chrono>
#include <cmath>
#include <limits>
#include <thread>

#include "small_model.hpp"

namespace gpusonde {
namespace {

/// Everything that draws random numbers: placement, distances, replacement, refresh, noise.
DeviceModel random_model_in_all() {
  auto model = small_model();
  model.caches[0].replacement = Replacement::random;
  model.caches[1].replacement = Replacement::random;
  model.caches[1].slices = 4;
  model.caches[1].slice_function = AddressFunction::modulo(128, 4);
  model.caches[1].set_function = AddressFunction::parities({0x40200, 0x200400, 0x400800});
  model.caches[1].slice_spread_cycles = 40;
  model.paging.placement = Placement::random;
  model.dram.refresh_fraction = 0.05;
  model.dram.refresh_stall_ns = 200;
  model.noise = {0.01, 2};
  return model;
}

std::vector<Experiment> mixed_batch() {
  std::vector<Experiment> batch;
  for (std::uint64_t nodes = 1; nodes < 400; nodes = nodes * 3 / 2 + 1) {
    auto chase = chase_of(nodes);
    chase.ring.order.seed = nodes;
    chase.repetitions = 2;
    chase.timing = nodes % 2 == 0 ? HopTiming::per_hop : HopTiming::aggregate;
    batch.emplace_back(chase);
    batch.emplace_back(TimerExperiment{3});
    batch.emplace_back(LoopOverheadExperiment{1000});
    batch.emplace_back(ClockExperiment{1'000'000});
  }
  return batch;
}

/// All numbers of a batch's samples.
std::vector<std::uint64_t> numbers_of(Target& target, const std::vector<Experiment>& batch) {
  std::vector<std::uint64_t> numbers;
  const auto append = [&](const auto& values) { numbers.insert(numbers.end(), values.begin(), values.end()); };
  const auto samples = target.run(batch, {});
  EXPECT_TRUE(samples.has_value());
  for (const auto& each : samples.value_or(std::vector<Samples>{})) {
    if (const auto* chase = std::get_if<ChaseSamples>(&each)) {
      append(chase->cycles);
      append(chase->wall_ns);
      append(chase->hop_cycles);
    } else if (const auto* timer = std::get_if<TimerSamples>(&each)) {
      append(timer->cycles);
    } else {
      const auto& elapsed = std::get<ElapsedSamples>(each);
      append(std::vector<std::uint64_t>{elapsed.cycles, elapsed.wall_ns, elapsed.iterations});
    }
  }
  return numbers;
}

std::unique_ptr<Target> with(std::uint64_t seed, unsigned threads) {
  SimOptions options;
  options.seed = seed;
  options.threads = threads;
  return make(random_model_in_all(), options);
}

TEST(SimTarget, ResultsDoNotDependOnTheNumberOfThreads) {
  const auto batch = mixed_batch();
  const auto expected = numbers_of(*with(1, 1), batch);
  EXPECT_EQ(numbers_of(*with(1, 2), batch), expected);
  EXPECT_EQ(numbers_of(*with(1, 7), batch), expected);
}

TEST(SimTarget, TheSeedDecidesEverything) {
  const auto batch = mixed_batch();
  EXPECT_EQ(numbers_of(*with(5, 2), batch), numbers_of(*with(5, 2), batch));
  EXPECT_NE(numbers_of(*with(5, 2), batch), numbers_of(*with(6, 2), batch));
}

TEST(SimTarget, RepeatingAnExperimentDrawsNewNoise) {
  const auto target = with(1, 1);
  const auto chase = chase_of(4);
  EXPECT_NE(run_chase_on(*target, chase).cycles, run_chase_on(*target, chase).cycles);
}

TEST(SimTarget, RunNoiseHasTheModelsWidth) {
  auto model = small_model();
  model.noise.run_fraction = 0.01;
  auto chase = chase_of(8);
  chase.repetitions = 4000;
  const auto samples = run_chase_on(*make(model), chase);
  double sum = 0, squares = 0;
  for (const auto cycles : samples.cycles) {
    const double relative = static_cast<double>(cycles) / (1024 * 30 + k_timer_cycles) - 1;
    sum += relative;
    squares += relative * relative;
  }
  EXPECT_NEAR(sum / 4000, 0, 4 * 0.01 / std::sqrt(4000));
  EXPECT_NEAR(std::sqrt(squares / 4000), 0.01, 4 * 0.01 / std::sqrt(2 * 4000));
}

TEST(SimTarget, HopNoiseHasTheModelsWidth) {
  auto model = small_model();
  model.noise.hop_cycles = 3;
  auto chase = chase_of(8);
  chase.timing = HopTiming::per_hop;
  chase.hops = 8192;
  const auto samples = run_chase_on(*make(model), chase);
  double sum = 0, squares = 0;
  for (const auto cycles : samples.hop_cycles) {
    const double off = cycles - 40.0;  // 30 and 10 for the timing
    sum += off;
    squares += off * off;
  }
  EXPECT_NEAR(sum / 8192, 0, 4 * 3 / std::sqrt(8192));
  EXPECT_NEAR(std::sqrt(squares / 8192), std::sqrt(9 + 1.0 / 12), 4 * 3 / std::sqrt(2 * 8192));  // rounded
}

TEST(SimTarget, WallTimeFollowsTheSmClock) {
  for (const double mhz : {997.0, 2932.0}) {
    SimOptions options;
    options.sm_mhz = mhz;
    const auto target = make(small_model(), options);
    auto chase = chase_of(8);
    chase.hops = 1 << 20;
    const auto samples = run_chase_on(*target, chase);
    const double expected_ns = static_cast<double>(samples.cycles[0]) * 1000 / mhz;
    EXPECT_NEAR(static_cast<double>(samples.wall_ns[0]), expected_ns, 1000);
    EXPECT_EQ(samples.wall_ns[0] % 1000, 0U);
    const std::vector<Experiment> clock{ClockExperiment{20'000'000}};
    const auto elapsed = std::get<ElapsedSamples>(target->run(clock, {}).value()[0]);
    EXPECT_EQ(elapsed.wall_ns, 20'000'000U);
    EXPECT_NEAR(static_cast<double>(elapsed.cycles) / static_cast<double>(elapsed.wall_ns) * 1000, mhz, mhz * 1e-4);
    EXPECT_EQ(target->clocks().sm_mhz, static_cast<std::uint32_t>(mhz));
  }
}

TEST(SimTarget, TimerAndLoopTakeTheModelsCycles) {
  auto model = small_model();
  model.timing.loop_overhead_cycles = 4.25;
  const auto target = make(model);
  const std::vector<Experiment> batch{TimerExperiment{5}, LoopOverheadExperiment{1 << 20}};
  const auto samples = target->run(batch, {}).value();
  EXPECT_EQ(std::get<TimerSamples>(samples[0]).cycles, std::vector<std::uint64_t>(5, 2));
  const auto& loop = std::get<ElapsedSamples>(samples[1]);
  EXPECT_EQ(loop.cycles, 4.25 * (1 << 20) + 2);
  EXPECT_EQ(loop.iterations, 1U << 20);
  EXPECT_NEAR(static_cast<double>(loop.wall_ns), 4.25 * (1 << 20), 1000);
}

TEST(SimTarget, DescribesItself) {
  const auto target = make(small_model());
  EXPECT_EQ(target->device().kind, DeviceKind::simulated);
  EXPECT_EQ(target->device().name, "Small GPU");
  EXPECT_EQ(target->device().model_file, "small");
  EXPECT_EQ(target->device().sm_count, 4U);
  EXPECT_EQ(target->device().nominal.l2_bytes, 4096U);
  EXPECT_EQ(target->capabilities().max_ring_bytes, 64 * k_mib);
  EXPECT_TRUE(target->capabilities().sm_choice);
  EXPECT_FALSE(target->capabilities().unified_storage);
  EXPECT_EQ(target->kernels_sha256(), "");
}

TEST(SimTarget, ReportsEachExperimentAndStopsWhenAsked) {
  for (const unsigned threads : {1U, 2U}) {
    SimOptions options;
    options.threads = threads;
    const auto target = make(small_model(), options);
    const std::vector<Experiment> batch(50, chase_of(8));
    std::vector<std::size_t> reports;
    RunControl control;
    control.on_done = [&](std::size_t done) { reports.push_back(done); };
    EXPECT_TRUE(target->run(batch, control).has_value());
    std::vector<std::size_t> expected(50);
    std::iota(expected.begin(), expected.end(), 1U);
    EXPECT_EQ(reports, expected);

    CancelToken cancel;
    cancel.request();
    control.cancel = &cancel;
    reports.clear();
    const auto result = target->run(batch, control);
    ASSERT_FALSE(result.has_value());
    EXPECT_EQ(result.error().kind, ErrorKind::interrupted);
    EXPECT_TRUE(reports.empty());
  }
}

// A warm-up of 2^36 loads or 2^40 timed ones: only cancelling ends them.
TEST(SimTarget, CancelsInsideLongExperiments) {
  const auto target = make(small_model());
  auto long_warmup = chase_of(64);
  long_warmup.warmup_laps = 1 << 30;
  auto long_chase = chase_of(64);
  long_chase.hops = 1ULL << 40;
  for (const auto& chase : {long_warmup, long_chase}) {
    CancelToken cancel;
    std::jthread stopper([&] {
      std::this_thread::sleep_for(std::chrono::milliseconds(20));  // well inside
      cancel.request();
    });
    RunControl control;
    control.cancel = &cancel;
    const std::vector<Experiment> batch{chase};
    const auto result = target->run(batch, control);
    ASSERT_FALSE(result.has_value());
    EXPECT_EQ(result.error().kind, ErrorKind::interrupted);
  }
}

TEST(SimTarget, RefusesWhatItCannotDo) {
  auto chase = chase_of(8);
  chase.sm = 4;
  const auto target = make(small_model());
  std::vector<Experiment> batch{chase};
  EXPECT_EQ(target->run(batch, {}).error().message, "SM 4: this device has 4; choose one from 0 to 3");
  batch = {chase_of(64 * k_mib / 128 + 1)};
  EXPECT_EQ(target->run(batch, {}).error().kind, ErrorKind::usage);
  batch = {chase_of(8, LoadPath::shared)};
  EXPECT_FALSE(target->run(batch, {}).has_value());

  for (const double mhz : {-1.0, 10001.0, std::numeric_limits<double>::quiet_NaN()}) {
    SimOptions options;
    options.sm_mhz = mhz;
    EXPECT_EQ(make_sim_target(small_model(), options).error().kind, ErrorKind::usage) << mhz;
  }
  auto wide = small_model();
  wide.caches[1].replacement = Replacement::srrip;
  wide.caches[1].ways = 33;
  const auto error = make_sim_target(wide).error();
  EXPECT_EQ(error.kind, ErrorKind::bad_input);
  EXPECT_NE(error.message.find("33 ways with srrip"), std::string::npos) << error.message;
}

}  // namespace
}  // namespace gpusonde
