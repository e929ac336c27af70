// Exact cycle counts on the small GPU, on both sides of each edge.
#include <gtest/gtest.h>

#include "small_model.hpp"

namespace gpusonde {
namespace {

TEST(SimLatency, L1HoldsExactlyItsCapacity) {
  EXPECT_EQ(cycles_of(small_model(), chase_of(1)), 1024 * 30);
  EXPECT_EQ(cycles_of(small_model(), chase_of(8)), 1024 * 30);
  // One line more: 3 lines of 2-way set 0 evict each other under lru, the other 6 stay.
  auto nine = chase_of(9);
  nine.hops = 72;
  EXPECT_EQ(cycles_of(small_model(), nine), 8 * (6 * 30 + 3 * 200));
  EXPECT_EQ(cycles_of(small_model(), chase_of(16)), 1024 * 200);
}

TEST(SimLatency, L2HoldsExactlyItsCapacity) {
  EXPECT_EQ(cycles_of(small_model(), chase_of(32)), 1024 * 200);
  auto more = chase_of(33);
  more.hops = 33 * 8;
  EXPECT_EQ(cycles_of(small_model(), more), 8 * (28 * 200 + 5 * 500));
  EXPECT_EQ(cycles_of(small_model(), chase_of(40)), 1024 * 500);
}

TEST(SimLatency, CgAndCvBypassLevelsThatDoNotAllocateThem) {
  EXPECT_EQ(cycles_of(small_model(), chase_of(4, LoadPath::global_cg)), 1024 * 200);
  EXPECT_EQ(cycles_of(small_model(), chase_of(4, LoadPath::global_cv)), 1024 * 200);
  EXPECT_EQ(cycles_of(small_model(), chase_of(4, LoadPath::global_nc)), 1024 * 30);
  auto model = small_model();
  model.caches[0].allocates_cg = true;
  EXPECT_EQ(cycles_of(model, chase_of(4, LoadPath::global_cg)), 1024 * 30);
}

TEST(SimLatency, ColdLoadsMissAndOneLapWarms) {
  auto cold = chase_of(8);
  cold.warmup = Warmup::none;
  cold.hops = 16;
  EXPECT_EQ(cycles_of(small_model(), cold), 8 * 500 + 8 * 30);
  cold.warmup = Warmup::serial;
  cold.warmup_laps = 0;
  EXPECT_EQ(cycles_of(small_model(), cold), 8 * 500 + 8 * 30);
  cold.warmup_laps = 1;
  EXPECT_EQ(cycles_of(small_model(), cold), 16 * 30);
  cold.warmup = Warmup::parallel;
  EXPECT_EQ(cycles_of(small_model(), cold), 16 * 30);
}

TEST(SimLatency, RepetitionsGoOnRoundTheRing) {
  auto chase = chase_of(16);
  chase.warmup = Warmup::none;
  chase.hops = 8;
  chase.repetitions = 3;
  const auto samples = run_chase_on(*make(small_model()), chase);
  // The first lap of 16 nodes is cold and lasts two repetitions; the third finds L2 warm.
  EXPECT_EQ(samples.cycles, (std::vector<std::uint64_t>{8 * 500 + 2, 8 * 500 + 2, 8 * 200 + 2}));
}

TEST(SimLatency, EachExperimentBeginsWithEmptyCaches) {
  auto target = make(small_model());
  auto cold = chase_of(8);
  cold.warmup = Warmup::none;
  cold.hops = 8;
  for (int i = 0; i < 3; ++i) EXPECT_EQ(run_chase_on(*target, cold).cycles.front(), 8U * 500 + 2);
}

TEST(SimLatency, SectorsOfALineAreFetchedOneByOne) {
  auto chase = chase_of(8, LoadPath::global_ca, 32);  // two lines of four sectors
  chase.warmup = Warmup::none;
  chase.hops = 16;
  EXPECT_EQ(cycles_of(small_model(), chase), 8 * 500 + 8 * 30);
  chase.ring.order.stride_bytes = 16;  // two nodes a sector, four sectors
  EXPECT_EQ(cycles_of(small_model(), chase), 4 * 500 + 12 * 30);
  auto model = small_model();
  model.caches[0].sector_bytes = 128;
  model.caches[1].sector_bytes = 128;  // whole lines: one line
  EXPECT_EQ(cycles_of(model, chase), 1 * 500 + 15 * 30);
}

TEST(SimLatency, SetsFollowTheModelsFunction) {
  auto model = small_model();
  model.caches[0].set_function = AddressFunction::modulo(1024, 4);
  EXPECT_EQ(cycles_of(model, chase_of(2)), 1024 * 30);
  EXPECT_EQ(cycles_of(model, chase_of(3)), 1024 * 200);                           // 3 lines in one set of 2 ways
  EXPECT_EQ(cycles_of(model, chase_of(8, LoadPath::global_ca, 512)), 1024 * 30);  // 2 in each set
}

// The functions are given the line's first byte: bits below the line play no part.
TEST(SimLatency, SetFunctionsSeeWholeLines) {
  auto model = small_model();
  model.caches[0].set_function = *AddressFunction::parse("return a / 128 + a % 128 / 32", {});
  model.caches[0].sector_bytes = model.caches[1].sector_bytes = 128;
  auto chase = chase_of(8, LoadPath::global_ca, 32);  // four nodes on each of two lines
  chase.warmup = Warmup::none;
  chase.hops = 16;
  EXPECT_EQ(cycles_of(model, chase), 2 * 500 + 14 * 30);
}

TEST(SimLatency, SlicesMultiplyTheSets) {
  auto model = small_model();
  model.caches[1].slices = 3;
  model.caches[1].slice_function = AddressFunction::modulo(128, 3);
  model.caches[1].set_function = AddressFunction::modulo(384, 8);
  EXPECT_EQ(cycles_of(model, chase_of(96, LoadPath::global_cg)), 1024 * 200);
  auto more = chase_of(97, LoadPath::global_cg);
  more.hops = 97 * 8;
  EXPECT_EQ(cycles_of(model, more), 8 * (92 * 200 + 5 * 500));
}

TEST(SimLatency, IndexChainsAndPerHopTimingAddTheirShare) {
  auto model = small_model();
  model.timing.index_overhead_cycles = 6;
  model.timing.per_hop_overhead_cycles = 11;
  auto chase = chase_of(8);
  chase.chain = ChainKind::index;
  EXPECT_EQ(cycles_of(model, chase), 1024 * 36);
  chase.timing = HopTiming::per_hop;
  const auto samples = run_chase_on(*make(model), chase);
  EXPECT_EQ(samples.cycles.front(), 1024U * 47 + 2);
  EXPECT_EQ(samples.hop_cycles, std::vector<std::uint32_t>(1024, 47));
}

TEST(SimLatency, PerHopReadingsAreWholeCyclesThatAddUp) {
  auto model = small_model();
  model.caches[0].hit = {30.25, 0};
  auto chase = chase_of(8);
  chase.timing = HopTiming::per_hop;
  model.timing.per_hop_overhead_cycles = 0;
  const auto samples = run_chase_on(*make(model), chase);
  EXPECT_EQ(std::accumulate(samples.hop_cycles.begin(), samples.hop_cycles.end(), 0U), 1024 * 121 / 4);
  EXPECT_EQ(std::count(samples.hop_cycles.begin(), samples.hop_cycles.end(), 31U), 256);
}

TEST(SimLatency, SharedMemoryHasOneLatency) {
  auto model = small_model();
  EXPECT_EQ(make(model)->capabilities().max_shared_ring_bytes, 0U);
  model.timing.shared_hit_cycles = 24;
  model.shared_per_sm_bytes = 8 * k_kib;
  EXPECT_EQ(make(model)->capabilities().max_shared_ring_bytes, 8 * k_kib);
  EXPECT_EQ(cycles_of(model, chase_of(64, LoadPath::shared)), 1024 * 24);
}

// L2 302 -> 366 cycles and memory 520 -> 922 between 997 and 2932 MHz: the RTX 5080 document's table.
TEST(SimLatency, FollowsTheClockDomains) {
  auto model = small_model();
  const auto split = [](double low, double high) {
    const double fixed_ns = (high - low) / (2932 - 997) * 1000;
    return DomainLatency{low - fixed_ns * 0.997, fixed_ns};
  };
  model.caches[0].hit = {43, 0};
  model.caches[1].hit = split(302, 366);
  model.dram.latency = split(520, 922);
  const auto at = [&](double mhz, std::uint64_t nodes) {
    SimOptions options;
    options.sm_mhz = mhz;
    return cycles_of(model, chase_of(nodes), options) / 1024;
  };
  EXPECT_EQ(at(997, 8), 43);
  EXPECT_EQ(at(2932, 8), 43);
  EXPECT_NEAR(at(997, 32), 302, 0.001);
  EXPECT_NEAR(at(2932, 32), 366, 0.001);
  EXPECT_NEAR(at(997, 40), 520, 0.001);
  EXPECT_NEAR(at(2932, 40), 922, 0.001);
}

}  // namespace
}  // namespace gpusonde
