#include "model/random_model.hpp"

#include <gtest/gtest.h>

#include <bit>
#include <set>

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

}  // namespace
}  // namespace gpusonde
