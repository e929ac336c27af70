// The sweep over memory: what is refused, how many nodes, and in which order they are visited.
#include "probe/sweep_plan.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <numeric>
#include <set>

namespace gpusonde {
namespace {

constexpr std::uint64_t k_kib = 1ULL << 10;
constexpr std::uint64_t k_mib = 1ULL << 20;
constexpr std::uint64_t k_gib = 1ULL << 30;

std::string refusal(const std::function<void(SweepOptions&)>& change, std::uint64_t available_bytes = 16 * k_gib) {
  SweepOptions options;
  options.strides_bytes = {2 * k_mib, 32 * k_mib};
  change(options);
  const auto checked = check_sweep(options, available_bytes);
  if (checked) return {};
  EXPECT_EQ(checked.error().kind, ErrorKind::usage);
  return checked.error().message;
}

std::vector<std::uint64_t> nodes_of(const std::vector<std::uint64_t>& places, std::uint64_t stride_bytes) {
  std::vector<std::uint64_t> nodes;
  for (const auto place : places) nodes.push_back(place / stride_bytes);
  return nodes;
}

std::vector<std::uint64_t> all_up_to(std::uint64_t count) {
  std::vector<std::uint64_t> all(count);
  std::iota(all.begin(), all.end(), std::uint64_t{0});
  return all;
}

TEST(SweepPlan, WhatIsPossibleIsNotRefused) {
  EXPECT_EQ(refusal([](SweepOptions&) {}), "");
  EXPECT_EQ(refusal([](SweepOptions& o) { o.strides_bytes = {8 * k_gib / 10 * 9 / 128 * 128}; }), "")
      << "two nodes have just room";
  EXPECT_EQ(refusal([](SweepOptions& o) { o.max_mem_fraction = 1, o.max_bytes = 16 * k_gib; }), "");
  EXPECT_EQ(refusal([](SweepOptions& o) { o.laps = 1000, o.step = 1 << 20; }), "");
  EXPECT_EQ(refusal([](SweepOptions& o) { o.min_bytes = o.max_bytes = 64 * k_mib; }), "");
}

TEST(SweepPlan, AStrideIsWholeLines) {
  EXPECT_EQ(refusal([](SweepOptions& o) { o.strides_bytes = {100}; }),
            "a stride of 100 B: give a multiple of a line, 128 B");
  EXPECT_NE(refusal([](SweepOptions& o) { o.strides_bytes = {0}; }), "");
  EXPECT_NE(refusal([](SweepOptions& o) { o.strides_bytes = {2 * k_mib, 2 * k_mib + 64}; }), "");
}

TEST(SweepPlan, AStrideLeavesRoomForTwoNodes) {
  EXPECT_EQ(refusal([](SweepOptions& o) { o.strides_bytes = {8 * k_gib}; }),
            "a stride of 8 GiB has no room for two nodes in at most 14.4 GiB; give a smaller one");
  EXPECT_NE(refusal([](SweepOptions& o) { o.max_bytes = 32 * k_mib; }), "") << "one node alone at 32 MiB";
  EXPECT_NE(refusal([](SweepOptions& o) { o.strides_bytes = {1ULL << 62}; }), "");
}

TEST(SweepPlan, NodesAreBounded) {
  EXPECT_NE(refusal([](SweepOptions& o) { o.strides_bytes = {128}; }).find("120795955 nodes, more than 1048576"),
            std::string::npos);
  EXPECT_EQ(refusal([](SweepOptions& o) { o.strides_bytes = {128}, o.max_bytes = 128 * k_mib; }), "");
}

TEST(SweepPlan, TheShareOfMemoryIsAShare) {
  for (const double share : {0.0, -0.5, 1.5, std::nan("")})
    EXPECT_NE(refusal([=](SweepOptions& o) { o.max_mem_fraction = share; }).find("--max-mem-frac"), std::string::npos);
}

TEST(SweepPlan, BytesLieWithinMemoryAndItsShare) {
  EXPECT_EQ(refusal([](SweepOptions& o) { o.max_bytes = 17 * k_gib; }),
            "--max-bytes 17 GiB: only 16 GiB can be had here; give at most that");
  EXPECT_EQ(refusal([](SweepOptions& o) { o.max_bytes = 15 * k_gib; }),
            "--max-bytes 15 GiB: --max-mem-frac 0.9 allows 14.4 GiB; give at most that, or a larger share");
  EXPECT_EQ(refusal([](SweepOptions& o) { o.min_bytes = 2 * k_gib, o.max_bytes = k_gib; }),
            "--min-bytes 2 GiB lies above the largest working set, 1 GiB");
  EXPECT_EQ(refusal([](SweepOptions& o) { o.min_bytes = o.max_bytes = 66 * k_mib; }),
            "no multiple of a stride of 32 MiB lies between 66 MiB and 66 MiB; give --min-bytes less");
}

TEST(SweepPlan, LapsAndStepAreBounded) {
  EXPECT_EQ(refusal([](SweepOptions& o) { o.laps = 0; }), "--laps 0: give 1 to 1000");
  EXPECT_EQ(refusal([](SweepOptions& o) { o.laps = 1001; }), "--laps 1001: give 1 to 1000");
  EXPECT_EQ(refusal([](SweepOptions& o) { o.step = ~0ULL; }), "--step 18446744073709551615: give 1 to 1048576");
}

// The defaults 2, 8, 32 and 64 MiB count where memory has room for 64 nodes.
TEST(SweepPlan, DefaultStridesThatDoNotFitAreLeftOut) {
  EXPECT_TRUE(check_sweep({}, 16 * k_gib));
  EXPECT_TRUE(check_sweep({}, 128 * k_mib));
  const auto refused = check_sweep({}, 127 * k_mib);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().message,
            "memory of 127 MiB has no room for the default strides; give smaller ones with --strides");
  EXPECT_TRUE(check_sweep(
      [] {
        SweepOptions none;
        none.strides_bytes.clear();
        return none;
      }(),
      127 * k_mib))
      << "a survey on small memory leaves the sweep empty";
}

TEST(SweepPlan, FourNumbersOfNodesADoubling) {
  SweepOptions options;
  options.max_bytes = 200 * k_mib;
  const std::vector<std::uint64_t> expected = {2,  3,  4,  5,  6,  7,  8,  10, 11, 13, 16,
                                               19, 23, 27, 32, 38, 45, 54, 64, 76, 91, 100};
  EXPECT_EQ(sweep_nodes(options, 2 * k_mib, 16 * k_gib), expected);
}

TEST(SweepPlan, NodesLieBetweenTheBytesThatWereAsked) {
  SweepOptions options;
  options.min_bytes = 31 * k_mib;  // 15.5 nodes
  options.max_bytes = 80 * k_mib;
  EXPECT_EQ(sweep_nodes(options, 2 * k_mib, 16 * k_gib), (std::vector<std::uint64_t>{16, 19, 23, 27, 32, 38, 40}));
  options.min_bytes = options.max_bytes = 64 * k_mib;
  EXPECT_EQ(sweep_nodes(options, 2 * k_mib, 16 * k_gib), (std::vector<std::uint64_t>{32}));
}

TEST(SweepPlan, WithoutABoundTheShareOfMemoryIsOne) {
  SweepOptions options;
  options.max_mem_fraction = 0.5;
  EXPECT_EQ(sweep_nodes(options, 64 * k_mib, k_gib), (std::vector<std::uint64_t>{2, 3, 4, 5, 6, 7, 8}));
}

TEST(SweepPlan, ARandomOrderVisitsEachNodeOnce) {
  for (const std::uint64_t nodes : {2U, 3U, 16U, 17U, 100U, 691U, 1024U}) {
    auto visited = nodes_of(sweep_places(2 * k_mib, nodes, 0, 1), 2 * k_mib);
    EXPECT_TRUE(nodes < 16 || !std::is_sorted(visited.begin(), visited.end()));
    std::sort(visited.begin(), visited.end());
    EXPECT_EQ(visited, all_up_to(nodes));
  }
}

TEST(SweepPlan, TheSeedMakesTheOrder) {
  EXPECT_EQ(sweep_places(2 * k_mib, 100, 0, 1), sweep_places(2 * k_mib, 100, 0, 1));
  EXPECT_NE(sweep_places(2 * k_mib, 100, 0, 1), sweep_places(2 * k_mib, 100, 0, 2));
}

// gcd by trial, so as not to ask std::gcd twice.
bool coprime(std::uint64_t a, std::uint64_t b) {
  for (std::uint64_t d = 2; d <= std::min(a, b); ++d)
    if (a % d == 0 && b % d == 0) return false;
  return true;
}

TEST(SweepPlan, AStepIsTheSmallestThatVisitsEachNodeOnce) {
  for (const std::uint64_t nodes : {2U, 3U, 5U, 6U, 10U, 16U, 30U, 45U, 64U, 210U})
    for (const std::uint64_t step : {1U, 2U, 5U, 6U, 15U, 211U}) {
      std::uint64_t expected = step;
      while (!coprime(expected, nodes)) ++expected;
      auto visited = nodes_of(sweep_places(2 * k_mib, nodes, step, 1), 2 * k_mib);
      ASSERT_EQ(visited.size(), nodes);
      for (std::size_t i = 0; i < nodes; ++i)
        ASSERT_EQ(visited[(i + 1) % nodes], (visited[i] + expected) % nodes) << nodes << " nodes, step " << step;
      std::sort(visited.begin(), visited.end());
      EXPECT_EQ(visited, all_up_to(nodes));
    }
}

TEST(SweepPlan, EachNodeHasALineOfItsStride) {
  for (const std::uint64_t stride : {128 * k_kib, 2 * k_mib, 64 * k_mib}) {
    std::set<std::uint64_t> lines;
    for (const auto place : sweep_places(stride, 512, 0, 1)) {
      EXPECT_EQ(place % 128, 0U);
      EXPECT_LT(place % stride, 2 * k_mib) << "within the page at the head of its stride";
      lines.insert(place % stride / 128);
    }
    EXPECT_EQ(lines.size(), 512U) << "at a stride of " << stride;
  }
}

TEST(SweepPlan, AtOneLineAStrideNodesLieSideBySide) {
  auto places = sweep_places(128, 64, 0, 1);
  std::sort(places.begin(), places.end());
  for (std::size_t i = 0; i < places.size(); ++i) EXPECT_EQ(places[i], 128 * i);
}

TEST(SweepPlan, OneLapWarmsUpAndAllLapsAreTimed) {
  const auto chase = sweep_chase(sweep_places(2 * k_mib, 1001, 0, 1), LoadPath::global_cg, 50);
  EXPECT_EQ(chase.region, Region::buffer);
  EXPECT_EQ(chase.path, LoadPath::global_cg);
  EXPECT_EQ(chase.warmup_hops, 1008U);
  EXPECT_EQ(chase.hops % 8, 0U);
  EXPECT_GE(chase.hops * chase.repetitions, 50U * 1001U);
  EXPECT_LT(chase.hops * chase.repetitions, 50U * 1001U + 8 * 32);
}

}  // namespace
}  // namespace gpusonde
