// Maps of single lines, throughput of sets of lines, and the physical addresses that are told, on the simulated GPU.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <set>

#include "small_model.hpp"

namespace gpusonde {
namespace {

constexpr std::uint32_t k_hops = 64;

/// L2 in 4 slices, by lines, that lie up to 32 cycles nearer and farther.
DeviceModel sliced_model() {
  auto model = small_model();
  model.caches[1].slices = 4;
  model.caches[1].slice_spread_cycles = 64;
  model.caches[1].slice_function = AddressFunction::modulo(128, 4);
  model.caches[1].set_function = AddressFunction::modulo(512, 8);
  return model;
}

LineMapExperiment map_of(std::uint64_t lines) {
  LineMapExperiment e;
  for (std::uint64_t i = 0; i < lines; ++i) e.places.push_back(i * 128);
  e.hops = k_hops;
  return e;
}

template <class Kind>
auto run_on(Target& target, const Kind& e) {
  using Wanted = std::conditional_t<std::is_same_v<Kind, LineMapExperiment>, LineMapSamples, ThroughputSamples>;
  auto samples = target.run(std::vector<Experiment>{e}, {});
  EXPECT_TRUE(samples.has_value()) << (samples ? "" : samples.error().message);
  return samples ? std::get<Wanted>(samples->front()) : Wanted{};
}

TEST(SimLineMap, IsWhatAChaseOverTheLineTakes) {
  const auto target = make(sliced_model());
  const auto map = run_on(*target, map_of(6));
  EXPECT_EQ(map.sms, (std::vector<std::uint32_t>{0, 1, 2, 3}));
  ASSERT_EQ(map.eighth_cycles.size(), 24U);
  std::set<std::uint16_t> seen;
  for (std::uint32_t sm = 0; sm < 4; ++sm)
    for (std::uint64_t line = 0; line < 6; ++line) {
      auto chase = chase_of(1, LoadPath::global_cg);
      chase.ring.first_byte = line * 128;
      chase.sm = sm;
      const double latency = (static_cast<double>(run_chase_on(*target, chase).cycles.front()) - k_timer_cycles) / 1024;
      EXPECT_NEAR(map.eighth_cycles[6 * sm + line] / 8.0, latency, 1 / 8.0) << "SM " << sm << ", line " << line;
      seen.insert(map.eighth_cycles[6 * sm + line]);
    }
  EXPECT_GT(seen.size(), 10U);  // of 4 SMs and 4 slices
}

TEST(SimLineMap, SlicesLieAroundTheHitOfEverySm) {
  const auto map = run_on(*make(sliced_model()), map_of(4));
  ASSERT_EQ(map.eighth_cycles.size(), 16U);
  for (std::size_t sm = 0; sm < 4; ++sm) {
    double sum = 0;
    double largest = 0;
    for (std::size_t line = 0; line < 4; ++line) {
      const double latency = map.eighth_cycles[4 * sm + line] / 8.0;
      sum += latency;
      largest = std::max(largest, std::abs(latency - 200));
    }
    EXPECT_NEAR(sum / 4, 200, 1 / 8.0);
    EXPECT_NEAR(largest, 32, 1 / 8.0);
  }
}

TEST(SimLineMap, SomeSmsComeInOrderWithTheirOwnRows) {
  const auto target = make(sliced_model());
  const auto all = run_on(*target, map_of(4)).eighth_cycles;
  auto e = map_of(4);
  e.sms = {3, 1};
  const auto some = run_on(*target, e);
  EXPECT_EQ(some.sms, (std::vector<std::uint32_t>{1, 3}));
  std::vector<std::uint16_t> expected(all.begin() + 4, all.begin() + 8);
  expected.insert(expected.end(), all.begin() + 12, all.end());
  EXPECT_EQ(some.eighth_cycles, expected);
}

TEST(SimLineMap, PlacesComeInTheOrderOfTheList) {
  const auto target = make(sliced_model());
  auto e = map_of(4);
  e.sms = {2};
  auto forwards = run_on(*target, e).eighth_cycles;
  std::reverse(e.places.begin(), e.places.end());
  const auto backwards = run_on(*target, e).eighth_cycles;
  EXPECT_NE(forwards, backwards);
  std::reverse(forwards.begin(), forwards.end());
  EXPECT_EQ(forwards, backwards);
}

/// Two halves, lines in turn at home in one and the other; SMs 0 and 1 belong to the first.
DeviceModel two_halves() {
  auto model = small_model();
  model.caches[1].partitions = 2;
  model.caches[1].home_function = AddressFunction::modulo(128, 2);
  model.caches[1].far_cycles = 150;
  model.caches[1].atomic_cycles = 40;
  return model;
}

TEST(SimLineMap, LoadsAreAnsweredNearby) {
  const auto map = run_on(*make(two_halves()), map_of(5));
  EXPECT_EQ(map.eighth_cycles, std::vector<std::uint16_t>(20, 200 * 8));
}

TEST(SimLineMap, AtomicsGoToTheLinesHome) {
  const auto target = make(two_halves());
  auto e = map_of(5);
  e.operation = LineOperation::atomic;
  const auto map = run_on(*target, e);
  ASSERT_EQ(map.eighth_cycles.size(), 20U);
  for (std::size_t sm = 0; sm < 4; ++sm)
    for (std::size_t line = 0; line < 5; ++line)
      EXPECT_EQ(map.eighth_cycles[5 * sm + line], line % 2 == sm / 2 ? 240 * 8 : 390 * 8)
          << "SM " << sm << ", line " << line;
  auto whole = two_halves();
  whole.caches[1].partitions = 1;
  whole.caches[1].far_cycles = 0;
  whole.caches[1].home_function = {};
  EXPECT_EQ(run_on(*make(whole), e).eighth_cycles, std::vector<std::uint16_t>(20, 240 * 8));
}

TEST(SimLineMap, TheBestRepetitionCounts) {
  auto model = small_model();
  model.noise.run_fraction = 0.02;
  auto e = map_of(500);
  e.sms = {0};
  const auto mean_of = [&](std::uint32_t repetitions) {
    e.repetitions = repetitions;
    const auto cycles = run_on(*make(model), e).eighth_cycles;
    return std::accumulate(cycles.begin(), cycles.end(), 0.0) / 8 / static_cast<double>(cycles.size());
  };
  EXPECT_NEAR(mean_of(1), 200, 200 * 0.003);
  // The smallest of 16 normal numbers lies 1.77 standard deviations below the mean. (Tippett, 1925)
  EXPECT_NEAR(mean_of(16), 200 * (1 - 1.766 * 0.02), 200 * 0.003);
}

TEST(SimLineMap, WithoutACacheBehindL1ThereIsNone) {
  auto model = small_model();
  model.caches.pop_back();
  const auto target = make(model);
  ThroughputExperiment throughput;
  throughput.places = {0};
  for (const auto& e : std::vector<Experiment>{map_of(4), throughput}) {
    const auto samples = target->run(std::vector<Experiment>{e}, {});
    ASSERT_FALSE(samples.has_value());
    EXPECT_EQ(samples.error().kind, ErrorKind::unsupported);
    EXPECT_NE(samples.error().message.find("no cache"), std::string::npos) << samples.error().message;
  }
}

/// 8 slices by lines that serve a quarter line a cycle each.
DeviceModel busy_model(std::uint32_t sm_count) {
  auto model = sliced_model();
  model.sm_count = sm_count;
  model.caches[1].slices = 8;
  model.caches[1].slice_spread_cycles = 20;
  model.caches[1].slice_function = AddressFunction::modulo(128, 8);
  model.caches[1].set_function = AddressFunction::modulo(1024, 8);
  model.caches[1].lines_per_cycle = 0.25;
  return model;
}

double lines_per_cycle(const DeviceModel& model, const std::vector<std::uint64_t>& lines) {
  ThroughputExperiment e;
  for (const auto line : lines) e.places.push_back(line * 128);
  const auto samples = run_on(*make(model), e);
  EXPECT_EQ(samples.sm_count, model.sm_count);
  EXPECT_GT(samples.lines, 1000U);
  return static_cast<double>(samples.lines) / samples.cycles;
}

TEST(SimThroughput, IsThatOfTheSlicesThatHoldTheLines) {
  const auto model = busy_model(16);
  EXPECT_NEAR(lines_per_cycle(model, {0}), 0.25, 0.25 * 0.02);
  EXPECT_NEAR(lines_per_cycle(model, {3, 11, 19, 27}), 0.25, 0.25 * 0.02);  // four lines of one slice
  EXPECT_NEAR(lines_per_cycle(model, {0, 1, 2}), 0.75, 0.75 * 0.02);
  EXPECT_NEAR(lines_per_cycle(model, {0, 1, 2, 3, 4, 5, 6, 7}), 2, 2 * 0.02);
}

TEST(SimThroughput, IsThatOfTheCrossbarWhereSlicesAreFaster) {
  std::vector<std::uint64_t> all(8);
  std::iota(all.begin(), all.end(), 0U);
  for (const std::uint32_t sms : {1U, 4U}) {
    auto model = busy_model(sms);
    model.timing.crossbar_lines_per_cycle = 0.125;
    model.caches[1].lines_per_cycle = 10;
    const double expected = 0.125 * sms;
    EXPECT_NEAR(lines_per_cycle(model, all), expected, expected * 0.02) << sms << " SMs";
  }
}

std::vector<std::uint64_t> pages_of(std::uint64_t count, std::uint64_t page_bytes) {
  std::vector<std::uint64_t> places;
  for (std::uint64_t i = 0; i < count; ++i) places.push_back(i * page_bytes);
  return places;
}

DeviceModel shuffled_model() {
  auto model = small_model();
  model.memory_bytes = 256 * k_mib;
  model.dram.rows = 1 << 18;
  model.paging.placement = Placement::random;
  return model;
}

TEST(SimPhysicalAddresses, AreToldOnlyWhenAskedFor) {
  const auto target = make(shuffled_model());
  EXPECT_FALSE(target->capabilities().physical_addresses);
  const auto told = target->physical_addresses(std::vector<std::uint64_t>{0});
  ASSERT_FALSE(told.has_value());
  EXPECT_EQ(told.error().kind, ErrorKind::unsupported);
  EXPECT_NE(told.error().message.find("--physical-addresses"), std::string::npos) << told.error().message;
  EXPECT_TRUE(make(shuffled_model(), {.physical_addresses = true})->capabilities().physical_addresses);
}

TEST(SimPhysicalAddresses, PlacesOfAPageShareItsFrameAndNoOtherDoes) {
  constexpr std::uint64_t k_page = 2 * k_mib;
  const auto target = make(shuffled_model(), {.physical_addresses = true});
  auto places = pages_of(128, k_page);
  for (std::uint64_t i = 0; i < 128; ++i) places.push_back(i * k_page + 4096 + 8 * i);
  const auto told = target->physical_addresses(places);
  ASSERT_TRUE(told.has_value()) << told.error().message;
  ASSERT_EQ(told->size(), 256U);
  std::set<std::uint64_t> frames;
  for (std::uint64_t i = 0; i < 128; ++i) {
    EXPECT_EQ((*told)[i] % k_page, 0U);
    EXPECT_EQ((*told)[128 + i], (*told)[i] + 4096 + 8 * i);
    EXPECT_LT((*told)[i], 256 * k_mib);
    frames.insert((*told)[i]);
  }
  EXPECT_EQ(frames.size(), 128U);
  EXPECT_FALSE(std::is_sorted(told->begin(), told->begin() + 128));
  auto in_order = shuffled_model();
  in_order.paging.placement = Placement::contiguous;
  EXPECT_EQ(*make(in_order, {.physical_addresses = true})->physical_addresses(places), places);
}

// L2 of one line a frame, its set the frame's number: five frames of a set of four ways push each other out.
TEST(SimPhysicalAddresses, AreThoseThatCachesGoBy) {
  auto model = shuffled_model();
  model.caches[1].set_function = AddressFunction::modulo(2 * k_mib, 8);
  for (const std::uint64_t seed : {1U, 2U}) {
    const auto target = make(model, {.seed = seed, .physical_addresses = true});
    const auto pages = pages_of(128, 2 * k_mib);
    const auto told = target->physical_addresses(pages);
    ASSERT_TRUE(told.has_value()) << told.error().message;
    SequenceExperiment e;
    for (std::size_t i = 0; i < pages.size() && e.places.size() < 5; ++i)
      if ((*told)[i] / (2 * k_mib) % 8 == 3) e.places.push_back(pages[i]);
    ASSERT_EQ(e.places.size(), 5U);
    e.steps = {
        {StepKind::walk, 0, 4, 1}, {StepKind::time, 0, 1, 1}, {StepKind::walk, 1, 4, 1}, {StepKind::time, 0, 1, 1}};
    const auto samples = target->run(std::vector<Experiment>{e}, {});
    ASSERT_TRUE(samples.has_value()) << samples.error().message;
    EXPECT_EQ(std::get<SequenceSamples>(samples->front()).cycles, (std::vector<std::uint32_t>{210, 510}));
  }
}

}  // namespace
}  // namespace gpusonde
