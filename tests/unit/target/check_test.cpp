#include <gtest/gtest.h>

#include <functional>
#include <string>

#include "core/units.hpp"
#include "target/target.hpp"

namespace gpusonde {
namespace {

Capabilities some_capabilities() {
  Capabilities capabilities;
  capabilities.max_ring_bytes = 32 * k_gib;
  capabilities.max_shared_ring_bytes = 99 * k_kib;
  capabilities.max_per_hop_hops = 8192;
  capabilities.paths = {LoadPath::global_ca, LoadPath::global_cg, LoadPath::shared};
  return capabilities;
}

ChaseExperiment good_chase() {
  ChaseExperiment chase;
  chase.ring.order.node_count = 1024;
  return chase;
}

/// The error of a chase changed so; empty when it passes.
Error error_of(const std::function<void(ChaseExperiment&)>& change) {
  auto chase = good_chase();
  change(chase);
  const auto result = check(chase, some_capabilities());
  return result ? Error{ErrorKind::interrupted, ""} : result.error();
}

void expect_usage(const std::function<void(ChaseExperiment&)>& change, const std::string& part) {
  const auto error = error_of(change);
  EXPECT_EQ(error.kind, ErrorKind::usage) << part;
  EXPECT_NE(error.message.find(part), std::string::npos) << error.message;
}

void expect_good(const std::function<void(ChaseExperiment&)>& change) { EXPECT_EQ(error_of(change).message, ""); }

TEST(Check, PassesAnOrdinaryChase) {
  expect_good([](auto&) {});
}

TEST(Check, HopsAreAMultipleOfEight) {
  expect_usage([](auto& c) { c.hops = 0; }, "0 hops");
  expect_usage([](auto& c) { c.hops = 4095; }, "4095 hops");
  expect_good([](auto& c) { c.hops = 8; });
  expect_usage([](auto& c) { c.repetitions = 0; }, "repetitions");
}

TEST(Check, RingsHaveNodesAndAStride) {
  expect_usage([](auto& c) { c.ring.order.node_count = 0; }, "node");
  expect_usage([](auto& c) { c.ring.order.stride_bytes = 0; }, "stride");
}

TEST(Check, StridesAreAlignedToTheElement) {
  expect_usage([](auto& c) { c.ring.order.stride_bytes = 12; }, "multiple of 8");
  expect_usage([](auto& c) { c.ring.first_byte = 4; }, "multiple of 8");
  const auto index_12 = [](ChaseExperiment& c) {
    c.chain = ChainKind::index;
    c.ring.order.stride_bytes = 12;
  };
  expect_good(index_12);
  expect_usage(
      [&](auto& c) {
        index_12(c);
        c.ring.order.stride_bytes = 10;
      },
      "multiple of 4");
}

TEST(Check, RingsFitTheMemoryToTheByte) {
  const auto nodes = [](std::uint64_t count, std::uint64_t first) {
    return [=](ChaseExperiment& c) {
      c.ring.order.node_count = count;
      c.ring.first_byte = first;
    };
  };
  constexpr std::uint64_t all = 32 * k_gib / 128;
  expect_good(nodes(all, 0));
  expect_usage(nodes(all + 1, 0), "32 GiB");
  expect_usage(nodes(all, 128), "32 GiB");
  expect_good(nodes(all - 1, 128));
  expect_usage(nodes(~0ULL, 0), "32 GiB");  // must not wrap around
  expect_usage(nodes(1, ~0ULL - 7), "32 GiB");
}

TEST(Check, JitterStaysInsideTheStride) {
  const auto jitter = [](std::uint64_t lines) {
    return [=](ChaseExperiment& c) {
      c.ring.order.stride_bytes = 512;
      c.ring.order.jitter_lines = lines;
    };
  };
  expect_good(jitter(4));
  expect_usage(jitter(5), "jitter");
}

TEST(Check, SharedRingsFitSharedMemory) {
  const auto shared = [](std::uint64_t bytes) {
    return [=](ChaseExperiment& c) {
      c.path = LoadPath::shared;
      c.ring.order.node_count = bytes / 128;
    };
  };
  expect_good(shared(99 * k_kib));
  expect_usage(shared(99 * k_kib + 128), "99 KiB");
}

TEST(Check, IndexChainsStayInside32Bits) {
  const auto index = [](std::uint64_t bytes) {
    return [=](ChaseExperiment& c) {
      c.chain = ChainKind::index;
      c.ring.order.node_count = bytes / 128;
    };
  };
  expect_good(index(16 * k_gib - 128));
  expect_usage(index(16 * k_gib + 128), "--chain pointer");
}

TEST(Check, PerHopTimingIsLimitedInHops) {
  const auto per_hop = [](std::uint64_t hops, std::uint32_t repetitions) {
    return [=](ChaseExperiment& c) {
      c.timing = HopTiming::per_hop;
      c.hops = hops;
      c.repetitions = repetitions;
    };
  };
  expect_good(per_hop(4096, 2));
  expect_usage(per_hop(4096, 3), "at most 8192");
}

TEST(Check, PathsTheDeviceLacksAreUnsupported) {
  const auto error = error_of([](auto& c) { c.path = LoadPath::global_nc; });
  EXPECT_EQ(error.kind, ErrorKind::unsupported);
  EXPECT_NE(error.message.find("'nc'"), std::string::npos) << error.message;
}

AliasSpace some_aliases() { return {2 * k_mib, 1024 * k_gib, 100, ""}; }

ListChaseExperiment good_list(Region region) {
  ListChaseExperiment list;
  list.region = region;
  list.places = {0, 64 * k_mib + 128, 32 * k_mib + 256};
  return list;
}

Error list_error(Region region, const std::function<void(ListChaseExperiment&)>& change,
                 const AliasSpace& aliases = some_aliases()) {
  auto list = good_list(region);
  change(list);
  const auto result = check(list, some_capabilities(), aliases);
  return result ? Error{ErrorKind::interrupted, ""} : result.error();
}

/// In either region.
void expect_list_usage(const std::function<void(ListChaseExperiment&)>& change, const std::string& part) {
  for (const auto region : {Region::buffer, Region::aliases}) {
    const auto error = list_error(region, change);
    EXPECT_EQ(error.kind, ErrorKind::usage) << part;
    EXPECT_NE(error.message.find(part), std::string::npos) << error.message;
  }
}

void expect_good_list(const std::function<void(ListChaseExperiment&)>& change) {
  for (const auto region : {Region::buffer, Region::aliases}) EXPECT_EQ(list_error(region, change).message, "");
}

TEST(CheckList, PassesAnOrdinaryList) {
  expect_good_list([](auto&) {});
}

TEST(CheckList, HopsAreMultiplesOfEight) {
  expect_list_usage([](auto& l) { l.hops = 0; }, "0 hops");
  expect_list_usage([](auto& l) { l.hops = 63; }, "63 hops");
  expect_list_usage([](auto& l) { l.warmup_hops = 4; }, "after 4");
  expect_good_list([](auto& l) { l.warmup_hops = 8; });
  expect_list_usage([](auto& l) { l.repetitions = 0; }, "repetitions");
}

TEST(CheckList, ThereAreAtLeastTwoPlaces) {
  expect_list_usage([](auto& l) { l.places = {}; }, "two");
  expect_list_usage([](auto& l) { l.places = {64}; }, "two");
  expect_good_list([](auto& l) { l.places = {64, 0}; });
}

TEST(CheckList, PlacesAreAlignedAndApart) {
  expect_list_usage([](auto& l) { l.places[1] = 12; }, "place 12");
  expect_list_usage([](auto& l) { l.places[1] = l.places[2]; }, "two places share");
  expect_good_list([](auto& l) { l.places[1] = l.places[2] + 8; });
}

TEST(CheckList, AliasesOfOneSlotAreOneNode) {
  const auto page_on = [](ListChaseExperiment& l) { l.places[1] = l.places[0] + 2 * k_mib; };
  EXPECT_EQ(list_error(Region::aliases, page_on).kind, ErrorKind::usage);
  EXPECT_EQ(list_error(Region::buffer, page_on).message, "");
}

TEST(CheckList, PlacesFitTheRegionToTheByte) {
  const auto last = [](std::uint64_t place) { return [=](ListChaseExperiment& l) { l.places.back() = place; }; };
  EXPECT_EQ(list_error(Region::buffer, last(32 * k_gib - 8)).message, "");
  EXPECT_EQ(list_error(Region::aliases, last(1024 * k_gib - 8)).message, "");
  const auto beyond_buffer = list_error(Region::buffer, last(32 * k_gib));
  EXPECT_EQ(beyond_buffer.kind, ErrorKind::usage);
  EXPECT_NE(beyond_buffer.message.find("32 GiB"), std::string::npos) << beyond_buffer.message;
  EXPECT_EQ(list_error(Region::aliases, last(1024 * k_gib)).kind, ErrorKind::usage);
  expect_list_usage(last(~0ULL - 7), "beyond");  // must not wrap around
}

TEST(CheckList, OnlySoManyPagesOfAliases) {
  const auto pages = [](std::uint64_t count) {
    return [=](ListChaseExperiment& l) {
      l.places.clear();
      for (std::uint64_t i = 0; i < 2 * count; ++i) l.places.push_back(i / 2 * 2 * k_mib + 8 * i);
    };
  };
  EXPECT_EQ(list_error(Region::aliases, pages(100)).message, "");
  const auto error = list_error(Region::aliases, pages(101));
  EXPECT_EQ(error.kind, ErrorKind::usage);
  EXPECT_NE(error.message.find("101 pages"), std::string::npos) << error.message;
  EXPECT_EQ(list_error(Region::buffer, pages(101)).message, "");
}

TEST(CheckList, AWarmUpOnAnotherSmNeedsOneForTheChase) {
  expect_list_usage([](auto& l) { l.warmup_sm = 3; }, "SM");
  expect_good_list([](auto& l) { l.sm = l.warmup_sm = 3; });
}

TEST(CheckList, PerHopTimingIsLimitedInHops) {
  const auto per_hop = [](std::uint64_t hops, std::uint32_t repetitions) {
    return [=](ListChaseExperiment& l) {
      l.timing = HopTiming::per_hop;
      l.hops = hops;
      l.repetitions = repetitions;
    };
  };
  expect_good_list(per_hop(4096, 2));
  expect_list_usage(per_hop(4096, 3), "at most 8192");
  expect_list_usage(per_hop(std::uint64_t{1} << 63, 2), "at most 8192");  // must not wrap around
}

TEST(CheckList, PathsAreOfGlobalMemoryAndTheDevices) {
  expect_list_usage([](auto& l) { l.path = LoadPath::shared; }, "shared memory");
  const auto error = list_error(Region::buffer, [](auto& l) { l.path = LoadPath::global_nc; });
  EXPECT_EQ(error.kind, ErrorKind::unsupported);
  EXPECT_NE(error.message.find("'nc'"), std::string::npos) << error.message;
}

TEST(CheckList, WithoutAnAliasSpaceItsReasonIsGiven) {
  const AliasSpace none{0, 0, 0, "there is none, for a reason"};
  const auto error = list_error(
      Region::aliases, [](auto&) {}, none);
  EXPECT_EQ(error.kind, ErrorKind::unsupported);
  EXPECT_EQ(error.message, "there is none, for a reason");
  EXPECT_EQ(list_error(
                Region::buffer, [](auto&) {}, none)
                .message,
            "");
}

}  // namespace
}  // namespace gpusonde
