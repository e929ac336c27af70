#include "model/random_model.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>
#include <limits>

#include "core/random.hpp"
#include "core/units.hpp"
#include "model/random_draws.hpp"
#include "model/random_geometry.hpp"
#include "model/random_pipelines.hpp"

namespace gpusonde {
namespace {

constexpr std::uint32_t k_line_bytes = 128;
constexpr std::uint64_t k_memory_bytes = 4 * k_gib;
constexpr std::uint64_t k_least_capacity_bytes = 16 * k_kib;

/// Masks of which the i-th holds bit 7+i and higher ones, so that they are independent; the higher bits stop at
/// the memory's size. Aligned stretches of one line a set spread evenly over all sets.
AddressFunction random_hash(Random& random, unsigned bits) {
  std::vector<std::uint64_t> masks;
  for (unsigned i = 0; i < bits; ++i) {
    const std::uint64_t above_index =
        random.next() & (k_memory_bytes - 1) & ~((std::uint64_t{k_line_bytes} << bits) - 1);
    masks.push_back((std::uint64_t{k_line_bytes} << i) | above_index);
  }
  return AddressFunction::parities(masks);
}

Replacement random_policy(Random& random, std::uint32_t ways) {
  constexpr std::array policies{Replacement::lru, Replacement::fifo, Replacement::random, Replacement::tree_plru};
  return policies[random.below(std::has_single_bit(ways) ? 4 : 3)];
}

/// Ways, sets and functions for a capacity between the bounds.
void give_geometry(Random& random, CacheModel& cache, std::uint64_t low_bytes, std::uint64_t high_bytes) {
  cache.line_bytes = k_line_bytes;
  cache.ways = static_cast<std::uint32_t>(random.between(2, 32));
  if (random.below(2) == 0) cache.ways = std::bit_ceil(cache.ways);
  const std::uint64_t way_bytes = std::uint64_t{cache.ways} * k_line_bytes;
  const std::uint64_t least_sets = std::max<std::uint64_t>(1, (low_bytes + way_bytes - 1) / way_bytes);
  const std::uint64_t most_sets = std::max(least_sets, high_bytes / way_bytes);
  auto sets = random_size(random, least_sets, most_sets);
  const auto kind = random.below(3);
  const auto power = std::bit_floor(most_sets);
  if (kind != 0 && power >= least_sets) sets = std::clamp(std::bit_ceil(sets), std::bit_ceil(least_sets), power);
  cache.sets = static_cast<std::uint32_t>(sets);
  const bool is_hashed = kind == 2 && std::has_single_bit(sets) && sets > 1;
  cache.set_function = is_hashed ? random_hash(random, static_cast<unsigned>(std::bit_width(sets)) - 1)
                                 : AddressFunction::modulo(k_line_bytes, sets);
  cache.replacement = random_policy(random, cache.ways);
}

/// At least 25 % and 20 cycles above the level before, in any split between the clocks.
DomainLatency next_latency(Random& random, double before_cycles, double sm_mhz) {
  const double least = std::max(before_cycles * 1.25, before_cycles + 20);
  const double cycles = least * (1 + 1.2 * random.uniform());
  const double fixed_ns = cycles_to_ns(cycles, sm_mhz) * 0.5 * random.uniform();
  return {cycles - ns_to_cycles(fixed_ns, sm_mhz), fixed_ns};
}

/// Rounding in the split must not bring levels closer than promised.
constexpr double k_rounding_margin_cycles = 1e-6;

void add_caches(Random& random, DeviceModel& model, unsigned levels, std::uint64_t most_capacity_bytes) {
  double cycles = 0;
  std::uint64_t low_bytes = k_least_capacity_bytes;
  for (unsigned i = 0; i < levels; ++i) {
    CacheModel cache;
    cache.name = fmt::format("l{}", i + 1);
    const auto later_levels = levels - 1 - i;
    give_geometry(random, cache, low_bytes, std::max(low_bytes, most_capacity_bytes >> (3 * later_levels)));
    cache.hit = i == 0 ? DomainLatency{20 + 30 * random.uniform(), 0}
                       : next_latency(random, cycles + k_rounding_margin_cycles, model.timing.sm_mhz);
    cycles = cache.hit.cycles(model.timing.sm_mhz);
    if (i == 0) {
      cache.index = AddressSpace::virtual_address;
      cache.tag = AddressSpace::virtual_address;
      cache.allocates_cg = false;
    } else {
      cache.scope = Scope::gpu;
    }
    low_bytes = 4 * cache.capacity_bytes();
    model.caches.push_back(cache);
  }
}

void add_dram(Random& random, DeviceModel& model) {
  auto& dram = model.dram;
  dram.controllers = 4;
  dram.channels_per_controller = 2;
  dram.rows = k_memory_bytes / (std::uint64_t{8} * dram.banks * dram.row_bytes);
  dram.channel_function = AddressFunction::modulo(dram.row_bytes, 8);
  dram.bank_function = AddressFunction::modulo(std::uint64_t{8} * dram.row_bytes, dram.banks);
  dram.row_function = AddressFunction::modulo(std::uint64_t{8} * dram.row_bytes * dram.banks, dram.rows);
  const double last_cycles = model.caches.back().hit.cycles(model.timing.sm_mhz);
  dram.latency = next_latency(random, last_cycles + k_rounding_margin_cycles, model.timing.sm_mhz);
}

void any_tlbs(Random& random, DeviceModel& model) {
  model.sms_per_tpc = static_cast<std::uint32_t>(random.between(1, 2));
  model.sms_per_cpc = model.sms_per_tpc * static_cast<std::uint32_t>(random.between(3, 4));
  model.sms_per_gpc = static_cast<std::uint32_t>(random.between(10, 18)) / model.sms_per_tpc * model.sms_per_tpc;
  model.sm_count = static_cast<std::uint32_t>(random.between(1, 144));
  const auto levels = random.between(1, 3);
  std::uint64_t least_entries = 8;
  std::uint64_t least_span = 64 * k_kib;
  double cycles = 0;
  for (std::uint64_t i = 0; i < levels; ++i) {
    const auto later = levels - 1 - i;
    TlbModel tlb;
    tlb.name = fmt::format("tlb{}", i + 1);
    auto entries = random_size(random, least_entries, std::max<std::uint64_t>(least_entries, 4096 >> (3 * later)));
    constexpr std::array<std::uint32_t, 6> ways{2, 4, 6, 8, 12, 16};
    const auto kind = random.below(3);  // fully associative, sets modulo, sets folded
    if (kind != 0) {
      tlb.ways = ways[random.below(ways.size())];
      auto sets = std::max<std::uint64_t>(2, entries / tlb.ways);
      if (kind == 2 || random.below(4) != 0) sets = std::bit_floor(sets);
      while (sets * tlb.ways < least_entries) sets *= 2;
      tlb.index = kind == 2 ? TlbIndex::folded : TlbIndex::modulo;
      entries = sets * tlb.ways;
    }
    tlb.entries = static_cast<std::uint32_t>(entries);
    const auto most_span = std::max(least_span, (512 * k_mib) >> (2 * later));
    tlb.span_bytes = std::bit_floor(random_size(random, least_span, 2 * most_span - 1));
    constexpr std::array policies{Replacement::lru, Replacement::fifo, Replacement::random};
    tlb.replacement = policies[random.below(policies.size())];
    // A TPC of one SM is no TPC that a measurement could see.
    constexpr std::uint64_t k_tpc = 1;
    auto scope = random.between(i == 0 ? 0 : static_cast<std::uint64_t>(model.tlbs.back().scope), i == 0 ? 1 : 5);
    if (scope == k_tpc && model.sms_per_tpc == 1) scope = i == 0 ? 0 : 2;
    tlb.scope = static_cast<Scope>(scope);
    cycles +=
        (i == 0 ? 8 : 25 * static_cast<double>(i)) + (i == 0 ? 32 : 150 * static_cast<double>(i)) * random.uniform();
    tlb.miss = {cycles, 0};
    model.tlbs.push_back(tlb);
    least_entries = std::min<std::uint64_t>(2 * entries, 2048);
    least_span = tlb.span_bytes;
  }
  model.paging.frame_bytes = random.below(4) == 0 ? 64 * k_kib : 2 * k_mib;
}

void any_addressing(Random& random, DeviceModel& model) {
  const auto give = [&](CacheModel& cache, std::uint64_t kind) {
    cache.index = kind == 2 ? AddressSpace::physical_address : AddressSpace::virtual_address;
    cache.tag = kind == 0 ? AddressSpace::virtual_address : AddressSpace::physical_address;
  };
  for (std::size_t i = 0; i < model.caches.size(); ++i)
    give(model.caches[i], i == 0 ? random.below(3) : std::min<std::uint64_t>(2, random.below(12)));
}

}  // namespace

DeviceModel random_model(std::uint64_t seed, const RandomModelOptions& options) {
  Random random(mix64(seed));
  DeviceModel model;
  model.id = fmt::format("random-{}", seed);
  model.name = fmt::format("random model {}", seed);
  model.origin = model.id;
  model.compute_capability_major = 8;
  model.sm_count = static_cast<std::uint32_t>(random.between(1, 16));
  model.memory_bytes = k_memory_bytes;
  model.timing.sm_mhz = static_cast<double>(random.between(900, 3000));
  model.timing.index_overhead_cycles = static_cast<double>(random.between(2, 8));
  if (options.any_geometry)
    add_any_geometry(random, model);
  else
    add_caches(random, model,
               static_cast<unsigned>(random.between(options.least_cache_levels, options.most_cache_levels)),
               options.most_capacity_bytes);
  if (options.any_translation) {
    any_tlbs(random, model);
    any_addressing(random, model);
  } else if (options.with_tlb && random.below(2) == 0) {
    TlbModel tlb;
    tlb.entries = static_cast<std::uint32_t>(random.between(16, 64));
    tlb.miss = {static_cast<double>(random.between(5, 30)), 0};
    model.tlbs.push_back(tlb);
  }
  model.paging.placement = random.below(2) == 0 ? Placement::contiguous : Placement::random;
  add_dram(random, model);
  if (options.any_pipelines) add_any_pipelines(random, model);
  model.noise.run_fraction = options.max_noise * random.uniform();
  return model;
}

}  // namespace gpusonde
