// Sequences of loads in cycles: what each step leaves in the caches, and what the next one reads.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "small_model.hpp"

namespace gpusonde {
namespace {

constexpr std::uint64_t k_page = 2 * k_mib;
constexpr std::uint32_t k_l1 = 40;  // each with the 10 cycles that a reading adds
constexpr std::uint32_t k_l2 = 210;
constexpr std::uint32_t k_dram = 510;

using Readings = std::vector<std::uint32_t>;

SequenceExperiment sequence(std::vector<std::uint64_t> places, std::vector<SequenceStep> steps,
                            LoadPath path = LoadPath::global_cg) {
  SequenceExperiment e;
  e.places = std::move(places);
  e.steps = std::move(steps);
  e.path = path;
  return e;
}

SequenceSamples run_sequence_on(Target& target, const SequenceExperiment& e) {
  const std::vector<Experiment> experiments{e};
  auto samples = target.run(experiments, {});
  EXPECT_TRUE(samples.has_value()) << (samples ? "" : samples.error().message);
  return samples ? std::get<SequenceSamples>(samples->front()) : SequenceSamples{};
}

Readings readings(const SequenceExperiment& e, const DeviceModel& model = small_model()) {
  return run_sequence_on(*make(model), e).cycles;
}

constexpr SequenceStep walk(std::uint32_t first, std::uint32_t count = 1) { return {StepKind::walk, first, count, 1}; }
constexpr SequenceStep timed(std::uint32_t first, std::uint32_t count = 1) { return {StepKind::time, first, count, 1}; }
constexpr SequenceStep touch(std::uint32_t first, std::uint32_t count = 1) {
  return {StepKind::touch, first, count, 1};
}
constexpr SequenceStep drop(std::uint32_t first, std::uint32_t count = 1) { return {StepKind::drop, first, count, 1}; }

TEST(SimSequence, AReadingIsTheLevelsLatencyAndItsOwn) {
  EXPECT_EQ(readings(sequence({0}, {{StepKind::time, 0, 1, 3}}, LoadPath::global_ca)), (Readings{k_dram, k_l1, k_l1}));
  EXPECT_EQ(readings(sequence({0}, {{StepKind::time, 0, 1, 3}})), (Readings{k_dram, k_l2, k_l2}));
  auto model = small_model();
  model.timing.per_hop_overhead_cycles = 17;
  EXPECT_EQ(readings(sequence({0}, {{StepKind::time, 0, 1, 2}}), model), (Readings{517, 217}));
}

TEST(SimSequence, WalksAndTouchesBringLinesWithoutAReading) {
  const auto steps = {walk(0), touch(1), timed(0, 3)};
  EXPECT_EQ(readings(sequence({0, 128, 256}, steps, LoadPath::global_ca)), (Readings{k_l1, k_l1, k_dram}));
  EXPECT_EQ(readings(sequence({0, 128, 256}, steps)), (Readings{k_l2, k_l2, k_dram}));
}

TEST(SimSequence, TimesTakesTheStepAsAWhole) {
  // Five lines of one L2 set of four ways, in a cycle: none is there again in time. One by one each would be.
  std::vector<std::uint64_t> places(5);
  for (std::uint64_t i = 0; i < 5; ++i) places[i] = i * 8 * 128;
  EXPECT_EQ(readings(sequence(places, {{StepKind::time, 0, 5, 2}})), Readings(10, k_dram));
  EXPECT_EQ(readings(sequence(places, {{StepKind::time, 0, 4, 2}})),
            (Readings{k_dram, k_dram, k_dram, k_dram, k_l2, k_l2, k_l2, k_l2}));
}

TEST(SimSequence, ManyTurnsOfALongListRunOverTheWholeOfIt) {
  std::vector<std::uint64_t> places(9000);
  for (std::uint64_t i = 0; i < places.size(); ++i) places[i] = i * 128;
  auto expected = Readings(9000, k_dram);
  const auto got = readings(sequence(places, {walk(0, 9000), timed(8968, 32), timed(0, 9000)}));
  ASSERT_EQ(got.size(), 9032U);
  EXPECT_EQ(Readings(got.begin(), got.begin() + 32), Readings(32, k_l2));  // 4 KiB of L2
  EXPECT_EQ(Readings(got.begin() + 32, got.end()), expected);
}

// The way a set's ways are counted: how many others of its set push a line out.
TEST(SimSequence, FourOthersOfItsSetPushALineOutOfL2) {
  std::vector<std::uint64_t> places(8);
  for (std::uint64_t i = 0; i < 8; ++i) places[i] = i * 8 * 128;
  for (const auto bring : {StepKind::walk, StepKind::touch})
    for (std::uint32_t others = 1; others < 8; ++others)
      EXPECT_EQ(readings(sequence(places, {walk(0), {bring, 1, others, 2}, timed(0)})),
                Readings{others < 4 ? k_l2 : k_dram})
          << others;
}

TEST(SimSequence, TestsBeginWithL1EmptyAndL2AsItWas) {
  auto e = sequence({0, 128}, {walk(0), timed(0), timed(0), timed(1)}, LoadPath::global_ca);
  e.tests = {0, 2, 3};
  EXPECT_EQ(readings(e), (Readings{k_l1, k_l2, k_dram}));
  e.tests = {0};
  EXPECT_EQ(readings(e), (Readings{k_l1, k_l1, k_dram}));
}

TEST(SimSequence, AnotherExperimentBeginsWithAllEmpty) {
  const auto target = make(small_model(), {.threads = 1});
  const auto e = sequence({0}, {timed(0), timed(0)});
  for (int i = 0; i < 2; ++i) EXPECT_EQ(run_sequence_on(*target, e).cycles, (Readings{k_dram, k_l2}));
}

TEST(SimSequence, AMissBringsOneSector) {
  const auto e = sequence({0, 8, 32, 56, 96}, {timed(0, 5)}, LoadPath::global_ca);
  EXPECT_EQ(readings(e), (Readings{k_dram, k_l1, k_dram, k_l1, k_dram}));
}

TEST(SimSequence, AMissOfL2BringsItsBlockAndOneSectorToL1) {
  auto model = small_model();
  model.caches[1].fetch_bytes = 64;
  // Second sector first: the block is aligned, so it holds the first one and not the third.
  const auto e = sequence({32, 0, 64, 96, 0}, {timed(0, 5)}, LoadPath::global_ca);
  EXPECT_EQ(readings(e, model), (Readings{k_dram, k_l2, k_dram, k_l2, k_l1}));
  model.caches[1].fetch_bytes = 128;
  EXPECT_EQ(readings(e, model), (Readings{k_dram, k_l2, k_l2, k_l2, k_l1}));
}

TEST(SimSequence, TheFetchLimitHoldsForItsExperiment) {
  auto model = small_model();
  model.caches[1].fetch_bytes = 64;
  auto e = sequence({0, 32, 64, 96, 128}, {timed(0, 5)});
  const auto target = make(model, {.threads = 1});
  const auto of_limit = [&](std::uint32_t bytes) {
    e.fetch_limit_bytes = bytes;
    return run_sequence_on(*target, e).cycles;
  };
  EXPECT_EQ(of_limit(32), Readings(5, k_dram));
  EXPECT_EQ(of_limit(64), (Readings{k_dram, k_l2, k_dram, k_l2, k_dram}));
  EXPECT_EQ(of_limit(128), (Readings{k_dram, k_l2, k_l2, k_l2, k_dram}));
  EXPECT_EQ(of_limit(0), (Readings{k_dram, k_l2, k_dram, k_l2, k_dram}));  // the model's again
}

TEST(SimSequence, APrefetchSizeBringsThatMuch) {
  auto e = sequence({0, 32, 64, 96, 128}, {timed(0, 5)});
  const auto of_prefetch = [&](std::uint32_t bytes) {
    e.prefetch_bytes = bytes;
    return readings(e);
  };
  EXPECT_EQ(of_prefetch(0), Readings(5, k_dram));
  EXPECT_EQ(of_prefetch(64), (Readings{k_dram, k_l2, k_dram, k_l2, k_dram}));
  EXPECT_EQ(of_prefetch(128), (Readings{k_dram, k_l2, k_l2, k_l2, k_dram}));
}

TEST(SimSequence, ADroppedLineLeavesL2WithAllItsSectors) {
  EXPECT_EQ(readings(sequence({0, 32, 128}, {walk(0, 3), drop(0), timed(0, 3)})), (Readings{k_dram, k_dram, k_l2}));
  // One that is not there does no harm.
  EXPECT_EQ(readings(sequence({0, 128}, {walk(0), drop(1), timed(0)})), Readings{k_l2});
}

TEST(SimSequence, ADroppedLineMakesRoomInItsSet) {
  std::vector<std::uint64_t> places(5);
  for (std::uint64_t i = 0; i < 5; ++i) places[i] = i * 8 * 128;
  EXPECT_EQ(readings(sequence(places, {walk(0, 4), drop(2), walk(4), timed(0, 2), timed(3, 2)})), Readings(4, k_l2));
}

TEST(SimSequence, AliasesAreOneMemoryUnderManyAddresses) {
  auto e = sequence({0, k_page, 5 * k_page + 128}, {timed(0, 3), timed(0, 3)});
  e.region = Region::aliases;
  const auto target = make(small_model());
  const auto samples = run_sequence_on(*target, e);
  EXPECT_EQ(samples.cycles, (Readings{k_dram, k_l2, k_dram, k_l2, k_l2, k_l2}));
  e.path = LoadPath::global_ca;  // by virtual addresses: each alias misses once
  EXPECT_EQ(run_sequence_on(*target, e).cycles, (Readings{k_dram, k_l2, k_dram, k_l1, k_l1, k_l1}));
  e.region = Region::buffer;
  const auto in_buffer = run_sequence_on(*target, e);
  EXPECT_EQ(in_buffer.cycles, (Readings{k_dram, k_dram, k_dram, k_l1, k_l1, k_l1}));
  EXPECT_NE(in_buffer.base_address, samples.base_address);
  EXPECT_EQ(in_buffer.base_address % k_gib, 0U);
}

TEST(SimSequence, TheSmsDistanceToTheSliceShows) {
  auto model = small_model();
  model.caches[1].slices = 4;
  model.caches[1].slice_spread_cycles = 64;
  model.caches[1].slice_function = AddressFunction::modulo(128, 4);
  model.caches[1].set_function = AddressFunction::modulo(512, 8);
  Readings of_sm[2];
  for (const std::uint32_t sm : {0U, 3U}) {
    auto e = sequence({0, 128, 256, 384}, {walk(0, 4), timed(0, 4)});
    e.sm = sm;
    auto& cycles = of_sm[sm / 3];
    cycles = readings(e, model);
    ASSERT_EQ(cycles.size(), 4U);
    EXPECT_NEAR(std::accumulate(cycles.begin(), cycles.end(), 0.0) / 4, k_l2, 0.5);
    double largest = 0;
    for (const auto c : cycles) largest = std::max(largest, std::abs(c - double{k_l2}));
    EXPECT_NEAR(largest, 32, 0.5);
  }
  EXPECT_NE(of_sm[0], of_sm[1]);
}

TEST(SimSequence, NoiseIsAddedToEachReading) {
  auto model = small_model();
  model.noise.hop_cycles = 5;
  constexpr std::uint32_t k_count = 4000;
  const auto cycles = readings(sequence({0}, {walk(0), {StepKind::time, 0, 1, k_count}}), model);
  ASSERT_EQ(cycles.size(), k_count);
  double sum = 0;
  double squares = 0;
  for (const auto c : cycles) {
    sum += c - double{k_l2};
    squares += (c - double{k_l2}) * (c - double{k_l2});
  }
  EXPECT_NEAR(sum / k_count, 0, 0.4);
  EXPECT_NEAR(std::sqrt(squares / k_count), 5, 0.3);
}

TEST(SimSequence, AnSmThatIsNotThereIsNamed) {
  auto e = sequence({0}, {timed(0)});
  e.sm = 4;
  const auto samples = make(small_model())->run(std::vector<Experiment>{e}, {});
  ASSERT_FALSE(samples.has_value());
  EXPECT_EQ(samples.error().kind, ErrorKind::usage);
  EXPECT_NE(samples.error().message.find("SM 4: this device has 4"), std::string::npos) << samples.error().message;
}

}  // namespace
}  // namespace gpusonde
