// Chases over lists of places on a fake driver: the right chain is walked, on the right SM, through aliases
// and in the buffer, and what fails leaves the target usable.
#include <gtest/gtest.h>

#include <algorithm>

#include "core/units.hpp"
#include "fake_target.hpp"
#include "target/cuda/chase_plan.hpp"

namespace gpusonde::cuda {
namespace {

using test::FakeDriver;
using test::open;
using test::run_one;

// Nodes in no order: a page each, 32 MiB apart, and a line of the page each.
ListChaseExperiment list(Region region, std::uint64_t nodes = 13) {
  ListChaseExperiment e;
  e.region = region;
  for (std::uint64_t i = 0; i < nodes; ++i) {
    const auto page = region == Region::aliases ? i * 5 % nodes * 32 * k_mib : 0;
    e.places.push_back(page + i * 7 % nodes * 128);
  }
  e.warmup_hops = 24;
  e.hops = 16;
  e.repetitions = 5;
  return e;
}

std::uint64_t place_after(const ListChaseExperiment& e, std::uint64_t hops) { return e.places[hops % e.places.size()]; }
std::uint64_t all_hops(const ListChaseExperiment& e) { return e.warmup_hops + e.hops * e.repetitions; }

std::size_t launches_of(const FakeDriver& fake, const std::string& kernel) {
  return static_cast<std::size_t>(std::count_if(fake.launches.begin(), fake.launches.end(),
                                                [&](const auto& launch) { return launch.kernel == kernel; }));
}

TEST(ListChase, WalksTheListInTheBufferAndThroughAliases) {
  for (const auto region : {Region::buffer, Region::aliases}) {
    FakeDriver fake;
    const auto target = open(fake);
    const auto e = list(region);
    const auto samples = run_one(*target, e);
    ASSERT_TRUE(samples.has_value()) << samples.error().message;
    const auto& s = std::get<ChaseSamples>(*samples);
    EXPECT_EQ(s.hops, 16U);
    EXPECT_EQ(s.cycles, std::vector<std::uint64_t>(5, 160));
    EXPECT_EQ(s.wall_ns, s.cycles);
    EXPECT_EQ(s.sm, 7U);
    EXPECT_EQ(s.shared_config_bytes, 8U * 1024);
    ASSERT_EQ(fake.chases.size(), 1U);
    EXPECT_EQ(fake.launches.back().kernel, "chase_cg_pointer");
    EXPECT_EQ(fake.chases[0].warm_count, 0U);
    EXPECT_EQ(fake.chases[0].start, e.places[0]);
    EXPECT_EQ(fake.ends, std::vector<std::uint64_t>{place_after(e, all_hops(e))});
    EXPECT_EQ(fake.virtual_memory.misuses, 0);
  }
}

TEST(ListChase, AliasesAreLinkedThroughAnotherMapping) {
  FakeDriver fake;
  const auto target = open(fake);
  const auto e = list(Region::aliases);
  ASSERT_TRUE(run_one(*target, e).has_value());
  EXPECT_EQ(fake.virtual_memory.mappings.size(), 1 + e.places.size());
  EXPECT_EQ(launches_of(fake, "link_list"), 1U);
  ASSERT_EQ(fake.list_links.size(), 1U);
  const auto& link = fake.list_links[0];
  EXPECT_EQ(link.count, e.places.size());
  EXPECT_EQ(link.nodes, fake.chases[0].buffer);
  EXPECT_TRUE(link.slots < link.nodes || link.slots >= link.nodes + target->alias_space().span_bytes);
}

TEST(ListChase, EachListIsLinkedAnew) {
  FakeDriver fake;
  const auto target = open(fake);
  auto e = list(Region::aliases);
  ASSERT_TRUE(run_one(*target, e).has_value());
  std::reverse(e.places.begin(), e.places.end());
  ASSERT_TRUE(run_one(*target, e).has_value());
  EXPECT_EQ(fake.ends.back(), place_after(e, all_hops(e)));
  EXPECT_EQ(fake.virtual_memory.mapped_ever, 1 + e.places.size());
}

TEST(ListChase, OtherPageSizesDoAsWell) {
  FakeDriver fake;
  fake.virtual_memory.granularity = 64 * k_kib;
  const auto target = open(fake);
  EXPECT_EQ(target->alias_space().page_bytes, 64 * k_kib);
  auto e = list(Region::aliases);
  for (auto& place : e.places) place = place / (32 * k_mib) * 64 * k_kib + place % (32 * k_mib);
  ASSERT_TRUE(run_one(*target, e).has_value());
  EXPECT_EQ(fake.ends.back(), place_after(e, all_hops(e)));
  EXPECT_EQ(fake.virtual_memory.misuses, 0);
}

TEST(ListChase, WarmsUpOnAnotherSm) {
  FakeDriver fake;
  const auto target = open(fake);
  auto e = list(Region::aliases);
  e.sm = 3;
  e.warmup_sm = 5;
  const auto samples = run_one(*target, e);
  ASSERT_TRUE(samples.has_value()) << samples.error().message;
  EXPECT_EQ(std::get<ChaseSamples>(*samples).sm, 3U);
  EXPECT_EQ(std::get<ChaseSamples>(*samples).cycles, std::vector<std::uint64_t>(5, 160));
  ASSERT_EQ(fake.chases.size(), 2U);
  EXPECT_EQ(fake.chases[0].sm, 5U);
  EXPECT_EQ(fake.chases[0].lead_hops, 24U);
  EXPECT_EQ(fake.chases[0].repetitions, 0U);
  EXPECT_EQ(fake.chases[1].sm, 3U);
  EXPECT_EQ(fake.chases[1].lead_hops, 0U);
  EXPECT_EQ(fake.chases[1].start, place_after(e, 24));
  EXPECT_EQ(fake.ends.back(), place_after(e, all_hops(e)));
}

TEST(ListChase, ALongOneIsCutAndGoesOnWhereItEndedAndOnItsSm) {
  FakeDriver fake;
  const auto target = open(fake);
  auto e = list(Region::buffer);
  e.warmup_hops = 400'000;
  e.hops = 120'000;
  const auto samples = run_one(*target, e);
  ASSERT_TRUE(samples.has_value()) << samples.error().message;
  EXPECT_EQ(std::get<ChaseSamples>(*samples).cycles, std::vector<std::uint64_t>(5, 1'200'000));
  EXPECT_GE(fake.chases.size(), 4U);
  std::uint64_t walked = 0;
  for (std::size_t i = 0; i < fake.chases.size(); ++i) {
    const auto hops = fake.chases[i].lead_hops + fake.chases[i].hops * fake.chases[i].repetitions;
    EXPECT_LE(hops * 1200, 350'000'000U);
    EXPECT_EQ(fake.chases[i].start, place_after(e, walked)) << "launch " << i;
    EXPECT_EQ(fake.chases[i].sm, i == 0 ? k_any_sm : 7U);
    walked += hops;
  }
  EXPECT_EQ(walked, all_hops(e));
}

TEST(ListChasePlan, FillsOneLaunchToTheLastHop) {
  auto e = list(Region::buffer);
  const std::uint64_t most = 350'000'000 / 1200 / 8 * 8;
  e.hops = 8;
  e.repetitions = 100;
  e.warmup_hops = most - 800;
  EXPECT_EQ(plan_chase(e).chase, (std::vector<ChaseLaunch>{{.lead_hops = most - 800, .hops = 8, .repetitions = 100}}));
  e.warmup_hops = most - 792;
  EXPECT_EQ(plan_chase(e).chase,
            (std::vector<ChaseLaunch>{{.lead_hops = most - 792}, {.hops = 8, .repetitions = 100}}));
  e.warmup_hops = 0;
  e.warmup_sm = e.sm = 1;
  EXPECT_TRUE(plan_chase(e).warm_up.empty());
}

TEST(ListChase, TimesEachHop) {
  FakeDriver fake;
  const auto target = open(fake);
  auto e = list(Region::aliases);
  e.path = LoadPath::global_ca;
  e.timing = HopTiming::per_hop;
  e.split = {.carveout_percent = 50, .block_threads = 32};
  const auto samples = run_one(*target, e);
  ASSERT_TRUE(samples.has_value()) << samples.error().message;
  const auto& hop_cycles = std::get<ChaseSamples>(*samples).hop_cycles;
  ASSERT_EQ(hop_cycles.size(), 80U);
  EXPECT_EQ(hop_cycles[79], 79U);
  EXPECT_EQ(fake.launches.back().kernel, "chase_ca_pointer_timed");
  EXPECT_EQ(fake.launches.back().shared_bytes, 160U);
  EXPECT_EQ(fake.launches.back().threads, 32U);
  EXPECT_EQ(fake.carveouts.at("link_list"), 50);
  EXPECT_EQ(fake.carveouts.at("chase_ca_pointer_timed"), 50);
}

TEST(ListChase, AMappingRefusedHalfWayLeavesTheTargetUsable) {
  FakeDriver fake;
  const auto target = open(fake);
  const auto e = list(Region::aliases);
  EXPECT_EQ(target->alias_space().why_not, "");
  fake.virtual_memory.refused_mapping = 6;
  const auto refused = run_one(*target, e);
  ASSERT_FALSE(refused.has_value());
  EXPECT_EQ(refused.error().kind, ErrorKind::measurement);
  EXPECT_TRUE(refused.error().message.starts_with("cannot map a page after 5 were mapped: CUDA_ERROR_FAKE (2)"))
      << refused.error().message;
  EXPECT_EQ(fake.virtual_memory.mappings.size(), 1U);
  EXPECT_TRUE(fake.chases.empty());
  ASSERT_TRUE(run_one(*target, list(Region::buffer)).has_value());
  fake.virtual_memory.refused_mapping = 0;
  ASSERT_TRUE(run_one(*target, e).has_value());
  EXPECT_EQ(fake.ends.back(), place_after(e, all_hops(e)));
}

TEST(ListChase, WithoutVirtualMemoryTheReasonIsGiven) {
  FakeDriver fake;
  fake.table.mem_set_access = nullptr;
  const auto target = open(fake);
  const auto samples = run_one(*target, list(Region::aliases));
  ASSERT_FALSE(samples.has_value());
  EXPECT_EQ(samples.error().kind, ErrorKind::unsupported);
  EXPECT_EQ(samples.error().message, target->alias_space().why_not);
  EXPECT_NE(samples.error().message.find("CUDA 10.2"), std::string::npos);
  EXPECT_TRUE(run_one(*target, list(Region::buffer)).has_value());
}

TEST(ListChase, ReleasingUnmapsAndTheNextOneMapsAgain) {
  FakeDriver fake;
  const auto target = open(fake);
  const auto e = list(Region::aliases);
  target->release_aliases();  // nothing yet
  EXPECT_TRUE(fake.virtual_memory.reservations.empty());
  ASSERT_TRUE(run_one(*target, e).has_value());
  target->release_aliases();
  EXPECT_EQ(fake.virtual_memory.mappings.size(), 1U);
  ASSERT_TRUE(run_one(*target, e).has_value());
  EXPECT_EQ(fake.ends.back(), place_after(e, all_hops(e)));
}

TEST(ListChase, AListInTheBufferNeedsNoAliases) {
  FakeDriver fake;
  const auto target = open(fake);
  ASSERT_TRUE(run_one(*target, list(Region::buffer)).has_value());
  EXPECT_TRUE(fake.virtual_memory.reservations.empty());
}

TEST(ListChase, GivesEverythingBack) {
  FakeDriver fake;
  fake.virtual_memory.on_unmap = [&] { EXPECT_EQ(fake.contexts, 1); };
  {
    const auto target = open(fake);
    ASSERT_TRUE(run_one(*target, list(Region::aliases)).has_value());
    ASSERT_TRUE(run_one(*target, list(Region::buffer)).has_value());
  }
  EXPECT_EQ(fake.contexts, 0);
  EXPECT_TRUE(fake.memory.empty());
  EXPECT_TRUE(fake.virtual_memory.mappings.empty());
  EXPECT_TRUE(fake.virtual_memory.reservations.empty());
  EXPECT_TRUE(fake.virtual_memory.handles.empty());
  EXPECT_EQ(fake.virtual_memory.misuses, 0);
}

TEST(ListChase, MalformedExperimentsAreUsageErrors) {
  FakeDriver fake;
  const auto target = open(fake);
  const auto error_of = [&](const auto& change) {
    auto e = list(Region::aliases);
    change(e);
    const auto samples = run_one(*target, e);
    return samples ? Error{ErrorKind::interrupted, ""} : samples.error();
  };
  EXPECT_EQ(error_of([](auto& e) { e.hops = 12; }).kind, ErrorKind::usage);
  EXPECT_EQ(error_of([](auto& e) { e.places[1] += 4; }).kind, ErrorKind::usage);
  EXPECT_EQ(error_of([](auto& e) { e.places[1] = e.places[0] + 2 * k_mib; }).kind, ErrorKind::usage);
  EXPECT_EQ(error_of([](auto& e) { e.split.block_threads = 0; }).kind, ErrorKind::usage);
  EXPECT_EQ(error_of([](auto& e) { e.sm = 132; }).message, "there is no SM 132: this GPU has 132, counted from 0");
  EXPECT_EQ(error_of([](auto& e) {
              e.sm = 0;
              e.warmup_sm = 200;
            }).message,
            "there is no SM 200: this GPU has 132, counted from 0");
  EXPECT_TRUE(fake.chases.empty());
  EXPECT_EQ(fake.virtual_memory.mapped_ever, 1U);  // only the home
}

}  // namespace
}  // namespace gpusonde::cuda
