#include "target/cuda/virtual_memory.hpp"

#include <fmt/format.h>

#include "core/units.hpp"

namespace gpusonde::cuda {
namespace {

PhysicalProperties properties_on(Device device) {
  PhysicalProperties properties;
  properties.type = k_pinned_memory;
  properties.location = {k_on_device, device};
  return properties;
}

}  // namespace

Result<std::size_t> PhysicalMemory::granularity(const DriverTable& driver, Device device) {
  const auto properties = properties_on(device);
  std::size_t bytes = 0;
  const auto result = driver.mem_get_allocation_granularity(&bytes, &properties, k_minimum_granularity);
  if (result != k_success || bytes == 0)
    return tl::unexpected(driver_error(driver, result, "cannot ask for the smallest page that can be mapped"));
  return bytes;
}

Result<PhysicalMemory> PhysicalMemory::allocate(const DriverTable& driver, Device device, std::size_t bytes) {
  const auto properties = properties_on(device);
  PhysicalHandle handle = 0;
  if (const auto result = driver.mem_create(&handle, bytes, &properties, 0); result != k_success)
    return tl::unexpected(
        driver_error(driver, result, fmt::format("cannot allocate a page of {}", format_bytes(bytes))));
  return PhysicalMemory(driver, device, handle, bytes);
}

PhysicalMemory::~PhysicalMemory() {
  if (m_handle != 0) m_driver->mem_release(m_handle);
}

DriverResult PhysicalMemory::map_at(DevicePointer address) const {
  if (const auto result = m_driver->mem_map(address, m_bytes, 0, m_handle, 0); result != k_success) return result;
  const MemoryAccess access{{k_on_device, m_device}, k_read_and_write};
  const auto result = m_driver->mem_set_access(address, m_bytes, &access, 1);
  if (result != k_success) unmap_at(address);
  return result;
}

void PhysicalMemory::unmap_at(DevicePointer address) const { m_driver->mem_unmap(address, m_bytes); }

Result<AddressRange> AddressRange::reserve(const DriverTable& driver, std::size_t bytes, std::size_t alignment) {
  DevicePointer address = 0;
  if (const auto result = driver.mem_address_reserve(&address, bytes, alignment, 0, 0); result != k_success)
    return tl::unexpected(
        driver_error(driver, result, fmt::format("cannot reserve {} of virtual addresses", format_bytes(bytes))));
  return AddressRange(driver, address, bytes);
}

AddressRange::~AddressRange() {
  if (m_address != 0) m_driver->mem_address_free(m_address, m_bytes);
}

}  // namespace gpusonde::cuda
