#include "target/sim/machine.hpp"

#include <fmt/format.h>

#include "target/sim/slice_distance.hpp"
#include "target/sim/storage_split.hpp"

namespace gpusonde::sim {
namespace {

/// How long a channel's pins carry a column; 0 where the model does not say how fast they are.
double column_bus_ns(const DeviceModel& model) {
  const double bytes_per_ns = model.memory_bytes_per_second() / 1e9;
  const double channels = std::max(1U, model.dram.controllers * model.dram.channels_per_controller);
  return bytes_per_ns > 0 ? model.dram.column_bytes * channels / bytes_per_ns : 0;
}

}  // namespace

namespace {

// Streams of the device's seed; the numbers are arbitrary and differ.
constexpr std::uint64_t k_distance_stream = 100;
constexpr std::uint64_t k_move_stream = 200;
constexpr std::uint64_t k_drop_stream = 1000;

bool power_of_two(std::uint64_t value) { return std::has_single_bit(value); }

}  // namespace

Machine::Machine(const DeviceModel& model, double sm_mhz, std::uint64_t seed)
    : m_model(model),
      m_seed(seed),
      m_tlbs(model.tlbs, sm_mhz),
      m_pages(model.paging, model.memory_bytes, page_seed(seed)),
      m_dram(model.dram, sm_mhz, column_bus_ns(model)),
      m_first_sets(model.caches.front().sets) {
  m_caches.reserve(model.caches.size());
  for (const auto& cache : model.caches) m_caches.emplace_back(cache, sm_mhz);
}

void Machine::begin(LoadPath path, std::uint32_t sm, std::uint64_t shared_bytes, Random random) {
  const bool near = path == LoadPath::global_ca || path == LoadPath::global_nc;
  m_path.clear();
  for (auto& cache : m_caches)
    if (near || cache.allocates_cg()) m_path.push_back(&cache);
  for (auto& cache : m_caches) cache.set_fetch_bytes(0);
  m_first_sets = m_model.caches.front().sets;
  if (m_model.unified) m_first_sets = sets_left(m_first_sets, *m_model.unified, shared_bytes);
  set_sm(sm);
  m_random = random;
  reset();
}

void Machine::set_sm(std::uint32_t sm) {
  if (m_sm != sm)
    for (std::size_t level = 0; level < m_caches.size(); ++level)
      m_caches[level].set_distances(slice_distances(
          m_model.caches[level], sm, mix64(m_seed ^ (k_distance_stream + k_max_levels * side(sm) + level))));
  m_sm = sm;
}

void Machine::move_to(std::uint32_t sm) {
  const std::uint32_t from = m_sm.value_or(sm);
  const auto shared = [&](Scope scope) {
    switch (scope) {
      case Scope::sm: return from == sm;
      case Scope::tpc: return from / m_model.sms_per_tpc == sm / m_model.sms_per_tpc;
      case Scope::cpc: return from / m_model.sms_per_cpc == sm / m_model.sms_per_cpc;
      case Scope::partition: return side(from) == side(sm);
      case Scope::gpc: return from / m_model.sms_per_gpc == sm / m_model.sms_per_gpc;
      case Scope::gpu: break;
    }
    return true;
  };
  std::uint64_t stream = k_move_stream;
  for (std::size_t level = 0; level < m_caches.size(); ++level, ++stream)
    if (!shared(m_model.caches[level].scope))
      m_caches[level].reset(level == 0 ? m_first_sets : m_model.caches[level].sets, m_random.fork(stream));
  m_tlbs.reset_unless(shared, m_random.fork(stream));
  set_sm(sm);
}

void Machine::drop_sm_caches() {
  for (std::size_t level = 0; level < m_caches.size(); ++level)
    if (m_model.caches[level].scope == Scope::sm)
      m_caches[level].reset(level == 0 ? m_first_sets : m_model.caches[level].sets,
                            m_random.fork(k_drop_stream + m_drops * k_max_levels + level));
  ++m_drops;
}

void Machine::reset() {
  m_drops = 0;
  std::uint64_t stream = 0;
  for (std::size_t level = 0; level < m_caches.size(); ++level)
    m_caches[level].reset(level == 0 ? m_first_sets : m_model.caches[level].sets, m_random.fork(stream++));
  m_tlbs.reset(m_random.fork(stream++));
  m_dram.reset(m_random.fork(stream++));
}

Result<void> check_limits(const DeviceModel& model) {
  const auto wrong = [&](const std::string& what) {
    return fail(ErrorKind::bad_input, fmt::format("{}: {}", model.origin.empty() ? model.id : model.origin, what));
  };
  if (model.caches.empty() || model.caches.size() > k_max_levels)
    return wrong(fmt::format("{} caches; the simulator takes 1 to {}", model.caches.size(), k_max_levels));
  for (const auto& cache : model.caches) {
    if (!power_of_two(cache.line_bytes) || !power_of_two(cache.sector_bytes) || cache.sector_bytes > cache.line_bytes ||
        cache.line_bytes / cache.sector_bytes > 16)
      return wrong(fmt::format("{}: lines of {} B in sectors of {} B; give powers of two, at most 16 sectors a line",
                               cache.name, cache.line_bytes, cache.sector_bytes));
    if (cache.sets == 0 || cache.ways == 0 || cache.slices == 0 || cache.slices > 65536 ||
        std::uint64_t{cache.sets} * cache.slices * cache.ways > 1ULL << 30)
      return wrong(fmt::format("{}: {} slices of {} sets of {} ways; give at least 1 of each, and at most 2^30 lines",
                               cache.name, cache.slices, cache.sets, cache.ways));
    const auto limit = TagStore::ways_limit(cache.replacement);
    if (limit != 0 && cache.ways > limit)
      return wrong(fmt::format("{}: {} ways with {} replacement; at most {}, or use lru, fifo or random", cache.name,
                               cache.ways, to_string(cache.replacement), limit));
  }
  for (const auto& tlb : model.tlbs) {
    const auto ways = tlb.ways == 0 ? tlb.entries : tlb.ways;
    if (tlb.entries == 0 || tlb.entries % ways != 0)
      return wrong(fmt::format("{}: {} entries in {} ways; give a multiple of the ways", tlb.name, tlb.entries, ways));
    if (!power_of_two(tlb.span_bytes))
      return wrong(fmt::format("{}: a span of {} B; give a power of two", tlb.name, tlb.span_bytes));
    const auto limit = TagStore::ways_limit(tlb.replacement);
    if (limit != 0 && ways > limit)
      return wrong(fmt::format("{}: {} ways with {} replacement; at most {}, or use lru, fifo or random", tlb.name,
                               ways, to_string(tlb.replacement), limit));
  }
  if (!power_of_two(model.paging.frame_bytes) || model.paging.frame_bytes > model.memory_bytes ||
      model.memory_bytes > 1ULL << 40)
    return wrong(fmt::format("frames of {} B in {} B of memory; give a power of two, and at most 1 TiB of memory",
                             model.paging.frame_bytes, model.memory_bytes));
  return {};
}

}  // namespace gpusonde::sim
