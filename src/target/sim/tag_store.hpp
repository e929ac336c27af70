// Which tags are present: the sets and ways of one cache or TLB, and the policy that picks the victim.
// A tag carries a mask of the parts (sectors) that are present. No data is kept.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "core/random.hpp"
#include "model/device_model.hpp"
#include "target/sim/host_memory.hpp"
#include "target/sim/indexed_store.hpp"

namespace gpusonde::sim {

/// Policies as built here, where the name alone leaves room:
///  - tree_plru: an empty way is filled first, the one that the tree points nearest to.
///  - nru: one bit a way; when the last clear bit is set, all others are cleared. Victim: lowest clear.
///  - srrip: two bits; fill with 2, hit sets 0; victim: lowest way at 3, ageing all until there is one.
///  - random: uniform over the ways, once no way is empty.
class TagStore {
 public:
  /// Preconditions: see `limit`.
  TagStore(std::uint32_t sets, std::uint32_t ways, Replacement policy);

  /// Most ways that a policy can have here; 0: any number.
  [[nodiscard]] static std::uint32_t ways_limit(Replacement policy) noexcept;

  /// Empties the store and starts the random choices anew. Costs as much as was touched.
  void reset(Random random);

  /// True if the tag is there with that part; afterwards it is. Preconditions: set < sets, tag < 2^47,
  /// part has one bit set and is below 2^16.
  bool access(std::uint32_t set, std::uint64_t tag, std::uint32_t part) {
    if (m_indexed) return m_indexed->access(set, tag, part);
    std::uint64_t* entries = &m_entries[std::size_t{set} * m_ways];
    // The first way of every policy is filled first, so an empty one means an untouched set.
    if (entries[0] == 0) m_touched.push_back(set);
    const std::uint64_t key = tag + 1;
    if (m_policy == Replacement::lru) return access_lru(entries, key, part);
    for (std::uint32_t way = 0; way < m_ways; ++way) {
      if (entries[way] >> k_part_bits != key) continue;
      const bool present = (entries[way] & part) != 0;
      entries[way] |= part;
      hit(set, way);
      return present;
    }
    entries[fill_way(set, entries)] = key << k_part_bits | part;
    return false;
  }

  /// The tag's way is free again, if it is there, and the next to be filled.
  void remove(std::uint32_t set, std::uint64_t tag);

  /// More parts of a tag that is there: nothing for the policy to notice. Precondition: the tag is there.
  void add_parts(std::uint32_t set, std::uint64_t tag, std::uint32_t parts) {
    if (m_indexed) return m_indexed->add_parts(tag, parts);
    std::uint64_t* entries = &m_entries[std::size_t{set} * m_ways];
    for (std::uint32_t way = 0; way < m_ways; ++way)
      if (entries[way] >> k_part_bits == tag + 1) entries[way] |= parts;
  }

  /// A way of a set in the host's memory, to be prefetched before the set is accessed; null where that would
  /// not help. (The prefetch itself is the caller's: GCC drops calls of a function that does nothing else.)
  [[nodiscard]] const std::uint64_t* first_way(std::uint32_t set) const noexcept {
    return m_indexed ? nullptr : &m_entries[std::size_t{set} * m_ways];
  }
  [[nodiscard]] const std::uint64_t* last_way(std::uint32_t set) const noexcept {
    return m_indexed ? nullptr : &m_entries[std::size_t{set} * m_ways + m_ways - 1];
  }

  /// Sets touched since the reset, and those of them that have an empty way.
  [[nodiscard]] std::size_t touched_sets() const noexcept;
  [[nodiscard]] std::size_t unfilled_sets() const noexcept;

 private:
  static constexpr unsigned k_part_bits = 16;
  static constexpr std::uint64_t k_removed = ~0ULL << k_part_bits;  ///< an entry that no tag has

  /// Entries lie in order of recency, so the victim is the last.
  bool access_lru(std::uint64_t* entries, std::uint64_t key, std::uint32_t part) const noexcept {
    std::uint64_t carried = entries[0];
    if (carried >> k_part_bits == key) {
      entries[0] = carried | part;
      return (carried & part) != 0;
    }
    for (std::uint32_t way = 1; way < m_ways; ++way) {
      const std::uint64_t entry = entries[way];
      entries[way] = carried;
      if (entry >> k_part_bits == key) {
        entries[0] = entry | part;
        return (entry & part) != 0;
      }
      carried = entry;
    }
    entries[0] = key << k_part_bits | part;
    return false;
  }
  void hit(std::uint32_t set, std::uint32_t way) noexcept;
  std::uint32_t fill_way(std::uint32_t set, const std::uint64_t* entries) noexcept;
  std::uint32_t fill_plru(std::uint32_t set, const std::uint64_t* entries) noexcept;
  void touch_plru(std::uint32_t set, std::uint32_t way) noexcept;
  void touch_nru(std::uint32_t set, std::uint32_t way) noexcept;
  std::uint32_t victim_srrip(std::uint32_t set) noexcept;

  std::uint32_t m_ways;
  Replacement m_policy;
  HostVector<std::uint64_t> m_entries;  ///< tag + 1 above the part mask; 0: empty
  std::vector<std::uint64_t> m_meta;    ///< a word a set: fifo's next way, the tree, the bits, the ages
  std::vector<std::uint32_t> m_touched;
  std::unique_ptr<IndexedStore> m_indexed;
  Random m_random{0};
  bool m_any_removed = false;
};

}  // namespace gpusonde::sim
