// Sequences on a fake driver: each step's loads at the right places, readings in order, cut over launches, on the
// right SMs; the fetch limit set and put back.
#include "target/cuda/sequence_runner.hpp"

#include <gtest/gtest.h>

#include <algorithm>

#include "core/units.hpp"
#include "fake_target.hpp"

namespace gpusonde::cuda {
namespace {

using test::fake_reading;
using test::FakeDriver;
using test::open;
using test::run_one;
using test::SequenceAction;

constexpr std::size_t k_limit_before = 64;

/// Three tests of touches, walks and readings over five places in no order.
SequenceExperiment sequence() {
  SequenceExperiment e;
  e.places = {4096, 0, 128, 64 * k_kib, 4096};
  e.steps = {{StepKind::touch, 1, 3, 2}, {StepKind::walk, 0, 2, 1},  // test 0
             {StepKind::time, 0, 3, 2},                              // test 1
             {StepKind::time, 3, 2, 1},  {StepKind::walk, 4, 1, 3}, {StepKind::time, 1, 1, 1}};
  e.tests = {0, 2, 3};
  return e;
}

std::vector<std::uint32_t> readings_of(const std::vector<std::uint64_t>& places) {
  std::vector<std::uint32_t> readings;
  for (const auto place : places) readings.push_back(fake_reading(place));
  return readings;
}

Result<SequenceSamples> run_on(Target& target, const SequenceExperiment& e) {
  auto samples = run_one(target, e);
  if (!samples) return tl::unexpected(samples.error());
  return std::get<SequenceSamples>(std::move(*samples));
}

/// Tests of one reading after a walk that takes so many loads.
SequenceExperiment long_walks(unsigned tests, unsigned loads) {
  SequenceExperiment e;
  e.steps.clear();
  e.tests.clear();
  for (unsigned i = 0; i < tests; ++i) {
    e.places.push_back(128ULL * i);
    e.tests.push_back(2 * i);
    e.steps.push_back({StepKind::walk, i, 1, loads});
    e.steps.push_back({StepKind::time, i, 1, 1});
  }
  return e;
}

TEST(SequenceRunner, StepsAreCarriedOutAndReadingsLandInOrder) {
  FakeDriver fake;
  const auto target = open(fake);
  const auto e = sequence();
  const auto samples = run_on(*target, e);
  ASSERT_TRUE(samples.has_value()) << samples.error().message;
  EXPECT_EQ(samples->cycles, readings_of({4096, 0, 128, 4096, 0, 128, 64 * k_kib, 4096, 0}));
  const std::vector<SequenceAction> expected{{0, {0, 128, 64 * k_kib}},
                                             {0, {0, 128, 64 * k_kib}},
                                             {1, {4096, 0}},
                                             {2, {4096, 0, 128}},
                                             {2, {4096, 0, 128}},
                                             {2, {64 * k_kib, 4096}},
                                             {1, {4096}},
                                             {1, {4096}},
                                             {1, {4096}},
                                             {2, {0}}};
  EXPECT_EQ(fake.sequence_actions, expected);
  ASSERT_EQ(fake.sequences.size(), 1U);
  EXPECT_EQ(fake.sequences[0].tests, 3U);
  EXPECT_EQ(fake.sequences[0].parameters.base, samples->base_address);
  EXPECT_EQ(fake.launches.back().kernel, "sequence_cg");
  EXPECT_EQ(fake.launches.back().threads, 1024U);
  EXPECT_EQ(fake.loaded.back(), "sequence");
}

TEST(SequenceRunner, ASecondOneBeginsWithItsOwnReadings) {
  FakeDriver fake;
  const auto target = open(fake);
  const auto e = sequence();
  const auto first = run_on(*target, e);
  const auto second = run_on(*target, e);
  ASSERT_TRUE(first.has_value() && second.has_value());
  EXPECT_EQ(second->cycles, first->cycles);  // they are added to memory
}

TEST(SequenceRunner, EachPathHasItsKernelAndItsSplit) {
  for (const auto& [path, kernel] : {std::pair{LoadPath::global_ca, "sequence_ca"},
                                     {LoadPath::global_cv, "sequence_cv"},
                                     {LoadPath::global_nc, "sequence_nc"}}) {
    FakeDriver fake;
    const auto target = open(fake);
    auto e = sequence();
    e.path = path;
    e.split = {.carveout_percent = 50, .block_threads = 256};
    const auto samples = run_on(*target, e);
    ASSERT_TRUE(samples.has_value()) << samples.error().message;
    EXPECT_EQ(fake.launches.back().kernel, kernel);
    EXPECT_EQ(fake.launches.back().threads, 256U);
    EXPECT_EQ(fake.carveouts.at(kernel), 50);
    EXPECT_EQ(samples->shared_config_bytes, 132 * k_kib);
  }
}

TEST(SequenceRunner, AGatherIsOneReadingOfAllItsLanes) {
  FakeDriver fake;
  const auto target = open(fake);
  SequenceExperiment e;
  for (std::uint64_t lane = 0; lane < 32; ++lane) e.places.push_back(4 * lane);
  e.places.push_back(8192);
  e.steps = {{StepKind::gather, 0, 32, 2}, {StepKind::time, 32, 1, 1}, {StepKind::gather, 30, 3, 1}};
  e.tests = {0, 2};
  e.lane_bytes = 4;
  const auto samples = run_on(*target, e);
  ASSERT_TRUE(samples.has_value()) << samples.error().message;
  const std::vector<std::uint64_t> warp(e.places.begin(), e.places.begin() + 32);
  const auto all = test::fake_gather(warp, 4);
  EXPECT_EQ(samples->cycles,
            (std::vector<std::uint32_t>{all, all, fake_reading(8192), test::fake_gather({120, 124, 8192}, 4)}));
  EXPECT_TRUE(samples->starts.empty());
  ASSERT_EQ(fake.sequence_actions.size(), 4U);
  EXPECT_EQ(fake.sequence_actions[0], (SequenceAction{4, warp}));
}

TEST(SequenceRunner, StampsComeWithEachReading) {
  FakeDriver fake;
  const auto target = open(fake);
  auto e = sequence();
  e.stamps = true;
  const auto samples = run_on(*target, e);
  ASSERT_TRUE(samples.has_value()) << samples.error().message;
  EXPECT_EQ(samples->cycles, readings_of({4096, 0, 128, 4096, 0, 128, 64 * k_kib, 4096, 0}));
  ASSERT_EQ(samples->starts.size(), 9U);
  for (unsigned i = 0; i < 9; ++i) EXPECT_EQ(samples->starts[i], test::fake_start(i)) << i;
  // And they do not stay in memory for the next one.
  const auto again = run_on(*target, e);
  ASSERT_TRUE(again.has_value());
  EXPECT_EQ(again->starts, samples->starts);
}

TEST(SequenceRunner, WithoutReadingsThereAreNone) {
  FakeDriver fake;
  const auto target = open(fake);
  auto e = sequence();
  for (auto& step : e.steps) step.kind = StepKind::walk;
  const auto samples = run_on(*target, e);
  ASSERT_TRUE(samples.has_value()) << samples.error().message;
  EXPECT_TRUE(samples->cycles.empty());
  EXPECT_EQ(fake.sequences.back().tests, 3U);
}

TEST(SequenceRunner, AliasesAreMappedAndTheBaseIsTheirs) {
  FakeDriver fake;
  const auto target = open(fake);
  auto e = sequence();
  e.region = Region::aliases;
  e.places = {0, 32 * k_mib, 96 * k_mib + 128, 64, 32 * k_mib + 8};
  const auto samples = run_on(*target, e);
  ASSERT_TRUE(samples.has_value()) << samples.error().message;
  EXPECT_TRUE(fake.virtual_memory.is_reserved(samples->base_address));
  EXPECT_EQ(fake.sequences.back().parameters.base, samples->base_address);
  EXPECT_EQ(fake.virtual_memory.misuses, 0);  // no load where nothing is mapped
  EXPECT_GE(fake.virtual_memory.mappings.size(), 3U);
  EXPECT_EQ(samples->cycles.size(), 9U);
}

TEST(SequenceRunner, LongTestsAreCutOverLaunchesAndAllRunOnce) {
  FakeDriver fake;
  const auto target = open(fake);
  const auto e = long_walks(10, 60'000);  // 120 million cycles each at the worst, where a launch may take 300
  const auto samples = run_on(*target, e);
  ASSERT_TRUE(samples.has_value()) << samples.error().message;
  EXPECT_EQ(samples->cycles, readings_of(e.places));
  ASSERT_EQ(fake.sequences.size(), 5U);
  for (unsigned i = 0; i < 5; ++i) {
    EXPECT_EQ(fake.sequences[i].parameters.first_test, 2 * i);
    EXPECT_EQ(fake.sequences[i].parameters.end_test, 2 * i + 2);
    EXPECT_EQ(fake.sequences[i].tests, 2U);
    EXPECT_EQ(fake.sequences[i].parameters.sm, 0U);  // L2 differs from SM to SM: all on one
  }
}

TEST(SequenceRunner, ATestLongerThanALaunchRunsAlone) {
  FakeDriver fake;
  const auto target = open(fake);
  const auto e = long_walks(3, 200'000);
  const auto samples = run_on(*target, e);
  ASSERT_TRUE(samples.has_value()) << samples.error().message;
  EXPECT_EQ(samples->cycles, readings_of(e.places));
  EXPECT_EQ(fake.sequences.size(), 3U);
}

TEST(SequenceRunner, RunsOnTheChosenSmAndTriesAgain) {
  FakeDriver fake;
  const auto target = open(fake);
  auto e = sequence();
  e.sm = 131;
  e.at_once = true;  // an SM that is chosen stays so
  fake.launches_until_sm = 3;
  const auto samples = run_on(*target, e);
  ASSERT_TRUE(samples.has_value()) << samples.error().message;
  EXPECT_EQ(samples->cycles.size(), 9U);
  ASSERT_EQ(fake.sequences.size(), 3U);
  for (const auto& launch : fake.sequences) EXPECT_EQ(launch.parameters.sm, 131U);
  EXPECT_EQ(fake.launches.back().blocks, 4U * 132 * 16);
  EXPECT_EQ(samples->cycles, readings_of({4096, 0, 128, 4096, 0, 128, 64 * k_kib, 4096, 0}));
}

TEST(SequenceRunner, GivesUpOnAnSmWhereNothingRuns) {
  FakeDriver fake;
  const auto target = open(fake);
  auto e = sequence();
  e.sm = 5;
  e.fetch_limit_bytes = 32;
  fake.launches_until_sm = 100;
  const auto samples = run_on(*target, e);
  ASSERT_FALSE(samples.has_value());
  EXPECT_EQ(samples.error().kind, ErrorKind::measurement);
  EXPECT_EQ(samples.error().message, "no block of kernel sequence_cg came to run on SM 5");
  EXPECT_EQ(fake.sequences.back().fetch_limit_bytes, 32U);
  EXPECT_EQ(fake.limits[k_l2_fetch_limit], k_limit_before);  // put back all the same
}

TEST(SequenceRunner, AnSmThatIsNotThereIsNamed) {
  FakeDriver fake;
  const auto target = open(fake);
  auto e = sequence();
  e.sm = 132;
  EXPECT_EQ(run_on(*target, e).error().message, "there is no SM 132: this GPU has 132, counted from 0");
}

TEST(SequenceRunner, TestsAtOnceHaveABlockEachUpToTheSms) {
  FakeDriver fake;
  const auto target = open(fake);
  auto few = long_walks(5, 1);
  few.at_once = true;
  const auto of_few = run_on(*target, few);
  ASSERT_TRUE(of_few.has_value()) << of_few.error().message;
  EXPECT_EQ(of_few->cycles, readings_of(few.places));
  EXPECT_EQ(fake.launches.back().blocks, 5U);
  EXPECT_EQ(fake.sequences.back().parameters.sm, k_any_sm);
  auto many = long_walks(500, 1);
  many.at_once = true;
  const auto of_many = run_on(*target, many);
  ASSERT_TRUE(of_many.has_value()) << of_many.error().message;
  EXPECT_EQ(of_many->cycles, readings_of(many.places));
  EXPECT_EQ(fake.launches.back().blocks, 132U);
}

TEST(SequenceRunner, ALaunchOfManySmsTakesMore) {
  FakeDriver fake;
  const auto target = open(fake);
  auto e = long_walks(10, 60'000);  // five launches on one SM
  e.at_once = true;
  const auto samples = run_on(*target, e);
  ASSERT_TRUE(samples.has_value()) << samples.error().message;
  EXPECT_EQ(samples->cycles, readings_of(e.places));
  EXPECT_EQ(fake.sequences.size(), 1U);
}

TEST(SequenceRunner, PrefetchesAndDropsHaveAModuleOfTheirOwn) {
  struct Case {
    std::uint32_t prefetch_bytes;
    bool drops;
    const char* kernel;
    const char* module;
  };
  for (const auto& c :
       {Case{0, false, "sequence_cg", "sequence"}, Case{0, true, "sequence_cg_0", "sequence_l2"},
        Case{64, false, "sequence_cg_64", "sequence_l2"}, Case{128, true, "sequence_cg_128", "sequence_l2"},
        Case{256, false, "sequence_cg_256", "sequence_l2"}}) {
    SCOPED_TRACE(c.kernel);
    FakeDriver fake;
    const auto target = open(fake);
    auto e = sequence();
    e.prefetch_bytes = c.prefetch_bytes;
    if (c.drops) e.steps[1].kind = StepKind::drop;
    const auto samples = run_on(*target, e);
    ASSERT_TRUE(samples.has_value()) << samples.error().message;
    EXPECT_EQ(samples->cycles.size(), 9U);
    EXPECT_EQ(fake.launches.back().kernel, c.kernel);
    EXPECT_EQ(fake.loaded.back(), c.module);
    EXPECT_EQ(fake.sequence_actions[2], (SequenceAction{c.drops ? 3U : 1U, {4096, 0}}));
  }
}

TEST(SequenceRunner, ChipsBeforeAmpereHaveNeither) {
  FakeDriver fake;
  fake.compute_capability_major = 7;
  const auto target = open(fake);
  EXPECT_FALSE(target->capabilities().drops_lines);
  auto e = sequence();
  EXPECT_TRUE(run_on(*target, e).has_value());
  EXPECT_EQ(std::count(fake.loaded.begin(), fake.loaded.end(), "sequence_l2"), 0);
  e.prefetch_bytes = 64;
  EXPECT_EQ(run_on(*target, e).error().kind, ErrorKind::unsupported);
  e = sequence();
  e.steps[0].kind = StepKind::drop;
  EXPECT_EQ(run_on(*target, e).error().kind, ErrorKind::unsupported);
  e = sequence();
  e.fetch_limit_bytes = 32;
  EXPECT_EQ(run_on(*target, e).error().kind, ErrorKind::unsupported);
}

TEST(SequenceRunner, TheFetchLimitIsSetAndPutBack) {
  FakeDriver fake;
  const auto target = open(fake);
  auto e = sequence();
  ASSERT_TRUE(run_on(*target, e).has_value());
  EXPECT_EQ(fake.sequences.back().fetch_limit_bytes, k_limit_before);
  for (const std::uint32_t bytes : {32U, 128U}) {
    e.fetch_limit_bytes = bytes;
    ASSERT_TRUE(run_on(*target, e).has_value());
    EXPECT_EQ(fake.sequences.back().fetch_limit_bytes, bytes);
    EXPECT_EQ(fake.limits[k_l2_fetch_limit], k_limit_before);
  }
}

TEST(SequenceRunner, TheFetchLimitIsPutBackAfterAFailure) {
  FakeDriver fake;
  const auto target = open(fake);
  auto e = sequence();
  ASSERT_TRUE(run_on(*target, e).has_value());
  e.fetch_limit_bytes = 32;
  fake.synchronize_result = 719;
  const auto samples = run_on(*target, e);
  ASSERT_FALSE(samples.has_value());
  EXPECT_EQ(samples.error().message, "kernel sequence_cg failed: CUDA_ERROR_FAKE (719): a fake failure");
  EXPECT_EQ(fake.sequences.back().fetch_limit_bytes, 32U);
  EXPECT_EQ(fake.limits[k_l2_fetch_limit], k_limit_before);
}

TEST(SequenceRunner, AFetchLimitThatCannotBeSetIsSaid) {
  FakeDriver fake;
  const auto target = open(fake);
  auto e = sequence();
  e.fetch_limit_bytes = 32;
  fake.limit_result = 801;
  const auto samples = run_on(*target, e);
  ASSERT_FALSE(samples.has_value());
  EXPECT_EQ(samples.error().message, "cannot set the limit of L2 fetches: CUDA_ERROR_FAKE (801): a fake failure");
  EXPECT_TRUE(fake.sequences.empty());
}

TEST(SequenceRunner, StopsBetweenLaunchesWhenAsked) {
  FakeDriver fake;
  const auto target = open(fake);
  CancelToken cancel;
  fake.on_launch = [&] {
    if (fake.sequences.size() == 2) cancel.request();
  };
  const Experiment e = long_walks(5, 200'000);
  const auto samples = target->run(std::span(&e, 1), {.cancel = &cancel, .on_done = {}});
  ASSERT_FALSE(samples.has_value());
  EXPECT_EQ(samples.error().kind, ErrorKind::interrupted);
  EXPECT_EQ(fake.sequences.size(), 2U);
}

}  // namespace
}  // namespace gpusonde::cuda
