#include "target/sim/trace.hpp"

#include <algorithm>

namespace gpusonde::sim {
namespace {

/// Long enough for the host to overlap the work of many loads, short enough to stay in its first cache.
constexpr std::size_t k_block_loads = 256;
constexpr std::uint64_t k_most_kept_nodes = 1 << 16;

}  // namespace

Trace::Trace(const Ring& ring, const Machine& machine, std::uint64_t visits)
    : m_nodes(ring.order.node_count),
      m_ring(ring),
      m_order(ring.order),
      m_machine(machine),
      m_kept(ring.order.node_count <= k_most_kept_nodes && visits >= ring.order.node_count) {
  resize(m_kept ? static_cast<std::size_t>(nodes()) : k_block_loads);
  if (m_kept) fill(0, m_virtual.size());
}

Trace::Trace(Region region, const std::vector<std::uint64_t>& places, const Machine& machine)
    : m_nodes(places.size()), m_order(m_ring.order), m_machine(machine), m_kept(true) {
  resize(places.size());
  const bool aliased = region == Region::aliases;
  for (std::size_t i = 0; i < places.size(); ++i) {
    const std::uint64_t place = places[i];
    m_virtual[i] = (aliased ? k_alias_address : k_buffer_address) + place;
    m_physical[i] = aliased ? machine.pages().physical_alias(place) : machine.pages().physical(place);
  }
  find_sets(places.size());
}

void Trace::resize(std::size_t capacity) {
  m_virtual.resize(capacity);
  m_physical.resize(capacity);
  for (std::size_t level = 0; level < m_machine.path().size(); ++level) {
    m_sets[level].resize(capacity);
    m_slices[level].resize(capacity);
  }
}

void Trace::fill(std::uint64_t position, std::size_t count) {
  for (std::size_t i = 0; i < count; ++i) {
    const std::uint64_t offset = m_ring.first_byte + m_order.offset(position + i);
    m_virtual[i] = k_buffer_address + offset;
    m_physical[i] = m_machine.pages().physical(offset);
  }
  find_sets(count);
}

void Trace::find_sets(std::size_t count) {
  for (std::size_t level = 0; level < m_machine.path().size(); ++level) {
    const CacheLevel& cache = *m_machine.path()[level];
    for (std::size_t i = 0; i < count; ++i) {
      const Address address{m_virtual[i], m_physical[i]};
      const std::uint32_t slice = cache.slice(address);
      const std::uint32_t set = cache.set(address, slice);
      __builtin_prefetch(cache.store().first_way(set));
      __builtin_prefetch(cache.store().last_way(set));
      m_slices[level][i] = static_cast<std::uint16_t>(slice);
      m_sets[level][i] = set;
    }
  }
}

LoadBlock Trace::block(std::size_t first, std::size_t count) const noexcept {
  LoadBlock result{m_virtual.data() + first, m_physical.data() + first, {}, count};
  for (std::size_t level = 0; level < m_machine.path().size(); ++level)
    result.levels[level] = {m_sets[level].data() + first, m_slices[level].data() + first};
  return result;
}

LoadBlock Trace::at(std::uint64_t position, std::uint64_t most) {
  const std::uint64_t left = std::min(most, nodes() - position);
  if (m_kept) return block(static_cast<std::size_t>(position), static_cast<std::size_t>(left));
  const auto count = static_cast<std::size_t>(std::min<std::uint64_t>(left, k_block_loads));
  fill(position, count);
  return block(0, count);
}

}  // namespace gpusonde::sim
