// Physical memory and virtual addresses apart, as the driver's virtual memory management has them: owners
// of both, released when they go out of scope. Only for a driver whose table has_virtual_memory().
#pragma once

#include <utility>

#include "target/cuda/driver_table.hpp"

namespace gpusonde::cuda {

/// Memory of a GPU without an address.
class PhysicalMemory {
 public:
  /// The smallest piece that can be allocated and mapped. Errors: measurement.
  [[nodiscard]] static Result<std::size_t> granularity(const DriverTable& driver, Device device);
  /// `bytes` a multiple of the granularity. Errors: measurement.
  [[nodiscard]] static Result<PhysicalMemory> allocate(const DriverTable& driver, Device device, std::size_t bytes);
  PhysicalMemory(PhysicalMemory&& other) noexcept
      : m_driver(other.m_driver),
        m_device(other.m_device),
        m_handle(std::exchange(other.m_handle, 0)),
        m_bytes(other.m_bytes) {}
  PhysicalMemory& operator=(PhysicalMemory&&) = delete;
  ~PhysicalMemory();

  [[nodiscard]] std::size_t bytes() const noexcept { return m_bytes; }
  /// Maps all of it at `address`, to be read and written; what failed leaves nothing mapped there.
  [[nodiscard]] DriverResult map_at(DevicePointer address) const;
  void unmap_at(DevicePointer address) const;

 private:
  PhysicalMemory(const DriverTable& driver, Device device, PhysicalHandle handle, std::size_t bytes)
      : m_driver(&driver), m_device(device), m_handle(handle), m_bytes(bytes) {}
  const DriverTable* m_driver;
  Device m_device;
  PhysicalHandle m_handle;
  std::size_t m_bytes;
};

/// Virtual addresses that no memory is mapped to. What was mapped must be unmapped before it goes.
class AddressRange {
 public:
  /// Errors: measurement.
  [[nodiscard]] static Result<AddressRange> reserve(const DriverTable& driver, std::size_t bytes,
                                                    std::size_t alignment);
  AddressRange(AddressRange&& other) noexcept
      : m_driver(other.m_driver), m_address(std::exchange(other.m_address, 0)), m_bytes(other.m_bytes) {}
  AddressRange& operator=(AddressRange&&) = delete;
  ~AddressRange();

  [[nodiscard]] DevicePointer address() const noexcept { return m_address; }
  [[nodiscard]] std::size_t bytes() const noexcept { return m_bytes; }

 private:
  AddressRange(const DriverTable& driver, DevicePointer address, std::size_t bytes)
      : m_driver(&driver), m_address(address), m_bytes(bytes) {}
  const DriverTable* m_driver;
  DevicePointer m_address;
  std::size_t m_bytes;
};

}  // namespace gpusonde::cuda
