#include "model/random_geometry.hpp"

#include <algorithm>
#include <array>
#include <bit>

#include "core/units.hpp"
#include "model/random_draws.hpp"
#include "model/random_l2_functions.hpp"
#include "model/random_masks.hpp"

namespace gpusonde {
namespace {

constexpr std::uint64_t k_line_bytes = 128;
constexpr std::uint64_t k_least_l1_bytes = k_kib;
constexpr std::uint64_t k_most_l1_bytes = k_mib;
constexpr std::uint64_t k_most_l1_sets = 2048;
constexpr std::uint64_t k_least_l2_bytes = 512 * k_kib;
constexpr std::uint64_t k_most_l2_bytes = 16 * k_mib;
constexpr std::uint64_t k_hashed_bits = 0xFFFFFF80;  // of 4 GiB of memory in lines of 128 bytes

/// Ways for a policy: any number, but a power of two every other time and always for a tree.
std::uint32_t random_ways(Random& random, Replacement policy, std::uint32_t most) {
  const auto ways = std::min(most, static_cast<std::uint32_t>(random_size(random, 2, std::uint64_t{most} + 1)));
  const bool is_power = policy == Replacement::tree_plru || random.below(2) == 0;
  return is_power ? std::bit_floor(ways) : ways;
}

Replacement random_policy(Random& random) {
  return random_of(random,
                   std::array{Replacement::lru, Replacement::fifo, Replacement::random, Replacement::tree_plru});
}

void give_l1_sets(Random& random, CacheModel& cache) {
  const std::uint64_t way_bytes = k_line_bytes * cache.ways;
  const auto least = std::max<std::uint64_t>(1, (k_least_l1_bytes + way_bytes - 1) / way_bytes);
  const auto most = std::min(k_most_l1_sets, k_most_l1_bytes / way_bytes);
  const auto kind = random.below(6);  // any number, plain; powers of two, plain; powers of two, hashed
  if (kind == 0) {
    cache.sets = static_cast<std::uint32_t>(random_size(random, least, most));
  } else {
    const auto least_bits = std::bit_width(least - 1);
    const auto most_bits = std::bit_width(most) - 1;
    cache.sets = std::uint32_t{1} << random.between(static_cast<std::uint64_t>(least_bits),
                                                    static_cast<std::uint64_t>(most_bits));
  }
  const auto window = (std::uint64_t{cache.sets} - 1) * k_line_bytes;
  cache.set_function = kind < 2 ? AddressFunction::modulo(k_line_bytes, cache.sets)
                                : AddressFunction::parities(random_even_masks(random, window, k_hashed_bits & ~window));
}

CacheModel random_l1(Random& random) {
  CacheModel cache;
  cache.name = "l1";
  cache.line_bytes = k_line_bytes;
  cache.replacement = random_policy(random);
  cache.ways = random_ways(random, cache.replacement, 64);
  give_l1_sets(random, cache);
  cache.index = AddressSpace::virtual_address;
  cache.tag = AddressSpace::virtual_address;
  cache.allocates_cg = false;
  cache.hit = {20 + 30 * random.uniform(), 0};
  return cache;
}

/// Slices, ways and sets for a capacity within the bounds. A draw that misses them is made again.
void give_l2_geometry(Random& random, CacheModel& cache, std::uint64_t least_bytes) {
  constexpr std::array<std::uint32_t, 18> k_slices{2, 3, 4, 5, 6, 8, 10, 12, 16, 20, 24, 32, 36, 40, 48, 64, 80, 96};
  do {
    cache.slices = random_of(random, k_slices);
    cache.ways = random_ways(random, cache.replacement, 16);
    const auto set_bytes = k_line_bytes * cache.ways * cache.slices;
    const auto sets = std::max<std::uint64_t>(1, random_size(random, least_bytes, k_most_l2_bytes) / set_bytes);
    cache.sets = static_cast<std::uint32_t>(random.below(3) == 0 ? sets : std::bit_floor(sets));
  } while (cache.capacity_bytes() < least_bytes || cache.capacity_bytes() > k_most_l2_bytes);
}

void give_partitions(Random& random, CacheModel& cache) {
  if (random.below(4) != 0) return;
  constexpr std::uint64_t k_home_bits = 0x3FF000;  // 12 to 21
  cache.partitions = 2;
  std::uint64_t mask = 0;
  while (mask == 0) mask = random.next() & k_home_bits;
  cache.home_function = AddressFunction::parities({mask});
  cache.far_cycles = 100 + 150 * random.uniform();
}

CacheModel random_l2(Random& random, const CacheModel& l1, double sm_mhz) {
  CacheModel cache;
  cache.name = "l2";
  cache.scope = Scope::gpu;
  cache.line_bytes = k_line_bytes;
  cache.replacement = random_policy(random);
  give_l2_geometry(random, cache, std::max(k_least_l2_bytes, 4 * l1.capacity_bytes()));
  give_l2_functions(random, cache, k_hashed_bits);
  give_partitions(random, cache);
  cache.fetch_bytes = random_of(random, std::array<std::uint32_t, 3>{32, 64, 128});
  const double cycles = 180 + 140 * random.uniform();
  const double fixed_ns = cycles_to_ns(cycles, sm_mhz) * 0.5 * random.uniform();
  cache.hit = {cycles - ns_to_cycles(fixed_ns, sm_mhz), fixed_ns};
  cache.slice_spread_cycles = 40 + 40 * random.uniform();
  cache.atomic_cycles = 60 * random.uniform();
  return cache;
}

}  // namespace

void add_any_geometry(Random& random, DeviceModel& model) {
  model.sm_count = static_cast<std::uint32_t>(random.between(8, 144));
  model.caches.push_back(random_l1(random));
  model.caches.push_back(random_l2(random, model.caches.front(), model.timing.sm_mhz));
}

}  // namespace gpusonde
