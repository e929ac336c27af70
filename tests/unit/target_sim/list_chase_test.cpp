// Chases over lists of places: aliases of one page, TLBs of every index, and warm-ups on another SM, in cycles.
#include <gtest/gtest.h>

#include <array>

#include "experiment/ring_order.hpp"
#include "model/random_model.hpp"
#include "small_model.hpp"

namespace gpusonde {
namespace {

constexpr std::uint64_t k_page = 2 * k_mib;
constexpr double k_l1 = 30;
constexpr double k_l2 = 200;
constexpr double k_dram = 500;
constexpr double k_per_hop = 10;  // what reading the clock around each hop adds

TlbModel tlb_of(std::uint32_t entries, double miss_cycles) {
  TlbModel tlb;
  tlb.entries = entries;
  tlb.miss = {miss_cycles, 0};
  return tlb;
}

DeviceModel model_with(std::vector<TlbModel> tlbs) {
  auto model = small_model();
  model.tlbs = std::move(tlbs);
  return model;
}

/// One line of its own on each page; up to 32 of them fill the L2 exactly.
std::vector<std::uint64_t> one_line_a_page(std::uint64_t pages, std::uint64_t stride = k_page) {
  std::vector<std::uint64_t> places;
  for (std::uint64_t i = 0; i < pages; ++i) places.push_back(i * stride + i % 32 * 128);
  return places;
}

/// Two laps and more of warm-up, then eight laps.
ListChaseExperiment alias_chase(std::vector<std::uint64_t> places, LoadPath path = LoadPath::global_cg) {
  ListChaseExperiment chase;
  chase.region = Region::aliases;
  chase.path = path;
  chase.warmup_hops = (2 * places.size() + 7) / 8 * 8;
  chase.hops = 8 * places.size();
  chase.repetitions = 1;
  chase.places = std::move(places);
  return chase;
}

Result<ChaseSamples> run_list(const DeviceModel& model, const ListChaseExperiment& chase) {
  const auto target = make(model);
  auto samples = target->run(std::vector<Experiment>{chase}, {});
  if (!samples) return tl::unexpected(samples.error());
  return std::get<ChaseSamples>(samples->front());
}

double cycles_per_hop(const DeviceModel& model, const ListChaseExperiment& chase) {
  const auto samples = run_list(model, chase);
  EXPECT_TRUE(samples) << samples.error().message;
  if (!samples) return -1;
  return (static_cast<double>(samples->cycles.front()) - k_timer_cycles) / static_cast<double>(chase.hops);
}

/// Each hop, without what timing it adds.
std::vector<double> hops_of(const DeviceModel& model, ListChaseExperiment chase, std::uint64_t hops) {
  chase.timing = HopTiming::per_hop;
  chase.hops = hops;
  const auto samples = run_list(model, chase);
  EXPECT_TRUE(samples) << samples.error().message;
  if (!samples) return {};
  std::vector<double> cycles;
  for (const auto hop : samples->hop_cycles) cycles.push_back(hop - k_per_hop);
  return cycles;
}

TEST(SimListChase, AliasesCostNothingUpToTheTlbsEntries) {
  const auto model = model_with({tlb_of(16, 11)});
  for (const std::uint64_t pages : {2U, 15U, 16U})
    EXPECT_EQ(cycles_per_hop(model, alias_chase(one_line_a_page(pages))), k_l2) << pages;
  for (const std::uint64_t pages : {17U, 18U, 32U})
    EXPECT_EQ(cycles_per_hop(model, alias_chase(one_line_a_page(pages))), k_l2 + 11) << pages;
}

TEST(SimListChase, TheOnlyDataIsOnePage) {
  // Beyond 32 lines the L2 would overflow, were they not the same ones again: words 0 and 1 of each.
  auto places = one_line_a_page(64);
  for (std::size_t i = 32; i < 64; ++i) places[i] += 8;
  EXPECT_EQ(cycles_per_hop(model_with({}), alias_chase(places)), k_l2);
  auto spread = places;
  for (std::size_t i = 32; i < 64; ++i) spread[i] += 32 * 128;
  EXPECT_EQ(cycles_per_hop(model_with({}), alias_chase(spread)), k_dram);
}

TEST(SimListChase, TheDeepestMissSetsTheCost) {
  const auto model = model_with({tlb_of(4, 10), tlb_of(16, 90)});
  EXPECT_EQ(cycles_per_hop(model, alias_chase(one_line_a_page(4))), k_l2);
  EXPECT_EQ(cycles_per_hop(model, alias_chase(one_line_a_page(5))), k_l2 + 10);
  EXPECT_EQ(cycles_per_hop(model, alias_chase(one_line_a_page(16))), k_l2 + 10);
  EXPECT_EQ(cycles_per_hop(model, alias_chase(one_line_a_page(17))), k_l2 + 90);
}

TEST(SimListChase, AFoldedIndexHoldsAsMuchAtAnyStride) {
  auto model = model_with({tlb_of(16, 11)});
  model.tlbs[0].ways = 2;  // 8 sets
  model.tlbs[0].index = TlbIndex::folded;
  for (const std::uint64_t stride : {1U, 2U, 4U, 8U, 64U}) {
    SCOPED_TRACE(stride);
    EXPECT_EQ(cycles_per_hop(model, alias_chase(one_line_a_page(16, stride * k_page))), k_l2);
    EXPECT_DOUBLE_EQ(cycles_per_hop(model, alias_chase(one_line_a_page(19, stride * k_page))), k_l2 + 11 * 9.0 / 19);
  }
}

TEST(SimListChase, AModuloIndexHoldsHalfAtTwiceTheStride) {
  auto model = model_with({tlb_of(16, 11)});
  model.tlbs[0].ways = 2;
  for (const std::uint64_t stride : {1U, 2U, 4U, 8U}) {
    SCOPED_TRACE(stride);
    const std::uint64_t held = 16 / stride;
    EXPECT_EQ(cycles_per_hop(model, alias_chase(one_line_a_page(held, stride * k_page))), k_l2);
    EXPECT_DOUBLE_EQ(cycles_per_hop(model, alias_chase(one_line_a_page(held + 1, stride * k_page))),
                     k_l2 + 11 * 3.0 / static_cast<double>(held + 1));
  }
}

/// Two words of one sector, each through a page of its own; the TLB holds one page.
std::vector<double> same_line_twice(AddressSpace index, AddressSpace tag, std::uint64_t set_unit_bytes = 128) {
  auto model = model_with({tlb_of(1, 11)});
  model.caches[0].index = index;
  model.caches[0].tag = tag;
  model.caches[0].set_function = AddressFunction::modulo(set_unit_bytes, 4);
  auto chase = alias_chase({0, k_page + 8}, LoadPath::global_ca);
  chase.warmup_hops = 0;
  return hops_of(model, chase, 8);
}

constexpr auto k_virtual = AddressSpace::virtual_address;
constexpr auto k_physical = AddressSpace::physical_address;
using Hops = std::vector<double>;

TEST(SimListChase, AVirtuallyTaggedL1MissesThroughTheSecondAddress) {
  // And needs no translation once both are in.
  EXPECT_EQ(same_line_twice(k_virtual, k_virtual), (Hops{k_dram + 11, k_l2 + 11, k_l1, k_l1, k_l1, k_l1, k_l1, k_l1}));
}

TEST(SimListChase, APhysicalL1HitsThroughTheSecondAddress) {
  const double hit = k_l1 + 11;  // each translation puts out the other
  EXPECT_EQ(same_line_twice(k_physical, k_physical), (Hops{k_dram + 11, hit, hit, hit, hit, hit, hit, hit}));
  EXPECT_EQ(same_line_twice(k_physical, k_physical, k_page), (Hops{k_dram + 11, hit, hit, hit, hit, hit, hit, hit}));
}

TEST(SimListChase, AVirtualIndexWithPhysicalTagsDependsOnTheIndexBits) {
  const double hit = k_l1 + 11;
  EXPECT_EQ(same_line_twice(k_virtual, k_physical), (Hops{k_dram + 11, hit, hit, hit, hit, hit, hit, hit}));
  // Index bits above the page put the line in two sets.
  EXPECT_EQ(same_line_twice(k_virtual, k_physical, k_page),
            (Hops{k_dram + 11, k_l2 + 11, hit, hit, hit, hit, hit, hit}));
}

constexpr std::uint32_t k_sms = 8;

/// 8 SMs, two a TPC, four a GPC.
DeviceModel eight_sms(std::vector<TlbModel> tlbs) {
  auto model = model_with(std::move(tlbs));
  model.sm_count = k_sms;
  model.sms_per_tpc = 2;
  model.sms_per_gpc = 4;
  return model;
}

/// Eight pages, warmed on one SM and walked once on another.
Hops walked_elsewhere(const DeviceModel& model, std::uint32_t warmup_sm, std::uint32_t sm,
                      LoadPath path = LoadPath::global_cg) {
  auto chase = alias_chase(one_line_a_page(8), path);
  chase.warmup_sm = warmup_sm;
  chase.sm = sm;
  return hops_of(model, chase, 8);
}

Hops eight_of(double cycles) { return Hops(8, cycles); }

TEST(SimListChase, ALevelIsWarmForThoseThatShareIt) {
  struct Case {
    Scope scope;
    std::array<bool, k_sms> warm_from_5;  // after a warm-up on SM 5
  };
  for (const auto& [scope, warm] : {Case{Scope::sm, {false, false, false, false, false, true, false, false}},
                                    Case{Scope::tpc, {false, false, false, false, true, true, false, false}},
                                    Case{Scope::gpc, {false, false, false, false, true, true, true, true}},
                                    Case{Scope::gpu, {true, true, true, true, true, true, true, true}}}) {
    auto model = eight_sms({tlb_of(16, 11)});
    model.tlbs[0].scope = scope;
    for (std::uint32_t sm = 0; sm < k_sms; ++sm)
      EXPECT_EQ(walked_elsewhere(model, 5, sm), eight_of(warm.at(sm) ? k_l2 : k_l2 + 11))
          << "scope " << static_cast<int>(scope) << ", SM " << sm;
  }
}

TEST(SimListChase, ASharedLevelBehindAPrivateOneShows) {
  auto model = eight_sms({tlb_of(16, 11), tlb_of(64, 90)});
  model.tlbs[1].scope = Scope::gpc;
  EXPECT_EQ(walked_elsewhere(model, 0, 0), eight_of(k_l2));
  EXPECT_EQ(walked_elsewhere(model, 0, 3), eight_of(k_l2 + 11));
  EXPECT_EQ(walked_elsewhere(model, 0, 4), eight_of(k_l2 + 90));
}

TEST(SimListChase, TheL1IsColdElsewhereAndTheL2Warm) {
  const auto model = eight_sms({});
  EXPECT_EQ(walked_elsewhere(model, 2, 2, LoadPath::global_ca), eight_of(k_l1));
  EXPECT_EQ(walked_elsewhere(model, 2, 3, LoadPath::global_ca), eight_of(k_l2));
  EXPECT_EQ(walked_elsewhere(model, 2, 7, LoadPath::global_ca), eight_of(k_l2));
}

TEST(SimListChase, TheSamplesNameTheSmThatChased) {
  auto chase = alias_chase(one_line_a_page(8));
  chase.warmup_sm = 1;
  chase.sm = 6;
  const auto samples = run_list(eight_sms({}), chase);
  ASSERT_TRUE(samples) << samples.error().message;
  EXPECT_EQ(samples->sm, 6U);
  EXPECT_EQ(samples->hops, 64U);
}

/// The message for a chase over a GPU of 64 MiB and four SMs.
std::string refusal(const ListChaseExperiment& chase) {
  const auto samples = run_list(small_model(), chase);
  if (samples) return "no error";
  EXPECT_EQ(samples.error().kind, ErrorKind::usage);
  return samples.error().message;
}

TEST(SimListChase, RefusesPlacesThatCannotBe) {
  const auto aliases = [](std::vector<std::uint64_t> places) { return refusal(alias_chase(std::move(places))); };
  const auto buffer = [](std::vector<std::uint64_t> places) {
    auto chase = alias_chase(std::move(places));
    chase.region = Region::buffer;
    return refusal(chase);
  };
  constexpr std::uint64_t space = 1ULL << 44;
  EXPECT_EQ(aliases({0, space - 8}), "no error");
  EXPECT_EQ(aliases({0, space}),
            "place 17592186044416 lies beyond the 16 TiB this device can give; choose a smaller one");
  EXPECT_EQ(buffer({0, 64 * k_mib - 8}), "no error");
  EXPECT_EQ(buffer({0, 64 * k_mib}),
            "place 67108864 lies beyond the 64 MiB this device can give; choose a smaller one");
  EXPECT_EQ(aliases({128, 0, 128}), "two places share the 8 bytes at 128; a node needs its own");
  EXPECT_EQ(aliases({128, 0, 7 * k_page + 128}), "two places share the 8 bytes at 128; a node needs its own");
  EXPECT_EQ(buffer({128, 0, 7 * k_page + 128}), "no error");
  EXPECT_EQ(aliases({0, 12}), "place 12 is no multiple of 8");
  EXPECT_EQ(aliases({0}), "a list of fewer than two places: give at least two");
}

TEST(SimListChase, RefusesSmsThatAreNotThere) {
  auto chase = alias_chase(one_line_a_page(8));
  chase.warmup_sm = 1;
  EXPECT_EQ(refusal(chase), "a warm-up on an SM of its own needs an SM for the chase");
  chase.sm = 4;
  EXPECT_EQ(refusal(chase), "SM 4: this device has 4; choose one from 0 to 3");
  chase.sm = 0;
  chase.warmup_sm = 9;
  EXPECT_EQ(refusal(chase), "SM 9: this device has 4; choose one from 0 to 3");
  chase.warmup_sm = 3;
  EXPECT_EQ(refusal(chase), "no error");
}

/// A ring, and the list of its places in the same order.
std::pair<ChaseExperiment, ListChaseExperiment> ring_and_list(std::uint64_t nodes, std::uint64_t stride,
                                                              LoadPath path) {
  auto ring = chase_of(nodes, path, stride);
  ring.ring.order.seed = nodes;
  ring.hops = 1016;
  ring.repetitions = 3;
  ListChaseExperiment list;
  const RingOrder order(ring.ring.order);
  for (std::uint64_t i = 0; i < nodes; ++i) list.places.push_back(order.offset(i));
  list.path = path;
  list.warmup_hops = nodes;  // one lap
  list.hops = ring.hops;
  list.repetitions = ring.repetitions;
  return {ring, list};
}

void expect_the_same(const DeviceModel& model, std::uint64_t nodes, std::uint64_t stride, LoadPath path) {
  const auto [ring, list] = ring_and_list(nodes, stride, path);
  const SimOptions options{3, 0, 1, true};
  const auto as_ring = run_chase_on(*make(model, options), ring);
  const auto samples = make(model, options)->run(std::vector<Experiment>{list}, {});
  ASSERT_TRUE(samples) << samples.error().message;
  const auto& as_list = std::get<ChaseSamples>(samples->front());
  EXPECT_EQ(as_list.cycles, as_ring.cycles);
  EXPECT_EQ(as_list.wall_ns, as_ring.wall_ns);
}

TEST(SimListChase, AListOverTheBufferIsTheSameAsARing) {
  auto model = model_with({tlb_of(4, 11), tlb_of(12, 70)});
  model.paging.placement = Placement::random;
  model.caches[1].slice_spread_cycles = 20;
  model.noise.run_fraction = 0.01;
  for (const auto path : {LoadPath::global_ca, LoadPath::global_cg})
    for (const std::uint64_t stride : {std::uint64_t{128}, k_mib})
      for (const std::uint64_t nodes : {8U, 16U, 32U, 48U}) {
        SCOPED_TRACE(testing::Message() << nodes << " nodes " << stride << " apart");
        expect_the_same(model, nodes, stride, path);
      }
}

TEST(SimListChase, SoItIsOnRandomModels) {
  for (std::uint64_t seed = 0; seed < 12; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    const auto model = random_model(seed, {2, 2, 0.02, true, true, 16 * k_mib});
    for (const auto path : {LoadPath::global_ca, LoadPath::global_cg}) {
      expect_the_same(model, 2048, 128, path);
      expect_the_same(model, 1000, 3 * k_mib, path);
    }
  }
}

}  // namespace
}  // namespace gpusonde
