// What every target refuses of sequences, line maps and throughput experiments.
#include <gtest/gtest.h>

#include <functional>
#include <string>

#include "core/units.hpp"
#include "target/target.hpp"

namespace gpusonde {
namespace {

constexpr std::uint32_t k_sm_count = 12;

Capabilities some_capabilities() {
  Capabilities capabilities;
  capabilities.max_ring_bytes = 32 * k_gib;
  capabilities.paths = {LoadPath::global_ca, LoadPath::global_cg, LoadPath::shared};
  capabilities.max_map_places = 100;
  capabilities.prefetch_sizes_bytes = {64, 128};
  capabilities.fetch_limits_bytes = {32, 64};
  capabilities.drops_lines = true;
  return capabilities;
}

AliasSpace some_aliases() { return {2 * k_mib, 1024 * k_gib, 3, ""}; }

/// An error, or one without words when there is none.
Error error_of(const Result<void>& result) { return result ? Error{ErrorKind::interrupted, ""} : result.error(); }

void expect_error(const Error& error, ErrorKind kind, const std::string& part) {
  EXPECT_EQ(error.kind, kind) << part << ": " << error.message;
  EXPECT_NE(error.message.find(part), std::string::npos) << error.message << ", not " << part;
}

/// Two tests over three places: touch, walk and time, then time alone.
SequenceExperiment good_sequence() {
  SequenceExperiment e;
  e.places = {0, 4096, 64 * k_mib};
  e.steps = {{StepKind::touch, 0, 3, 2}, {StepKind::walk, 1, 2, 1}, {StepKind::time, 2, 1, 1}, {StepKind::time, 0, 1}};
  e.tests = {0, 3};
  return e;
}

using SequenceChange = std::function<void(SequenceExperiment&)>;

Error sequence_error(const SequenceChange& change, const Capabilities& capabilities = some_capabilities(),
                     const AliasSpace& aliases = some_aliases()) {
  auto e = good_sequence();
  change(e);
  return error_of(check(e, capabilities, aliases));
}

void expect_sequence_usage(const SequenceChange& change, const std::string& part) {
  expect_error(sequence_error(change), ErrorKind::usage, part);
}
void expect_sequence_unsupported(const SequenceChange& change, const std::string& part) {
  expect_error(sequence_error(change), ErrorKind::unsupported, part);
}
void expect_good_sequence(const SequenceChange& change) { EXPECT_EQ(sequence_error(change).message, ""); }

TEST(CheckSequence, PassesAnOrdinaryOneInEitherRegion) {
  expect_good_sequence([](auto&) {});
  expect_good_sequence([](auto& e) { e.region = Region::aliases; });
}

TEST(CheckSequence, RepeatedPlacesAreFine) {
  expect_good_sequence([](auto& e) { e.places[1] = e.places[0]; });
}

TEST(CheckSequence, StepsStayInsideTheList) {
  expect_good_sequence([](auto& e) { e.steps[1] = {StepKind::walk, 2, 1, 9}; });
  expect_sequence_usage([](auto& e) { e.steps[1] = {StepKind::walk, 2, 2, 1}; }, "places 2 to 3 of a list of 3");
  expect_sequence_usage([](auto& e) { e.steps[1] = {StepKind::walk, 3, 1, 1}; }, "of a list of 3");
  // Must not wrap around.
  expect_sequence_usage([](auto& e) { e.steps[1] = {StepKind::walk, 1, 0xFFFFFFFFU, 1}; }, "places 1 to 4294967295");
}

TEST(CheckSequence, EachStepLoadsSomething) {
  expect_sequence_usage([](auto& e) { e.steps[0].count = 0; }, "a step of no loads");
  expect_sequence_usage([](auto& e) { e.steps[3].times = 0; }, "a step of no loads");
}

TEST(CheckSequence, GathersAreOfAWarpsLanesAtMultiplesOfTheirBytes) {
  const auto gather = [](SequenceExperiment& e, std::vector<std::uint64_t> places, std::uint32_t lane_bytes) {
    e.places = std::move(places);
    e.steps = {{StepKind::gather, 0, static_cast<std::uint32_t>(e.places.size()), 2}};
    e.tests = {0};
    e.lane_bytes = lane_bytes;
  };
  const auto warp = [](std::uint64_t lanes) {
    std::vector<std::uint64_t> places;
    for (std::uint64_t lane = 0; lane < lanes; ++lane) places.push_back(4 * lane);
    return places;
  };
  expect_good_sequence([&](auto& e) { gather(e, warp(32), 4); });
  expect_good_sequence([&](auto& e) { gather(e, {16, 0, 160}, 16); });
  expect_sequence_usage([&](auto& e) { gather(e, warp(33), 4); }, "a gather of 33 places: a warp has 32 lanes");
  expect_sequence_usage([&](auto& e) { gather(e, {0, 2}, 4); }, "place 2 is no multiple of 4");
  expect_sequence_usage([&](auto& e) { gather(e, {0, 4}, 8); }, "place 4 is no multiple of 8");
  expect_sequence_usage([&](auto& e) { gather(e, {0, 24}, 16); }, "place 24 is no multiple of 16");
  expect_sequence_usage([&](auto& e) { gather(e, {0, 32}, 32); }, "lanes of 32 B: give 4, 8 or 16");
  expect_sequence_usage([&](auto& e) { gather(e, {0, 0}, 0); }, "lanes of 0 B");
  // Other loads take 8 bytes, whatever the lanes do.
  expect_sequence_usage(
      [&](auto& e) {
        gather(e, warp(4), 4);
        e.steps.push_back({StepKind::time, 1, 1, 1});
      },
      "place 4 is no multiple of 8");
  expect_sequence_usage(
      [&](auto& e) {
        gather(e, warp(4), 4);
        e.split.block_threads = 16;
      },
      "a block of 16 threads");
}

TEST(CheckSequence, TestsAscendFromTheFirstStep) {
  expect_good_sequence([](auto& e) { e.tests = {0, 1, 2, 3}; });
  expect_sequence_usage([](auto& e) { e.tests = {}; }, "begin at step 0");
  expect_sequence_usage([](auto& e) { e.tests = {1, 2}; }, "begin at step 0");
  expect_sequence_usage([](auto& e) { e.tests = {0, 2, 2}; }, "ascend");
  expect_sequence_usage([](auto& e) { e.tests = {0, 3, 2}; }, "ascend");
  expect_sequence_usage([](auto& e) { e.tests = {0, 4}; }, "at least one step");
  expect_sequence_usage([](auto& e) { e.steps = {}; }, "at least one step");
}

TEST(CheckSequence, PlacesAreAlignedAndInTheirRegion) {
  expect_sequence_usage([](auto& e) { e.places = {}; }, "an empty list");
  expect_sequence_usage([](auto& e) { e.places[1] = 12; }, "place 12");
  const auto last = [](Region region, std::uint64_t place) {
    return [=](SequenceExperiment& e) {
      e.region = region;
      e.places.back() = place;
    };
  };
  expect_good_sequence(last(Region::buffer, 32 * k_gib - 8));
  expect_sequence_usage(last(Region::buffer, 32 * k_gib), "32 GiB");
  expect_good_sequence(last(Region::aliases, 1024 * k_gib - 8));
  expect_sequence_usage(last(Region::aliases, 1024 * k_gib), "beyond");
  expect_sequence_usage(last(Region::buffer, ~0ULL - 7), "beyond");
}

TEST(CheckSequence, OnlySoManyPagesOfAliases) {
  const auto pages = [](Region region, std::uint64_t count) {
    return [=](SequenceExperiment& e) {
      e.region = region;
      for (std::uint64_t i = 0; i < count; ++i) {
        e.places.push_back(i * 2 * k_mib);
        e.places.push_back(i * 2 * k_mib + 128);
      }
    };
  };
  // Three of them are those of the ordinary sequence: page 0 and page 32, and one more.
  expect_good_sequence(pages(Region::aliases, 2));
  expect_sequence_usage(pages(Region::aliases, 3), "4 pages mapped at a time: at most 3");
  expect_good_sequence(pages(Region::buffer, 3));
}

TEST(CheckSequence, WithoutAnAliasSpaceItsReasonIsGiven) {
  const AliasSpace none{0, 0, 0, "there is none, for a reason"};
  const auto aliased = sequence_error([](auto& e) { e.region = Region::aliases; }, some_capabilities(), none);
  EXPECT_EQ(aliased.kind, ErrorKind::unsupported);
  EXPECT_EQ(aliased.message, none.why_not);
  const auto in_buffer = sequence_error([](auto&) {}, some_capabilities(), none);
  EXPECT_EQ(in_buffer.message, "");
}

TEST(CheckSequence, PathsAreOfGlobalMemoryAndTheDevices) {
  expect_sequence_usage([](auto& e) { e.path = LoadPath::shared; }, "shared memory");
  expect_sequence_unsupported([](auto& e) { e.path = LoadPath::global_nc; }, "'nc'");
}

TEST(CheckSequence, SizesAreThoseOfTheDevice) {
  expect_good_sequence([](auto& e) { e.prefetch_bytes = 128; });
  expect_sequence_unsupported([](auto& e) { e.prefetch_bytes = 256; }, "no L2 prefetch size of 256 B");
  expect_good_sequence([](auto& e) { e.fetch_limit_bytes = 64; });
  expect_sequence_unsupported([](auto& e) { e.fetch_limit_bytes = 128; }, "no limit of L2 fetches of 128 B");
}

TEST(CheckSequence, PrefetchesAndDropsGoWithLoadsPastL1) {
  const auto near = [](const SequenceChange& change) {
    return [=](SequenceExperiment& e) {
      change(e);
      e.path = LoadPath::global_ca;
    };
  };
  const auto prefetch = [](SequenceExperiment& e) { e.prefetch_bytes = 64; };
  const auto drop = [](SequenceExperiment& e) { e.steps[1].kind = StepKind::drop; };
  expect_good_sequence(near([](auto&) {}));
  expect_good_sequence(prefetch);
  expect_sequence_usage(near(prefetch), "choose cg");
  expect_good_sequence(drop);
  expect_sequence_usage(near(drop), "choose cg");
  auto without = some_capabilities();
  without.drops_lines = false;
  expect_error(sequence_error(drop, without), ErrorKind::unsupported, "drops a line");
}

using MapChange = std::function<void(LineMapExperiment&)>;

Error map_error(const MapChange& change) {
  LineMapExperiment e;
  e.places = {0, 4096, 64 * k_mib};
  e.sms = {3, 0, 11};
  change(e);
  return error_of(check(e, some_capabilities(), k_sm_count));
}
void expect_map_usage(const MapChange& change, const std::string& part) {
  expect_error(map_error(change), ErrorKind::usage, part);
}

TEST(CheckLineMap, PassesAnOrdinaryOneAndAllSms) {
  EXPECT_EQ(map_error([](auto&) {}).message, "");
  EXPECT_EQ(map_error([](auto& e) { e.sms = {}; }).message, "");
}

TEST(CheckLineMap, CountsAreNotZeroAndHopsAMultipleOfEight) {
  expect_map_usage([](auto& e) { e.hops = 0; }, "0 hops");
  expect_map_usage([](auto& e) { e.hops = 12; }, "12 hops");
  expect_map_usage([](auto& e) { e.repetitions = 0; }, "0 repetitions");
  expect_map_usage([](auto& e) { e.sms_at_once = 0; }, "0 SMs at once");
}

TEST(CheckLineMap, PlacesAreAlignedApartAndInTheBuffer) {
  expect_map_usage([](auto& e) { e.places = {}; }, "an empty list");
  expect_map_usage([](auto& e) { e.places[0] = 4; }, "place 4");
  expect_map_usage([](auto& e) { e.places[0] = e.places[2]; }, "two places share");
  EXPECT_EQ(map_error([](auto& e) { e.places[0] = 32 * k_gib - 8; }).message, "");
  expect_map_usage([](auto& e) { e.places[0] = 32 * k_gib; }, "32 GiB");
}

TEST(CheckLineMap, OnlySoManyPlaces) {
  const auto lines = [](std::uint64_t count) {
    return [=](LineMapExperiment& e) {
      e.places.clear();
      for (std::uint64_t i = 0; i < count; ++i) e.places.push_back(128 * i);
    };
  };
  EXPECT_EQ(map_error(lines(100)).message, "");
  expect_map_usage(lines(101), "a map of 101 lines: at most 100");
}

TEST(CheckLineMap, SmsAreThereAndNamedOnce) {
  expect_map_usage([](auto& e) { e.sms = {3, 12}; }, "no SM 12: this device has 12");
  expect_map_usage([](auto& e) { e.sms = {3, 0, 3}; }, "named twice");
}

using ThroughputChange = std::function<void(ThroughputExperiment&)>;

Error throughput_error(const ThroughputChange& change) {
  ThroughputExperiment e;
  e.places = {0, 4096, 4096};
  change(e);
  return error_of(check(e, some_capabilities(), k_sm_count));
}
void expect_throughput_usage(const ThroughputChange& change, const std::string& part) {
  expect_error(throughput_error(change), ErrorKind::usage, part);
}

TEST(CheckThroughput, PassesAnOrdinaryOne) {
  EXPECT_EQ(throughput_error([](auto&) {}).message, "");
}

TEST(CheckThroughput, ThreadsAreWholeWarpsOfABlock) {
  for (const std::uint32_t threads : {32U, 1024U})
    EXPECT_EQ(throughput_error([&](auto& e) { e.threads_per_sm = threads; }).message, "");
  for (const std::uint32_t threads : {0U, 33U, 1056U})
    expect_throughput_usage([&](auto& e) { e.threads_per_sm = threads; }, std::to_string(threads) + " threads");
  expect_throughput_usage([](auto& e) { e.loads_a_lane = 0; }, "load 0 lines each");
}

TEST(CheckThroughput, PlacesAreSoManyAlignedAndInTheBuffer) {
  expect_throughput_usage([](auto& e) { e.places = {}; }, "an empty list");
  EXPECT_EQ(throughput_error([](auto& e) { e.places.assign(8192, 0); }).message, "");
  expect_throughput_usage([](auto& e) { e.places.assign(8193, 0); }, "8193 lines: at most 8192");
  expect_throughput_usage([](auto& e) { e.places[1] = 20; }, "place 20");
  expect_throughput_usage([](auto& e) { e.places[1] = 32 * k_gib; }, "32 GiB");
}

}  // namespace
}  // namespace gpusonde
