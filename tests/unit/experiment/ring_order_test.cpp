#include "experiment/ring_order.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <vector>

namespace gpusonde {
namespace {

std::vector<std::uint64_t> nodes_of(const RingOrderParameters& parameters) {
  const RingOrder order(parameters);
  std::vector<std::uint64_t> nodes;
  for (std::uint64_t i = 0; i < parameters.node_count; ++i) nodes.push_back(order.node(i));
  return nodes;
}

bool is_bijection(std::vector<std::uint64_t> nodes) {
  std::sort(nodes.begin(), nodes.end());
  for (std::uint64_t i = 0; i < nodes.size(); ++i)
    if (nodes[i] != i) return false;
  return true;
}

TEST(RingOrder, VisitsEveryNodeOnce) {
  for (std::uint64_t n = 1; n <= 300; ++n)
    for (const std::uint64_t seed : {0ULL, 1ULL, 0xFFFFFFFFFFFFFFFFULL})
      EXPECT_TRUE(is_bijection(nodes_of({n, 128, 0, 1, seed}))) << n << " nodes, seed " << seed;
  for (const std::uint64_t n : {65535ULL, 65536ULL, 65537ULL, 589824ULL})
    EXPECT_TRUE(is_bijection(nodes_of({n, 128, 0, 1, 7}))) << n;
}

TEST(RingOrder, StaysInRangeForLargeRings) {
  constexpr std::uint64_t n = (1ULL << 40) - 12345;
  const Permutation permutation(n, 3);
  for (std::uint64_t i = 0; i < 1000; ++i) EXPECT_LT(permutation(i), n);
}

TEST(RingOrder, GoesGroupByGroup) {
  for (const std::uint64_t n : {1ULL, 15ULL, 16ULL, 17ULL, 100ULL, 160ULL}) {
    const auto nodes = nodes_of({n, 128, 16, 1, 5});
    EXPECT_TRUE(is_bijection(nodes)) << n;
    for (std::uint64_t i = 0; i < n; ++i) EXPECT_EQ(nodes[i] / 16, i / 16) << n << " at " << i;
  }
}

TEST(RingOrder, EachGroupHasAnOrderOfItsOwn) {
  const auto nodes = nodes_of({2048, 128, 1024, 1, 5});
  std::uint64_t same = 0;
  for (std::uint64_t i = 0; i < 1024; ++i) same += nodes[i] + 1024 == nodes[i + 1024] ? 1 : 0;
  EXPECT_LT(same, 10U);  // about 1 is expected of unrelated orders
}

// With neighbouring seeds one order must not be the other one turned by some places.
TEST(RingOrder, SeedsGiveUnrelatedOrders) {
  constexpr std::uint64_t n = 1024;
  const auto one = nodes_of({n, 128, 0, 1, 1});
  const auto two = nodes_of({n, 128, 0, 1, 2});
  for (std::uint64_t turn = 0; turn < n; ++turn) {
    std::uint64_t same = 0;
    for (std::uint64_t i = 0; i < n; ++i) same += one[i] == two[(i + turn) % n] ? 1 : 0;
    EXPECT_LT(same, 16U) << "turned by " << turn;
  }
}

// Neighbours in the ring are rarely neighbours in memory: about 2 of n are expected of a random order.
TEST(RingOrder, HasFewNeighbouringLines) {
  constexpr std::uint64_t n = 65536;
  const auto nodes = nodes_of({n, 128, 0, 1, 1});
  std::uint64_t adjacent = 0;
  for (std::uint64_t i = 0; i < n; ++i) {
    const auto a = nodes[i];
    const auto b = nodes[(i + 1) % n];
    adjacent += a + 1 == b || b + 1 == a ? 1 : 0;
  }
  EXPECT_LT(adjacent, 12U);
}

// A short piece of the ring is spread evenly: chi-square over 64 regions, 63 degrees of freedom, at the
// 10^-4 point.
TEST(RingOrder, SpreadsAShortPieceEvenly) {
  constexpr std::uint64_t n = 655360;
  constexpr std::uint64_t piece = 12288;
  const RingOrder order({n, 128, 0, 1, 1});
  std::vector<double> high(64), low(64);
  for (std::uint64_t i = 0; i < piece; ++i) {
    ++high[order.node(i) * 64 / n];
    ++low[order.node(i) % 64];
  }
  const auto chi_square = [](const std::vector<double>& counts) {
    double sum = 0;
    for (const double count : counts) sum += (count - piece / 64.0) * (count - piece / 64.0) / (piece / 64.0);
    return sum;
  };
  EXPECT_LT(chi_square(high), 112.0);
  EXPECT_LT(chi_square(low), 112.0);
}

TEST(RingOrder, JitterKeepsNodesInsideTheirStride) {
  const RingOrder order({1000, 2048, 0, 16, 9});
  std::vector<int> uses(16);
  for (std::uint64_t node = 0; node < 1000; ++node) {
    const auto offset = order.offset_of_node(node);
    EXPECT_EQ(offset / 2048, node);
    EXPECT_EQ(offset % 128, 0U);
    ++uses[offset % 2048 / 128];
  }
  EXPECT_GT(*std::min_element(uses.begin(), uses.end()), 30);  // 62.5 expected on each line
}

TEST(RingOrder, OffsetsWithoutJitterAreMultiplesOfTheStride) {
  const RingOrder order({12, 4096, 0, 1, 1});
  for (std::uint64_t i = 0; i < 12; ++i) EXPECT_EQ(order.offset(i), order.node(i) * 4096);
}

// The kernels compute the same order on the device. These values pin it: whoever changes them changes the
// kernels too, and must make their PTX again.
TEST(RingOrder, IsPinned) {
  const auto nodes = nodes_of({1 << 20, 128, 0, 1, 1});
  const std::vector<std::uint64_t> first(nodes.begin(), nodes.begin() + 6);
  EXPECT_EQ(first, (std::vector<std::uint64_t>{784639, 290835, 811350, 613032, 738410, 591838}));
  constexpr RingOrder grouped({1000, 256, 100, 2, 7});
  static_assert(grouped.offset(998) == 232064 && grouped.offset(698) == 176384 && grouped.offset(98) == 18048);
}

}  // namespace
}  // namespace gpusonde
