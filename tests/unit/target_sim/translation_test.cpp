// TLBs, and which loads need them.
#include <gtest/gtest.h>

#include <set>

#include "small_model.hpp"
#include "target/sim/page_table.hpp"
#include "target/sim/tlb.hpp"

namespace gpusonde {
namespace {

/// One line a page of 2 MiB; L1 and L2 give each page a set of its own, so that they hold 256 pages.
DeviceModel paged_model(std::vector<TlbModel> tlbs) {
  auto model = small_model();
  model.memory_bytes = 8 * k_gib;
  model.dram.rows = 1ULL << 24;
  for (auto& cache : model.caches) {
    cache.sets = 256;
    cache.set_function = AddressFunction::modulo(2 * k_mib, 256);
  }
  model.tlbs = std::move(tlbs);
  return model;
}

TlbModel tlb_of(std::uint32_t entries, double miss_cycles) {
  TlbModel tlb;
  tlb.entries = entries;
  tlb.miss = {miss_cycles, 0};
  return tlb;
}

ChaseExperiment page_chase(std::uint64_t pages, LoadPath path = LoadPath::global_cg) {
  auto chase = chase_of(pages, path, 2 * k_mib);
  chase.hops = 8 * pages;
  return chase;
}

double cycles_per_hop(const DeviceModel& model, const ChaseExperiment& chase) {
  return cycles_of(model, chase) / static_cast<double>(chase.hops);
}

TEST(SimTranslation, ATlbHoldsExactlyItsEntries) {
  const auto model = paged_model({tlb_of(16, 11)});
  EXPECT_EQ(cycles_per_hop(model, page_chase(16)), 200);
  EXPECT_EQ(cycles_per_hop(model, page_chase(17)), 211);  // lru, in a cycle: every load misses
}

TEST(SimTranslation, LargeFullyAssociativeTlbsAreExactToo) {
  auto model = paged_model({tlb_of(200, 11)});
  EXPECT_EQ(cycles_per_hop(model, page_chase(200)), 200);
  EXPECT_EQ(cycles_per_hop(model, page_chase(201)), 211);
  model.tlbs[0].replacement = Replacement::fifo;
  EXPECT_EQ(cycles_per_hop(model, page_chase(200)), 200);
  EXPECT_EQ(cycles_per_hop(model, page_chase(201)), 211);
}

TEST(SimTranslation, SetAssociativeTlbsThrashSetBySet) {
  auto model = paged_model({tlb_of(16, 11)});
  model.tlbs[0].ways = 2;  // 8 sets
  EXPECT_EQ(cycles_per_hop(model, page_chase(16)), 200);
  EXPECT_DOUBLE_EQ(cycles_per_hop(model, page_chase(17)), 200 + 11 * 3.0 / 17);
}

TEST(SimTranslation, TheSpanMayExceedThePage) {
  auto model = paged_model({tlb_of(16, 11)});
  model.tlbs[0].span_bytes = 16 * k_mib;
  EXPECT_EQ(cycles_per_hop(model, page_chase(128)), 200);
  auto more = page_chase(136);
  more.ring.order.group_nodes = 8;  // span by span
  EXPECT_DOUBLE_EQ(cycles_per_hop(model, more), 200 + 11.0 / 8);
}

// The model's figure is what the whole load takes more when its last miss is there.
TEST(SimTranslation, TheLastLevelThatMissesSetsTheCost) {
  const auto model = paged_model({tlb_of(4, 10), tlb_of(32, 100)});
  EXPECT_EQ(cycles_per_hop(model, page_chase(4)), 200);
  EXPECT_EQ(cycles_per_hop(model, page_chase(5)), 210);
  EXPECT_EQ(cycles_per_hop(model, page_chase(32)), 210);
  EXPECT_EQ(cycles_per_hop(model, page_chase(33)), 300);
}

TEST(SimTranslation, HitsInAVirtualL1NeedNone) {
  const auto model = paged_model({tlb_of(4, 11)});
  EXPECT_EQ(cycles_per_hop(model, page_chase(64, LoadPath::global_ca)), 30);
}

TEST(SimTranslation, APhysicalTagOrIndexNeedsIt) {
  auto model = paged_model({tlb_of(4, 11)});
  model.caches[0].tag = AddressSpace::physical_address;
  EXPECT_EQ(cycles_per_hop(model, page_chase(64, LoadPath::global_ca)), 41);
  model.caches[0].index = AddressSpace::physical_address;
  EXPECT_EQ(cycles_per_hop(model, page_chase(64, LoadPath::global_ca)), 41);
  EXPECT_EQ(cycles_per_hop(model, page_chase(4, LoadPath::global_ca)), 30);
}

TEST(SimTranslation, DramBehindAVirtualCacheNeedsItToo) {
  auto model = paged_model({tlb_of(4, 11)});
  model.caches.resize(1);
  model.caches[0].allocates_cg = true;
  model.caches[0].sets = 1;
  EXPECT_EQ(cycles_per_hop(model, page_chase(8)), 511);
}

TEST(PageTable, IsABijectionOfFramesThatKeepsOffsets) {
  PagingModel paging;
  paging.placement = Placement::random;
  for (const std::uint64_t frames : {1ULL, 7ULL, 1024ULL, 12288ULL}) {
    const sim::PageTable table(paging, frames * 2 * k_mib + 12345, 5);
    EXPECT_EQ(table.mapped_bytes(), frames * 2 * k_mib);
    std::set<std::uint64_t> seen;
    for (std::uint64_t page = 0; page < frames; ++page) {
      const auto physical = table.physical(page * 2 * k_mib + 777);
      EXPECT_EQ(physical % (2 * k_mib), 777U);
      EXPECT_LT(physical, frames * 2 * k_mib);
      seen.insert(physical);
    }
    EXPECT_EQ(seen.size(), frames);
  }
}

TEST(PageTable, IsInOrderOrShuffledByTheSeed) {
  PagingModel paging;
  paging.placement = Placement::contiguous;
  const sim::PageTable in_order(paging, k_gib, 5);
  EXPECT_EQ(in_order.physical(100 * k_mib + 3), 100 * k_mib + 3);
  paging.placement = Placement::random;
  const sim::PageTable one(paging, k_gib, 5);
  const sim::PageTable other(paging, k_gib, 6);
  int same = 0, fixed = 0;
  for (std::uint64_t page = 0; page < 512; ++page) {
    same += one.physical(page * 2 * k_mib) == other.physical(page * 2 * k_mib) ? 1 : 0;
    fixed += one.physical(page * 2 * k_mib) == page * 2 * k_mib ? 1 : 0;
  }
  EXPECT_LT(same, 10);
  EXPECT_LT(fixed, 10);
}

}  // namespace
}  // namespace gpusonde
