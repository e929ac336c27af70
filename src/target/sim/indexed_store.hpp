// Tags of sets with many ways (a fully associative TLB of thousands of entries), found by hashing
// instead of scanning. The same behaviour as TagStore for lru, fifo and random.
// A tag always comes with the same set.
#pragma once

#include <cstdint>
#include <vector>

#include "core/random.hpp"
#include "model/device_model.hpp"

namespace gpusonde::sim {

class IndexedStore {
 public:
  /// Precondition: policy is lru, fifo or random; sets * ways < 2^31.
  IndexedStore(std::uint32_t sets, std::uint32_t ways, Replacement policy);

  void reset(Random random);
  bool access(std::uint32_t set, std::uint64_t tag, std::uint32_t part);
  /// The tag is not there any more; its entry stays in its place until it is replaced.
  void remove(std::uint64_t tag);
  void add_parts(std::uint64_t tag, std::uint32_t parts);
  [[nodiscard]] std::size_t touched_sets() const noexcept;
  [[nodiscard]] std::size_t unfilled_sets() const noexcept;

 private:
  static constexpr std::uint32_t k_none = 0xFFFFFFFF;

  /// An entry in its set's list, newest first.
  struct Entry {
    std::uint64_t tag = 0;
    std::uint32_t parts = 0;
    std::uint32_t newer = k_none;
    std::uint32_t older = k_none;
  };
  struct Set {
    std::uint32_t newest = k_none;
    std::uint32_t oldest = k_none;
    std::uint32_t used = 0;
  };

  [[nodiscard]] std::uint32_t home(std::uint64_t tag) const noexcept;
  [[nodiscard]] std::uint32_t find_slot(std::uint64_t tag) const noexcept;
  void remove_slot(std::uint32_t slot) noexcept;
  void unlink(Set& set, std::uint32_t index) noexcept;
  void push_newest(Set& set, std::uint32_t index) noexcept;

  std::uint32_t m_ways;
  Replacement m_policy;
  std::uint32_t m_slot_mask;
  std::vector<Entry> m_entries;
  std::vector<Set> m_sets;
  std::vector<std::uint32_t> m_slots;  ///< open addressing, at most half full: entry index or k_none
  Random m_random{0};
  bool m_clean = true;
  std::uint64_t m_removed = 0;
};

}  // namespace gpusonde::sim
