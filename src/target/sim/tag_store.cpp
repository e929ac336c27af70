#include "target/sim/tag_store.hpp"

#include <algorithm>
#include <bit>

namespace gpusonde::sim {
namespace {

constexpr std::uint32_t k_scanned_ways = 64;  ///< more are found by hashing

}  // namespace

TagStore::TagStore(std::uint32_t sets, std::uint32_t ways, Replacement policy) : m_ways(ways), m_policy(policy) {
  if (ways > k_scanned_ways) {
    m_indexed = std::make_unique<IndexedStore>(sets, ways, policy);
    return;
  }
  m_entries.assign(std::size_t{sets} * ways, 0);
  if (policy != Replacement::lru && policy != Replacement::random) m_meta.assign(sets, 0);
}

std::uint32_t TagStore::ways_limit(Replacement policy) noexcept {
  switch (policy) {
    case Replacement::tree_plru:
    case Replacement::nru: return 64;
    case Replacement::srrip: return 32;
    case Replacement::lru:
    case Replacement::fifo:
    case Replacement::random: break;
  }
  return 0;
}

void TagStore::reset(Random random) {
  m_random = random;
  if (m_indexed) return m_indexed->reset(random);
  for (const auto set : m_touched) {
    std::fill_n(&m_entries[std::size_t{set} * m_ways], m_ways, 0);
    if (!m_meta.empty()) m_meta[set] = 0;
  }
  m_touched.clear();
  m_any_removed = false;
}

void TagStore::remove(std::uint32_t set, std::uint64_t tag) {
  if (m_indexed) return m_indexed->remove(tag);
  std::uint64_t* entries = &m_entries[std::size_t{set} * m_ways];
  auto* const end = entries + m_ways;
  auto* const entry = std::find_if(entries, end, [&](std::uint64_t e) { return e >> k_part_bits == tag + 1; });
  if (entry == end) return;
  if (m_policy == Replacement::lru) {  // entries lie in order of recency
    std::move(entry + 1, end, entry);
    *(end - 1) = 0;
    if (*entries == 0) *entries = k_removed;  // the set stays a touched one
    return;
  }
  *entry = k_removed;
  m_any_removed = true;
}

std::size_t TagStore::touched_sets() const noexcept { return m_indexed ? m_indexed->touched_sets() : m_touched.size(); }

std::size_t TagStore::unfilled_sets() const noexcept {
  if (m_indexed) return m_indexed->unfilled_sets();
  std::size_t unfilled = 0;
  for (const auto set : m_touched) {
    const auto* entries = &m_entries[std::size_t{set} * m_ways];
    unfilled += std::find(entries, entries + m_ways, 0) != entries + m_ways ? 1 : 0;
  }
  return unfilled;
}

void TagStore::hit(std::uint32_t set, std::uint32_t way) noexcept {
  switch (m_policy) {
    case Replacement::tree_plru: touch_plru(set, way); break;
    case Replacement::nru: touch_nru(set, way); break;
    case Replacement::srrip: m_meta[set] &= ~(3ULL << (2 * way)); break;
    case Replacement::lru:
    case Replacement::fifo:
    case Replacement::random: break;
  }
}

std::uint32_t TagStore::fill_way(std::uint32_t set, const std::uint64_t* entries) noexcept {
  if (m_any_removed) {
    if (const auto* free = std::find(entries, entries + m_ways, k_removed); free != entries + m_ways) {
      const auto way = static_cast<std::uint32_t>(free - entries);
      if (m_policy == Replacement::tree_plru) touch_plru(set, way);
      if (m_policy == Replacement::nru) touch_nru(set, way);
      if (m_policy == Replacement::srrip) m_meta[set] = (m_meta[set] & ~(3ULL << (2 * way))) | 2ULL << (2 * way);
      return way;
    }
  }
  if (m_policy == Replacement::tree_plru) return fill_plru(set, entries);
  if (m_policy == Replacement::fifo) {
    const auto way = static_cast<std::uint32_t>(m_meta[set]);
    m_meta[set] = way + 1 == m_ways ? 0 : way + 1;
    return way;
  }
  // Ways fill from the lowest, so the last one tells whether any is empty.
  std::uint32_t way = m_ways;
  if (entries[m_ways - 1] == 0) way = static_cast<std::uint32_t>(std::find(entries, entries + m_ways, 0) - entries);
  const bool empty = way < m_ways;
  switch (m_policy) {
    case Replacement::nru:
      if (!empty) way = m_ways == 1 ? 0 : static_cast<std::uint32_t>(std::countr_one(m_meta[set]));
      touch_nru(set, way);
      break;
    case Replacement::srrip:
      if (!empty) way = victim_srrip(set);
      m_meta[set] = (m_meta[set] & ~(3ULL << (2 * way))) | 2ULL << (2 * way);
      break;
    case Replacement::random:
      if (!empty) way = static_cast<std::uint32_t>(m_random.below(m_ways));
      break;
    case Replacement::lru:
    case Replacement::fifo:
    case Replacement::tree_plru: break;
  }
  return way;
}

// The tree halves [first, last) at each node; node 1 is the root, node n has children 2n and 2n + 1. A
// node's bit says which half is to be evicted next: 0 the lower. Up to 64 ways have inner nodes below 64.
std::uint32_t TagStore::fill_plru(std::uint32_t set, const std::uint64_t* entries) noexcept {
  const auto has_empty = [&](std::uint32_t first, std::uint32_t last) {
    return std::find(entries + first, entries + last, 0) != entries + last;
  };
  const bool any_empty = has_empty(0, m_ways);
  std::uint32_t first = 0;
  std::uint32_t last = m_ways;
  for (std::uint32_t node = 1; last - first > 1;) {
    const std::uint32_t middle = first + (last - first) / 2;
    bool upper = (m_meta[set] >> (node - 1) & 1) != 0;
    if (any_empty && !(upper ? has_empty(middle, last) : has_empty(first, middle))) upper = !upper;
    (upper ? first : last) = middle;
    node = 2 * node + (upper ? 1 : 0);
  }
  touch_plru(set, first);
  return first;
}

void TagStore::touch_plru(std::uint32_t set, std::uint32_t way) noexcept {
  std::uint32_t first = 0;
  std::uint32_t last = m_ways;
  for (std::uint32_t node = 1; last - first > 1;) {
    const std::uint32_t middle = first + (last - first) / 2;
    const bool upper = way >= middle;
    const std::uint64_t bit = 1ULL << (node - 1);
    m_meta[set] = upper ? m_meta[set] & ~bit : m_meta[set] | bit;
    (upper ? first : last) = middle;
    node = 2 * node + (upper ? 1 : 0);
  }
}

void TagStore::touch_nru(std::uint32_t set, std::uint32_t way) noexcept {
  const std::uint64_t all = m_ways == 64 ? ~0ULL : (1ULL << m_ways) - 1;
  m_meta[set] |= 1ULL << way;
  if (m_meta[set] == all) m_meta[set] = 1ULL << way;
}

std::uint32_t TagStore::victim_srrip(std::uint32_t set) noexcept {
  std::uint64_t& ages = m_meta[set];
  const std::uint64_t all = m_ways == 32 ? ~0ULL : (1ULL << (2 * m_ways)) - 1;
  for (;;) {
    const std::uint64_t oldest = ages & (ages >> 1) & 0x5555555555555555ULL & all;
    if (oldest != 0) return static_cast<std::uint32_t>(std::countr_zero(oldest) / 2);
    ages += 0x5555555555555555ULL & all;
  }
}

}  // namespace gpusonde::sim
