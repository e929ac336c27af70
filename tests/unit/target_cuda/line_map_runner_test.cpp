// Line maps and throughput on a fake driver: rows by SM, columns by place, cut over launches, and what is said when
// SMs do not come.
#include "target/cuda/line_map_runner.hpp"

#include <gtest/gtest.h>

#include <numeric>

#include "core/units.hpp"
#include "fake_target.hpp"

namespace gpusonde::cuda {
namespace {

using test::fake_eighths;
using test::FakeDriver;
using test::open;
using test::run_one;

LineMapExperiment map_of(std::uint64_t lines) {
  LineMapExperiment e;
  for (std::uint64_t i = 0; i < lines; ++i) e.places.push_back(i * 7 % lines * 128);
  return e;
}

std::vector<std::uint16_t> expected_eighths(const LineMapExperiment& e, const std::vector<std::uint32_t>& sms) {
  std::vector<std::uint16_t> eighths;
  for (const auto sm : sms)
    for (const auto place : e.places) eighths.push_back(fake_eighths(sm, place, e.operation == LineOperation::atomic));
  return eighths;
}

Result<LineMapSamples> run_on(Target& target, const LineMapExperiment& e) {
  auto samples = run_one(target, e);
  if (!samples) return tl::unexpected(samples.error());
  return std::get<LineMapSamples>(std::move(*samples));
}

std::vector<std::uint32_t> all_sms() {
  std::vector<std::uint32_t> sms(132);
  std::iota(sms.begin(), sms.end(), 0U);
  return sms;
}

TEST(LineMapRunner, MeasuresEveryLineFromEverySm) {
  FakeDriver fake;
  const auto target = open(fake);
  const auto e = map_of(10);
  const auto samples = run_on(*target, e);
  ASSERT_TRUE(samples.has_value()) << samples.error().message;
  EXPECT_EQ(samples->sms, all_sms());
  EXPECT_EQ(samples->eighth_cycles, expected_eighths(e, all_sms()));
  ASSERT_EQ(fake.line_maps.size(), 1U);
  EXPECT_EQ(fake.line_maps[0].base, samples->base_address);
  EXPECT_EQ(fake.line_maps[0].hops, 8U);
  EXPECT_EQ(fake.line_maps[0].repetitions, 2U);
  EXPECT_EQ(fake.line_maps[0].at_once, 1U);
  ASSERT_GE(fake.launches.size(), 2U);
  EXPECT_EQ(fake.launches[fake.launches.size() - 2].kernel, "link_self");
  const auto& launch = fake.launches.back();
  EXPECT_EQ(launch.kernel, "line_map_load");
  EXPECT_EQ(launch.blocks, 132U);
  EXPECT_EQ(launch.shared_bytes, 232448U);  // all a block can have: one block an SM
}

TEST(LineMapRunner, SomeSmsComeInOrder) {
  FakeDriver fake;
  const auto target = open(fake);
  auto e = map_of(5);
  e.sms = {131, 2, 40};
  const auto samples = run_on(*target, e);
  ASSERT_TRUE(samples.has_value()) << samples.error().message;
  EXPECT_EQ(samples->sms, (std::vector<std::uint32_t>{2, 40, 131}));
  EXPECT_EQ(samples->eighth_cycles, expected_eighths(e, {2, 40, 131}));
}

TEST(LineMapRunner, AtomicsHaveTheirKernel) {
  FakeDriver fake;
  const auto target = open(fake);
  auto e = map_of(5);
  e.operation = LineOperation::atomic;
  const auto samples = run_on(*target, e);
  ASSERT_TRUE(samples.has_value()) << samples.error().message;
  EXPECT_EQ(fake.launches.back().kernel, "line_map_atomic");
  EXPECT_EQ(samples->eighth_cycles, expected_eighths(e, all_sms()));
}

TEST(LineMapRunner, ManyLinesAreCutOverLaunches) {
  FakeDriver fake;
  const auto target = open(fake);
  auto e = map_of(1009);
  e.hops = 64;  // 132 SMs in turn: 65 thousand cycles a line at the worst
  const auto samples = run_on(*target, e);
  ASSERT_TRUE(samples.has_value()) << samples.error().message;
  EXPECT_EQ(samples->eighth_cycles, expected_eighths(e, all_sms()));
  ASSERT_GT(fake.line_maps.size(), 10U);
  unsigned next = 0;
  for (const auto& p : fake.line_maps) {
    EXPECT_EQ(p.first_place, next);
    EXPECT_GT(p.end_place, p.first_place);
    EXPECT_EQ(p.place_count, 1009U);
    next = p.end_place;
  }
  EXPECT_EQ(next, 1009U);
}

TEST(LineMapRunner, SmsAtOnceTakeFewerLaunches) {
  FakeDriver fake;
  const auto target = open(fake);
  auto e = map_of(1009);
  e.hops = 64;
  e.sms_at_once = 33;
  const auto samples = run_on(*target, e);
  ASSERT_TRUE(samples.has_value()) << samples.error().message;
  EXPECT_EQ(samples->eighth_cycles, expected_eighths(e, all_sms()));
  EXPECT_EQ(fake.line_maps.size(), 1U);
  EXPECT_EQ(fake.line_maps[0].at_once, 33U);
  e.sms = {4, 5};  // never more at once than there are
  ASSERT_TRUE(run_on(*target, e).has_value());
  EXPECT_EQ(fake.line_maps.back().at_once, 2U);
}

TEST(LineMapRunner, SmsThatDoNotComeAreAFailure) {
  FakeDriver fake;
  fake.sms_that_come = 130;
  const auto target = open(fake);
  auto e = map_of(5);
  const auto samples = run_on(*target, e);
  ASSERT_FALSE(samples.has_value());
  EXPECT_EQ(samples.error().kind, ErrorKind::measurement);
  EXPECT_EQ(samples.error().message, "only 130 of 132 SMs came to measure; other work on the device holds them");
  e.sms = {0, 129};
  EXPECT_TRUE(run_on(*target, e).has_value());
}

TEST(LineMapRunner, StopsBetweenLaunchesWhenAsked) {
  FakeDriver fake;
  const auto target = open(fake);
  CancelToken cancel;
  fake.on_launch = [&] {
    if (fake.line_maps.size() == 3) cancel.request();
  };
  auto e = map_of(1009);
  e.hops = 64;
  const Experiment experiment = e;
  const auto samples = target->run(std::span(&experiment, 1), {.cancel = &cancel, .on_done = {}});
  ASSERT_FALSE(samples.has_value());
  EXPECT_EQ(samples.error().kind, ErrorKind::interrupted);
  EXPECT_EQ(fake.line_maps.size(), 3U);
}

TEST(LineMapRunner, AKernelThatFailsIsNamed) {
  FakeDriver fake;
  const auto target = open(fake);
  ASSERT_TRUE(run_on(*target, map_of(5)).has_value());
  fake.synchronize_result = 719;
  EXPECT_EQ(run_on(*target, map_of(5)).error().message,
            "kernel line_map_load failed: CUDA_ERROR_FAKE (719): a fake failure");
}

TEST(ThroughputRunner, TheSecondRunCountsOverAllSms) {
  FakeDriver fake;
  const auto target = open(fake);
  ThroughputExperiment e;
  e.places = {0, 4096, 128};
  e.loads_a_lane = 10;  // 12: four at a time
  e.threads_per_sm = 64;
  for (std::size_t turn = 1; turn <= 2; ++turn) {
    const auto samples = run_one(*target, e);
    ASSERT_TRUE(samples.has_value()) << samples.error().message;
    const auto& s = std::get<ThroughputSamples>(*samples);
    EXPECT_EQ(s.cycles, 700.0);  // not the 5000 of the run that brings the lines
    EXPECT_EQ(s.lines, 132U * 64 * 12);
    EXPECT_EQ(s.sm_count, 132U);
    ASSERT_EQ(fake.throughputs.size(), 2 * turn);
  }
  EXPECT_EQ(fake.arrived_before, std::vector<unsigned>(4, 0));
  EXPECT_EQ(fake.throughputs.back().place_count, 3U);
  EXPECT_EQ(fake.throughputs.back().loads, 12U);
  const auto& launch = fake.launches.back();
  EXPECT_EQ(launch.kernel, "throughput");
  EXPECT_EQ(launch.blocks, 132U);
  EXPECT_EQ(launch.threads, 64U);
  EXPECT_GT(launch.shared_bytes, 233472U / 2);  // one block an SM
  EXPECT_LE(launch.shared_bytes, 232448U);
}

TEST(ThroughputRunner, ALongListFitsSharedMemory) {
  FakeDriver fake;
  const auto target = open(fake);
  ThroughputExperiment e;
  for (std::uint64_t i = 0; i < 8192; ++i) e.places.push_back(128 * i);
  ASSERT_TRUE(run_one(*target, e).has_value());
  EXPECT_GE(fake.launches.back().shared_bytes, 8U * 8192);
}

}  // namespace
}  // namespace gpusonde::cuda
