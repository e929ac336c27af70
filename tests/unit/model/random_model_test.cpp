#include "model/random_model.hpp"

#include <gtest/gtest.h>

#include <bit>
#include <map>
#include <set>
#include <utility>

#include "core/units.hpp"

namespace gpusonde {
namespace {

TEST(RandomModel, KeepsItsPromises) {
  std::set<std::size_t> level_counts;
  std::set<Replacement> policies;
  std::set<std::size_t> tlb_counts;
  int not_powers = 0;
  for (std::uint64_t seed = 0; seed < 1000; ++seed) {
    const auto model = random_model(seed, {1, 3, 0.03, true});
    const auto valid = validate(model);
    ASSERT_TRUE(valid) << "seed " << seed << ": " << valid.error().message;
    level_counts.insert(model.caches.size());
    tlb_counts.insert(model.tlbs.size());
    EXPECT_EQ(model.memory_bytes, 4 * k_gib);
    EXPECT_LE(model.noise.run_fraction, 0.03);
    double before_cycles = 0;
    std::uint64_t before_bytes = 0;
    for (const auto& cache : model.caches) {
      policies.insert(cache.replacement);
      const auto bytes = cache.capacity_bytes();
      const auto cycles = cache.hit.cycles(model.timing.sm_mhz);
      EXPECT_GE(bytes, std::max(16 * k_kib, 4 * before_bytes)) << "seed " << seed;
      EXPECT_LE(bytes, 64 * k_mib) << "seed " << seed;
      EXPECT_GE(cache.ways, 2U);
      EXPECT_LE(cache.ways, 32U);
      EXPECT_GE(cycles, std::max(1.25 * before_cycles, before_cycles > 0 ? before_cycles + 20 : 0)) << "seed " << seed;
      if (!std::has_single_bit(cache.sets)) ++not_powers;
      before_bytes = bytes;
      before_cycles = cycles;
    }
    EXPECT_GE(model.dram.latency.cycles(model.timing.sm_mhz), std::max(1.25 * before_cycles, before_cycles + 20));
  }
  EXPECT_EQ(level_counts, (std::set<std::size_t>{1, 2, 3}));
  EXPECT_EQ(tlb_counts, (std::set<std::size_t>{0, 1}));
  EXPECT_EQ(policies, (std::set{Replacement::lru, Replacement::fifo, Replacement::tree_plru, Replacement::random}));
  EXPECT_GT(not_powers, 300);
}

TEST(RandomModel, FillsEverySetEvenly) {
  for (std::uint64_t seed = 0; seed < 40; ++seed) {
    const auto model = random_model(seed);
    const auto& cache = model.caches.front();
    std::vector<std::uint32_t> lines(cache.sets, 0);
    for (std::uint64_t line = 0; line < cache.capacity_bytes() / cache.line_bytes; ++line)
      ++lines[cache.set_function(line * cache.line_bytes) % cache.sets];
    for (const auto count : lines) ASSERT_EQ(count, cache.ways) << "seed " << seed;
  }
}

TEST(RandomModel, IsTheSameForTheSameSeed) {
  EXPECT_TRUE(random_model(7) == random_model(7));
  EXPECT_FALSE(random_model(7) == random_model(8));
  EXPECT_TRUE(random_model(7, {1, 3, 0, false}).tlbs.empty());
  EXPECT_EQ(random_model(7, {2, 2, 0, false}).caches.size(), 2U);
}

constexpr std::uint64_t k_translation_seeds = 500;

DeviceModel any_translation(std::uint64_t seed) {
  return random_model(seed, {.least_cache_levels = 2,
                             .most_cache_levels = 2,
                             .max_noise = 0.02,
                             .any_translation = true,
                             .most_capacity_bytes = 16 * k_mib});
}

TEST(RandomModel, AnyTranslationIsValidAndTheSameForTheSameSeed) {
  for (std::uint64_t seed = 0; seed < k_translation_seeds; ++seed) {
    const auto model = any_translation(seed);
    const auto valid = validate(model);
    ASSERT_TRUE(valid) << "seed " << seed << ": " << valid.error().message;
    EXPECT_TRUE(model == any_translation(seed)) << "seed " << seed;
    EXPECT_FALSE(model == any_translation(seed + 1)) << "seed " << seed;
  }
}

TEST(RandomModel, AnyTranslationStaysInItsRanges) {
  std::set<std::size_t> level_counts;
  std::set<Replacement> policies;
  std::set<TlbIndex> indices;
  std::set<Scope> scopes;
  std::set<std::uint64_t> pages;
  int full = 0;
  int tables = 0;
  for (std::uint64_t seed = 0; seed < k_translation_seeds; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    const auto model = any_translation(seed);
    level_counts.insert(model.tlbs.size());
    pages.insert(model.paging.frame_bytes);
    EXPECT_GE(model.sm_count, 1U);
    EXPECT_LE(model.sm_count, 144U);
    EXPECT_GE(model.sms_per_tpc, 1U);
    EXPECT_LE(model.sms_per_tpc, 2U);
    EXPECT_GE(model.sms_per_cpc, 3U);  // two would look like a TPC
    EXPECT_LE(model.sms_per_cpc, 8U);
    EXPECT_GE(model.sms_per_gpc, 10U);  // eight would look like a CPC
    EXPECT_LE(model.sms_per_gpc, 18U);
    const TlbModel* before = nullptr;
    for (const auto& tlb : model.tlbs) {
      ++tables;
      full += tlb.ways == 0 ? 1 : 0;
      policies.insert(tlb.replacement);
      indices.insert(tlb.index);
      scopes.insert(tlb.scope);
      EXPECT_GE(tlb.entries, 8U);
      EXPECT_LE(tlb.entries, 4096U);
      EXPECT_GE(tlb.span_bytes, 64 * k_kib);
      EXPECT_LE(tlb.span_bytes, 512 * k_mib);
      EXPECT_TRUE(std::has_single_bit(tlb.span_bytes));
      if (before != nullptr) {
        EXPECT_GE(tlb.entries, 2 * before->entries);
        EXPECT_GE(tlb.span_bytes, before->span_bytes);
        EXPECT_GE(tlb.scope, before->scope);
        EXPECT_GE(tlb.miss.sm_cycles, before->miss.sm_cycles + 25);
      } else {
        EXPECT_LE(tlb.scope, Scope::tpc);
        EXPECT_GE(tlb.miss.sm_cycles, 8);
        EXPECT_LE(tlb.miss.sm_cycles, 40);
      }
      // A TPC of one SM would be no TPC.
      EXPECT_FALSE(tlb.scope == Scope::tpc && model.sms_per_tpc == 1);
      before = &tlb;
    }
  }
  EXPECT_EQ(level_counts, (std::set<std::size_t>{1, 2, 3}));
  EXPECT_EQ(policies, (std::set{Replacement::lru, Replacement::fifo, Replacement::random}));
  EXPECT_EQ(indices, (std::set{TlbIndex::modulo, TlbIndex::folded}));
  EXPECT_EQ(scopes, (std::set{Scope::sm, Scope::tpc, Scope::cpc, Scope::gpc, Scope::partition, Scope::gpu}));
  EXPECT_EQ(pages, (std::set<std::uint64_t>{64 * k_kib, 2 * k_mib}));
  EXPECT_GT(full, tables / 5);
  EXPECT_LT(full, tables / 2);
}

TEST(RandomModel, AnyTranslationAddressesCachesInAnyWay) {
  using Addressing = std::pair<AddressSpace, AddressSpace>;  // index, tag
  constexpr auto as_virtual = AddressSpace::virtual_address;
  constexpr auto as_physical = AddressSpace::physical_address;
  std::map<Addressing, int> l1;
  std::map<Addressing, int> l2;
  for (std::uint64_t seed = 0; seed < k_translation_seeds; ++seed) {
    const auto model = any_translation(seed);
    ++l1[{model.caches.at(0).index, model.caches.at(0).tag}];
    ++l2[{model.caches.at(1).index, model.caches.at(1).tag}];
  }
  EXPECT_FALSE(l1.contains(Addressing(as_physical, as_virtual)));
  EXPECT_FALSE(l2.contains(Addressing(as_physical, as_virtual)));
  for (const auto& [kind, count] : l1) EXPECT_GT(count, 100);  // a third each
  EXPECT_EQ(l1.size(), 3U);
  EXPECT_EQ(l2.size(), 3U);
  const int vivt = l2[{as_virtual, as_virtual}];
  EXPECT_GT(vivt, 10);
  EXPECT_LT(vivt, 100);  // rarely
  EXPECT_GT((l2[{as_physical, as_physical}]), 300);
}

}  // namespace
}  // namespace gpusonde
