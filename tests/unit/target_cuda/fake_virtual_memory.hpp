// The driver's virtual memory management without a GPU: addresses are plain numbers, far from any of the
// host's, that lead to host memory once they are mapped.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <vector>

#include "target/cuda/driver_table.hpp"

namespace gpusonde::cuda::test {

/// What the fake is to do, and what it saw. One at a time, as for FakeDriver, which has one.
struct FakeVirtualMemory {
  FakeVirtualMemory();
  ~FakeVirtualMemory();
  FakeVirtualMemory(const FakeVirtualMemory&) = delete;
  FakeVirtualMemory& operator=(const FakeVirtualMemory&) = delete;
  void fill(DriverTable& table);

  struct Mapping {
    PhysicalHandle handle = 0;
    bool accessible = false;
  };

  bool supported = true;
  std::size_t granularity = std::size_t{2} << 20;
  std::size_t largest_reservation = ~std::size_t{0};
  std::size_t largest_alignment = std::size_t{1} << 30;
  DriverResult create_result = k_success;
  std::size_t refused_mapping = 0;  ///< this mapping from now on is refused, with all that follow; 0: none
  bool refuse_access = false;       ///< what is refused is then the access, after the mapping
  std::function<void()> on_unmap;

  std::map<PhysicalHandle, std::vector<std::uint8_t>> handles;
  std::map<DevicePointer, std::size_t> reservations;
  std::map<DevicePointer, Mapping> mappings;
  std::size_t mapped_ever = 0;
  int misuses = 0;  ///< calls that a driver refuses or leaks by, and accesses where nothing is mapped

  /// Host memory behind an address of a reservation; other addresses are the host's own. Null where
  /// nothing can be accessed.
  [[nodiscard]] void* host(std::uint64_t address);
  [[nodiscard]] bool is_reserved(DevicePointer address) const;

  DevicePointer next_address = 0;
  PhysicalHandle next_handle = 1;
};

}  // namespace gpusonde::cuda::test
