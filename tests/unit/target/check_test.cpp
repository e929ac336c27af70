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

}  // namespace
}  // namespace gpusonde
