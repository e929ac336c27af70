// Random cache geometries: valid, in the promised ranges, and with functions that spread evenly.
#include <gtest/gtest.h>

#include <bit>
#include <functional>
#include <map>
#include <set>

#include "core/parity_span.hpp"
#include "core/random.hpp"
#include "core/units.hpp"
#include "model/random_model.hpp"

namespace gpusonde {
namespace {

constexpr std::uint64_t k_seeds = 300;

DeviceModel any_geometry(std::uint64_t seed) { return random_model(seed, {.max_noise = 0.02, .any_geometry = true}); }

void for_each_model(const std::function<void(const DeviceModel&)>& check) {
  for (std::uint64_t seed = 0; seed < k_seeds; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    check(any_geometry(seed));
  }
}

TEST(RandomGeometry, IsValidAndTheSameForTheSameSeed) {
  for (std::uint64_t seed = 0; seed < k_seeds; ++seed) {
    const auto model = any_geometry(seed);
    const auto valid = validate(model);
    ASSERT_TRUE(valid) << "seed " << seed << ": " << valid.error().message;
    EXPECT_TRUE(model == any_geometry(seed)) << "seed " << seed;
    EXPECT_FALSE(model == any_geometry(seed + 1)) << "seed " << seed;
  }
}

TEST(RandomGeometry, GoesWithAnyTranslation) {
  for (std::uint64_t seed = 0; seed < 100; ++seed) {
    const auto model = random_model(seed, {.any_translation = true, .any_geometry = true});
    const auto valid = validate(model);
    ASSERT_TRUE(valid) << "seed " << seed << ": " << valid.error().message;
    EXPECT_FALSE(model.tlbs.empty());
    EXPECT_GE(model.caches.at(1).slices, 2U);
  }
}

TEST(RandomGeometry, OfL1StaysInItsRangesAndReachesThem) {
  std::map<Replacement, int> policies;
  std::set<std::uint32_t> ways;
  std::set<std::uint32_t> powers;
  std::uint64_t least_bytes = k_gib;
  std::uint64_t most_bytes = 0;
  int not_powers = 0;
  int hashed = 0;
  for_each_model([&](const DeviceModel& model) {
    ASSERT_EQ(model.caches.size(), 2U);
    const auto& l1 = model.caches[0];
    EXPECT_EQ(l1.line_bytes, 128U);
    EXPECT_EQ(l1.sector_bytes, 32U);
    EXPECT_GE(l1.ways, 2U);
    EXPECT_LE(l1.ways, 64U);
    EXPECT_GE(l1.sets, 1U);
    EXPECT_LE(l1.sets, 2048U);
    EXPECT_GE(l1.capacity_bytes(), k_kib);
    EXPECT_LE(l1.capacity_bytes(), k_mib);
    EXPECT_EQ(l1.partitions, 1U);
    EXPECT_FALSE(l1.allocates_cg);
    EXPECT_EQ(l1.index, AddressSpace::virtual_address);
    EXPECT_TRUE(l1.replacement != Replacement::tree_plru || std::has_single_bit(l1.ways));
    ++policies[l1.replacement];
    ways.insert(l1.ways);
    least_bytes = std::min(least_bytes, l1.capacity_bytes());
    most_bytes = std::max(most_bytes, l1.capacity_bytes());
    if (std::has_single_bit(l1.sets))
      powers.insert(l1.sets);
    else
      ++not_powers;
    if (!(l1.set_function == AddressFunction::modulo(128, l1.sets)) && l1.sets > 1) ++hashed;
  });
  EXPECT_EQ(policies.size(), 4U);
  for (const auto& [policy, count] : policies) EXPECT_GT(count, 40);
  EXPECT_GT(ways.size(), 30U);
  EXPECT_TRUE(ways.contains(2) && ways.contains(64));
  EXPECT_EQ(powers.size(), 12U);  // 1 to 2048
  EXPECT_LE(least_bytes, 2 * k_kib);
  EXPECT_GE(most_bytes, 512 * k_kib);
  EXPECT_GT(not_powers, 20);
  EXPECT_LT(not_powers, 100);
  EXPECT_GT(hashed, 120);
}

TEST(RandomGeometry, OfL2StaysInItsRangesAndReachesThem) {
  std::set<std::uint32_t> slices;
  std::set<std::uint32_t> ways;
  std::set<std::uint32_t> fetches;
  std::set<std::uint32_t> sms;
  std::uint64_t least_bytes = k_gib;
  std::uint64_t most_bytes = 0;
  int parted = 0;
  for_each_model([&](const DeviceModel& model) {
    const auto& l2 = model.caches[1];
    const double mhz = model.timing.sm_mhz;
    EXPECT_EQ(model.memory_bytes, 4 * k_gib);
    EXPECT_GE(model.sm_count, 8U);
    EXPECT_LE(model.sm_count, 144U);
    EXPECT_LE(model.noise.run_fraction, 0.02);
    EXPECT_GE(l2.slices, 2U);
    EXPECT_LE(l2.slices, 96U);
    EXPECT_GE(l2.ways, 2U);
    EXPECT_LE(l2.ways, 16U);
    EXPECT_GE(l2.capacity_bytes(), std::max(512 * k_kib, 4 * model.caches[0].capacity_bytes()));
    EXPECT_LE(l2.capacity_bytes(), 16 * k_mib);
    EXPECT_GE(l2.slice_spread_cycles, 40);
    EXPECT_LE(l2.slice_spread_cycles, 80);
    EXPECT_GE(l2.atomic_cycles, 0);
    EXPECT_LE(l2.atomic_cycles, 60);
    EXPECT_GT(l2.hit.cycles(mhz) - l2.slice_spread_cycles / 2, model.caches[0].hit.cycles(mhz) + 20);
    EXPECT_GT(model.dram.latency.cycles(mhz), l2.hit.cycles(mhz) + l2.slice_spread_cycles / 2);
    EXPECT_TRUE(l2.replacement != Replacement::tree_plru || std::has_single_bit(l2.ways));
    slices.insert(l2.slices);
    ways.insert(l2.ways);
    fetches.insert(l2.fetch_bytes);
    sms.insert(model.sm_count);
    least_bytes = std::min(least_bytes, l2.capacity_bytes());
    most_bytes = std::max(most_bytes, l2.capacity_bytes());
    if (l2.partitions == 1) return;
    ++parted;
    EXPECT_EQ(l2.partitions, 2U);
    EXPECT_GE(l2.far_cycles, 100);
    EXPECT_LE(l2.far_cycles, 250);
    const auto masks = l2.home_function.address_masks();
    ASSERT_TRUE(masks);
    ASSERT_EQ(masks->size(), 1U);
    EXPECT_NE(masks->front(), 0U);
    EXPECT_EQ(masks->front() & ~std::uint64_t{0x3FF000}, 0U);
  });
  EXPECT_EQ(slices, (std::set<std::uint32_t>{2, 3, 4, 5, 6, 8, 10, 12, 16, 20, 24, 32, 36, 40, 48, 64, 80, 96}));
  EXPECT_EQ(ways.size(), 15U);
  EXPECT_EQ(fetches, (std::set<std::uint32_t>{32, 64, 128}));
  EXPECT_GT(sms.size(), 80U);
  EXPECT_LT(least_bytes, k_mib);
  EXPECT_GT(most_bytes, 14 * k_mib);
  EXPECT_GT(parted, 45);
  EXPECT_LT(parted, 110);
}

/// Which kinds of functions there are: by what their programs are made of.
TEST(RandomGeometry, HasFunctionsOfEveryKind) {
  std::map<std::string, int> slice_kinds;
  std::map<std::string, int> set_kinds;
  std::set<std::uint64_t> units;
  const auto kind = [](const std::string& text) {
    const std::string parity = text.find("parity") != std::string::npos ? "parity" : "";
    return parity + (text.find('%') != std::string::npos ? "remainder" : "");
  };
  for_each_model([&](const DeviceModel& model) {
    const auto& l2 = model.caches[1];
    ++slice_kinds[kind(l2.slice_function.text())];
    ++set_kinds[kind(l2.set_function.text())];
    std::uint64_t unit = 128;  // how far the plain function stays in its first slice
    while (l2.slice_function(unit) == 0 && unit < k_mib) unit += 128;
    if (kind(l2.slice_function.text()) == "remainder") units.insert(unit);
  });
  EXPECT_EQ(slice_kinds.size(), 3U);
  for (const auto& [name, count] : slice_kinds) EXPECT_GT(count, 30) << name;
  EXPECT_GT(set_kinds["remainder"], 60);
  EXPECT_GT(set_kinds["parity"], 15);
  EXPECT_GT(set_kinds["parityremainder"], 15);
  EXPECT_EQ(units, (std::set<std::uint64_t>{128, 256, 512, 1024, 2048, 4096}));
}

TEST(RandomGeometry, FillsEverySetOfEverySlice) {
  for_each_model([](const DeviceModel& model) {
    Random random(1);
    for (const auto& cache : model.caches) {
      const std::uint64_t lines = std::uint64_t{cache.slices} * cache.sets;
      const auto first = random.below(model.memory_bytes / 128 / lines) * lines;
      std::vector<bool> is_filled(lines, false);
      for (std::uint64_t line = first; line < first + lines; ++line) {
        const auto slice = cache.slice_function(line * 128);
        const auto set = cache.set_function(line * 128) % cache.sets;
        ASSERT_LT(slice, cache.slices);
        ASSERT_FALSE(is_filled[slice * cache.sets + set]) << cache.name << " line " << line;
        is_filled[slice * cache.sets + set] = true;
      }
    }
  });
}

TEST(RandomGeometry, GivesEverySliceItsShareOfRandomLines) {
  for_each_model([](const DeviceModel& model) {
    const auto& l2 = model.caches[1];
    Random random(2);
    std::vector<double> lines(l2.slices, 0);
    // 4000 for each: their standard deviation is 1.6 %.
    const std::uint64_t drawn = std::uint64_t{4000} * l2.slices;
    for (std::uint64_t i = 0; i < drawn; ++i) ++lines[l2.slice_function(random.below(model.memory_bytes / 128) * 128)];
    for (const auto count : lines) ASSERT_NEAR(count, 4000, 400);
  });
}

/// The masks of a hashed L1: over the promised bits, as many independent ones as the sets need, and not only
/// triangular.
TEST(RandomGeometry, HashesL1ByAnyInvertibleMasks) {
  int hashed = 0;
  int not_triangular = 0;
  for_each_model([&](const DeviceModel& model) {
    const auto& l1 = model.caches[0];
    if (l1.sets == 1 || l1.set_function == AddressFunction::modulo(128, l1.sets)) return;
    ++hashed;
    const auto masks = l1.set_function.address_masks();
    ASSERT_TRUE(masks);
    ASSERT_EQ(std::uint64_t{1} << masks->size(), l1.sets);
    EXPECT_EQ(canonical_masks(*masks).size(), masks->size());
    Random random(3);
    for (int i = 0; i < 20; ++i) {
      const auto address = random.next();
      std::uint32_t value = 0;
      for (std::size_t bit = 0; bit < masks->size(); ++bit)
        value |= static_cast<std::uint32_t>(std::popcount(address & (*masks)[bit]) & 1) << bit;
      ASSERT_EQ(l1.set_function(address), value);
    }
    bool is_triangular = true;
    for (std::size_t i = 0; i < masks->size(); ++i) {
      EXPECT_EQ((*masks)[i] & ~std::uint64_t{0xFFFFFF80}, 0U);
      if (std::countr_zero((*masks)[i]) != static_cast<int>(7 + i)) is_triangular = false;
    }
    not_triangular += is_triangular ? 0 : 1;
  });
  EXPECT_GT(hashed, 120);
  EXPECT_GT(not_triangular, hashed / 3);
  EXPECT_LT(not_triangular, 2 * hashed / 3);
}

}  // namespace
}  // namespace gpusonde
