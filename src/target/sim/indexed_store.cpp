#include "target/sim/indexed_store.hpp"

#include <algorithm>
#include <bit>

namespace gpusonde::sim {
namespace {

constexpr std::uint64_t k_no_tag = 1ULL << 47;  // and above: of no address

}  // namespace

IndexedStore::IndexedStore(std::uint32_t sets, std::uint32_t ways, Replacement policy)
    : m_ways(ways),
      m_policy(policy),
      m_slot_mask(static_cast<std::uint32_t>(std::bit_ceil(std::uint64_t{sets} * ways * 2) - 1)),
      m_entries(std::size_t{sets} * ways),
      m_sets(sets),
      m_slots(std::size_t{m_slot_mask} + 1, k_none) {}

void IndexedStore::reset(Random random) {
  m_random = random;
  if (m_clean) return;
  std::fill(m_sets.begin(), m_sets.end(), Set{});
  std::fill(m_slots.begin(), m_slots.end(), k_none);
  m_clean = true;
}

std::uint32_t IndexedStore::home(std::uint64_t tag) const noexcept {
  return static_cast<std::uint32_t>(mix64(tag)) & m_slot_mask;
}

std::uint32_t IndexedStore::find_slot(std::uint64_t tag) const noexcept {
  std::uint32_t slot = home(tag);
  while (m_slots[slot] != k_none && m_entries[m_slots[slot]].tag != tag) slot = (slot + 1) & m_slot_mask;
  return slot;
}

/// Moves later members of the run back, so that no tombstones pile up.
void IndexedStore::remove_slot(std::uint32_t slot) noexcept {
  std::uint32_t hole = slot;
  for (std::uint32_t next = (hole + 1) & m_slot_mask; m_slots[next] != k_none; next = (next + 1) & m_slot_mask) {
    const std::uint32_t wanted = home(m_entries[m_slots[next]].tag);
    if (((next - wanted) & m_slot_mask) < ((next - hole) & m_slot_mask)) continue;
    m_slots[hole] = m_slots[next];
    hole = next;
  }
  m_slots[hole] = k_none;
}

void IndexedStore::unlink(Set& set, std::uint32_t index) noexcept {
  const Entry& entry = m_entries[index];
  (entry.newer == k_none ? set.newest : m_entries[entry.newer].older) = entry.older;
  (entry.older == k_none ? set.oldest : m_entries[entry.older].newer) = entry.newer;
}

void IndexedStore::push_newest(Set& set, std::uint32_t index) noexcept {
  Entry& entry = m_entries[index];
  entry.newer = k_none;
  entry.older = set.newest;
  (set.newest == k_none ? set.oldest : m_entries[set.newest].newer) = index;
  set.newest = index;
}

bool IndexedStore::access(std::uint32_t set_index, std::uint64_t tag, std::uint32_t part) {
  m_clean = false;
  Set& set = m_sets[set_index];
  std::uint32_t slot = find_slot(tag);
  if (m_slots[slot] != k_none) {
    const std::uint32_t index = m_slots[slot];
    const bool present = (m_entries[index].parts & part) != 0;
    m_entries[index].parts |= part;
    if (m_policy == Replacement::lru && set.newest != index) {
      unlink(set, index);
      push_newest(set, index);
    }
    return present;
  }
  const std::uint32_t first = set_index * m_ways;
  std::uint32_t index = first + set.used;
  if (set.used < m_ways) {
    ++set.used;
  } else {
    index = m_policy == Replacement::random ? first + static_cast<std::uint32_t>(m_random.below(m_ways)) : set.oldest;
    unlink(set, index);
    remove_slot(find_slot(m_entries[index].tag));
    slot = find_slot(tag);
  }
  m_entries[index].tag = tag;
  m_entries[index].parts = part;
  push_newest(set, index);
  m_slots[slot] = index;
  return false;
}

void IndexedStore::remove(std::uint64_t tag) {
  const std::uint32_t slot = find_slot(tag);
  if (m_slots[slot] == k_none) return;
  const std::uint32_t index = m_slots[slot];
  remove_slot(slot);
  m_entries[index].tag = k_no_tag + m_removed++;
  m_entries[index].parts = 0;
  m_slots[find_slot(m_entries[index].tag)] = index;
}

void IndexedStore::add_parts(std::uint64_t tag, std::uint32_t parts) {
  const std::uint32_t slot = find_slot(tag);
  if (m_slots[slot] != k_none) m_entries[m_slots[slot]].parts |= parts;
}

std::size_t IndexedStore::touched_sets() const noexcept {
  return static_cast<std::size_t>(
      std::count_if(m_sets.begin(), m_sets.end(), [](const Set& set) { return set.used > 0; }));
}

std::size_t IndexedStore::unfilled_sets() const noexcept {
  return static_cast<std::size_t>(std::count_if(m_sets.begin(), m_sets.end(),
                                                [this](const Set& set) { return set.used > 0 && set.used < m_ways; }));
}

}  // namespace gpusonde::sim
