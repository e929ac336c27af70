// One physical page under many virtual ones, mapped on demand: what Region::aliases is made of.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "target/cuda/virtual_memory.hpp"
#include "target/target.hpp"

namespace gpusonde::cuda {

/// Every call needs the GPU's context to be current; the context outlives it.
class AliasMemory {
 public:
  AliasMemory(const DriverTable& driver, Device device) : m_driver(driver), m_device(device) {}
  AliasMemory(const AliasMemory&) = delete;
  AliasMemory& operator=(const AliasMemory&) = delete;
  ~AliasMemory();

  /// Reserved when first asked for; a refusal is remembered.
  [[nodiscard]] const AliasSpace& space();

  /// Maps the pages of these places that are not mapped yet. Where that would be more pages than the space
  /// may have, and where a mapping fails, all others are undone first. Precondition: space() has pages, of
  /// which all places are. Errors: measurement.
  [[nodiscard]] Result<void> map(const std::vector<std::uint64_t>& places);
  void unmap_all();

  /// Address of place 0. Precondition, as of `home`: space() has pages.
  [[nodiscard]] DevicePointer base() const noexcept { return m_base; }
  /// Another mapping of the page, for reaching its bytes without a translation of any place.
  [[nodiscard]] DevicePointer home() const noexcept { return m_home->address(); }

 private:
  [[nodiscard]] Result<void> open();
  [[nodiscard]] Result<void> reserve_span();
  /// Pages of the places, in ascending order, each once.
  [[nodiscard]] std::vector<std::uint64_t> pages_of(const std::vector<std::uint64_t>& places) const;
  [[nodiscard]] DevicePointer address_of_page(std::uint64_t page) const { return m_base + page * m_space.page_bytes; }
  void close();

  const DriverTable& m_driver;
  Device m_device;
  bool m_asked = false;
  AliasSpace m_space;
  std::optional<PhysicalMemory> m_page;
  std::optional<AddressRange> m_home;
  bool m_home_is_mapped = false;
  std::optional<AddressRange> m_span;
  DevicePointer m_base = 0;
  std::vector<std::uint64_t> m_mapped;  ///< pages in ascending order
};

}  // namespace gpusonde::cuda
