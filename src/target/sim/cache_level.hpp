// One cache as a load sees it: where an address belongs in it, whether it is there, and what a hit costs.
#pragma once

#include <bit>
#include <cstdint>
#include <vector>

#include "core/random.hpp"
#include "model/device_model.hpp"
#include "target/sim/tag_store.hpp"

namespace gpusonde::sim {

/// An address in both spaces.
struct Address {
  std::uint64_t virtual_bytes = 0;
  std::uint64_t physical_bytes = 0;
};

class CacheLevel {
 public:
  CacheLevel(const CacheModel& model, double sm_mhz);

  /// Empties the cache for an experiment with this many sets a slice. Precondition: sets <= the model's.
  void reset(std::uint32_t sets, Random random);
  void set_distances(std::vector<double> cycles_by_slice) { m_distance_cycles = std::move(cycles_by_slice); }

  [[nodiscard]] bool translated() const noexcept { return m_physical_index || m_physical_tag; }
  [[nodiscard]] bool allocates_cg() const noexcept { return m_allocates_cg; }

  [[nodiscard]] std::uint32_t slice(const Address& address) const noexcept {
    return m_slices == 1 ? 0 : below(m_slice_function(index_address(address)), m_slices);
  }
  /// Set among those of all slices.
  [[nodiscard]] std::uint32_t set(const Address& address, std::uint32_t slice) const noexcept {
    return slice * m_sets + below(m_set_function(index_address(address)), m_sets);
  }

  /// True if the sector is there; afterwards it is. Precondition: `set` belongs to the address.
  bool access(std::uint32_t set, std::uint64_t virtual_bytes, std::uint64_t physical_bytes) {
    const std::uint64_t address = m_physical_tag ? physical_bytes : virtual_bytes;
    const std::uint64_t sector = address >> m_sector_shift & m_sector_mask;
    const bool hit = m_store.access(set, address >> m_line_shift, 1U << sector);
    // What the level below sends comes in aligned blocks of sectors.
    if (!hit && m_fetch_sectors > 1)
      m_store.add_parts(set, address >> m_line_shift,
                        ((1U << m_fetch_sectors) - 1) << (sector & ~(m_fetch_sectors - 1)));
    return hit;
  }
  void drop(std::uint32_t set, std::uint64_t virtual_bytes, std::uint64_t physical_bytes) {
    m_store.remove(set, (m_physical_tag ? physical_bytes : virtual_bytes) >> m_line_shift);
  }
  /// Bytes that a miss brings: a power of two from a sector to a line; 0: the model's.
  void set_fetch_bytes(std::uint32_t bytes) noexcept;
  [[nodiscard]] std::uint32_t fetch_sectors() const noexcept { return static_cast<std::uint32_t>(m_fetch_sectors); }
  [[nodiscard]] bool fetches_blocks() const noexcept { return m_model_fetch_sectors > 1; }
  [[nodiscard]] std::uint32_t slices() const noexcept { return m_slices; }
  [[nodiscard]] std::uint32_t home(const Address& address) const noexcept {
    return m_partitions == 1 ? 0 : below(m_home_function(index_address(address)), m_partitions);
  }
  [[nodiscard]] double hit_cycles(std::uint32_t slice) const noexcept {
    return m_hit_cycles + m_distance_cycles[slice];
  }
  [[nodiscard]] double distance_cycles(std::uint32_t slice) const noexcept { return m_distance_cycles[slice]; }

  [[nodiscard]] const TagStore& store() const noexcept { return m_store; }

 private:
  /// What the model's functions take: the line's first byte.
  [[nodiscard]] std::uint64_t index_address(const Address& address) const noexcept {
    return (m_physical_index ? address.physical_bytes : address.virtual_bytes) >> m_line_shift << m_line_shift;
  }
  /// value % bound, cheap where the value is below already.
  [[nodiscard]] static std::uint32_t below(std::uint32_t value, std::uint32_t bound) noexcept {
    return value < bound ? value : value % bound;
  }

  unsigned m_line_shift;
  unsigned m_sector_shift;
  std::uint64_t m_sector_mask;
  std::uint32_t m_sets;
  std::uint32_t m_slices;
  std::uint32_t m_partitions;
  std::uint64_t m_model_fetch_sectors;
  std::uint64_t m_fetch_sectors;
  bool m_physical_index;
  bool m_physical_tag;
  bool m_allocates_cg;
  double m_hit_cycles;
  AddressFunction m_set_function;
  AddressFunction m_slice_function;
  AddressFunction m_home_function;
  TagStore m_store;
  std::vector<double> m_distance_cycles;
};

}  // namespace gpusonde::sim
