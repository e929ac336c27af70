#include "fake_virtual_memory.hpp"

#include <algorithm>
#include <iterator>

namespace gpusonde::cuda::test {
namespace {

FakeVirtualMemory* g_fake = nullptr;
constexpr DriverResult k_invalid_value = 1;
constexpr DevicePointer k_first_address = DevicePointer{1} << 45;  // no memory of a host process lies there

DriverResult misuse() {
  ++g_fake->misuses;
  return k_invalid_value;
}

bool is_wrong(const PhysicalProperties& p) {
  return p.type != k_pinned_memory || p.location.type != k_on_device || p.win32_handle_meta_data != nullptr;
}

DriverResult get_granularity(std::size_t* bytes, const PhysicalProperties* properties, int option) {
  if (is_wrong(*properties) || option != k_minimum_granularity) return misuse();
  *bytes = g_fake->granularity;
  return k_success;
}

DriverResult create(PhysicalHandle* handle, std::size_t bytes, const PhysicalProperties* properties,
                    unsigned long long flags) {
  if (is_wrong(*properties) || flags != 0 || bytes == 0 || bytes % g_fake->granularity != 0) return misuse();
  if (g_fake->create_result != k_success) return g_fake->create_result;
  *handle = g_fake->next_handle++;
  g_fake->handles.emplace(*handle, std::vector<std::uint8_t>(bytes, 0xAA));
  return k_success;
}

// Aligned to an odd multiple of what is asked for, so that nothing is aligned any further by chance.
DriverResult reserve(DevicePointer* address, std::size_t bytes, std::size_t alignment, DevicePointer wanted,
                     unsigned long long flags) {
  if (wanted != 0 || flags != 0 || bytes % g_fake->granularity != 0) return misuse();
  if (bytes > g_fake->largest_reservation) return k_out_of_memory;
  if (alignment > g_fake->largest_alignment) return k_invalid_value;
  const auto unit = std::max(alignment, g_fake->granularity);
  if (g_fake->reservations.empty()) g_fake->next_address = k_first_address;
  *address = (g_fake->next_address + unit - 1) / unit * unit;
  if (*address / unit % 2 == 0) *address += unit;
  g_fake->next_address = *address + bytes + g_fake->granularity;
  g_fake->reservations.emplace(*address, bytes);
  return k_success;
}

DriverResult free_addresses(DevicePointer address, std::size_t bytes) {
  const auto reservation = g_fake->reservations.find(address);
  if (reservation == g_fake->reservations.end() || reservation->second != bytes) return misuse();
  const auto mapping = g_fake->mappings.lower_bound(address);
  if (mapping != g_fake->mappings.end() && mapping->first < address + bytes) return misuse();
  g_fake->reservations.erase(reservation);
  return k_success;
}

bool refuses() {
  if (g_fake->refused_mapping <= 1) return g_fake->refused_mapping == 1;
  --g_fake->refused_mapping;
  return false;
}

DriverResult map(DevicePointer address, std::size_t bytes, std::size_t offset, PhysicalHandle handle,
                 unsigned long long flags) {
  const auto memory = g_fake->handles.find(handle);
  if (memory == g_fake->handles.end() || memory->second.size() != bytes || offset != 0 || flags != 0 ||
      address % g_fake->granularity != 0 || !g_fake->is_reserved(address) ||
      !g_fake->is_reserved(address + bytes - 1) || g_fake->mappings.contains(address))
    return misuse();
  if (!g_fake->refuse_access && refuses()) return k_out_of_memory;
  g_fake->mappings.emplace(address, FakeVirtualMemory::Mapping{handle, false});
  ++g_fake->mapped_ever;
  return k_success;
}

DriverResult set_access(DevicePointer address, std::size_t bytes, const MemoryAccess* access, std::size_t count) {
  const auto mapping = g_fake->mappings.find(address);
  if (mapping == g_fake->mappings.end() || bytes != g_fake->handles.at(mapping->second.handle).size() || count != 1 ||
      access->location.type != k_on_device || access->flags != k_read_and_write)
    return misuse();
  if (g_fake->refuse_access && refuses()) return k_out_of_memory;
  mapping->second.accessible = true;
  return k_success;
}

}  // namespace

FakeVirtualMemory::FakeVirtualMemory() { g_fake = this; }
FakeVirtualMemory::~FakeVirtualMemory() { g_fake = nullptr; }

void FakeVirtualMemory::fill(DriverTable& t) {
  t.mem_get_allocation_granularity = get_granularity;
  t.mem_create = create;
  t.mem_release = [](PhysicalHandle handle) { return g_fake->handles.erase(handle) == 1 ? k_success : misuse(); };
  t.mem_address_reserve = reserve;
  t.mem_address_free = free_addresses;
  t.mem_map = map;
  t.mem_unmap = [](DevicePointer address, std::size_t) {
    if (g_fake->on_unmap) g_fake->on_unmap();
    return g_fake->mappings.erase(address) == 1 ? k_success : misuse();
  };
  t.mem_set_access = set_access;
}

bool FakeVirtualMemory::is_reserved(DevicePointer address) const {
  auto behind = reservations.upper_bound(address);
  return behind != reservations.begin() && address - std::prev(behind)->first < std::prev(behind)->second;
}

void* FakeVirtualMemory::host(std::uint64_t address) {
  if (!is_reserved(address)) return reinterpret_cast<void*>(address);
  const auto behind = mappings.upper_bound(address);
  if (behind != mappings.begin()) {
    const auto& [start, mapping] = *std::prev(behind);
    if (auto& memory = handles.at(mapping.handle); address - start < memory.size() && mapping.accessible)
      return memory.data() + (address - start);
  }
  ++misuses;
  return nullptr;
}

}  // namespace gpusonde::cuda::test
