#include "target/cuda/grown_memory.hpp"

#include <algorithm>
#include <bit>

namespace gpusonde::cuda {

Result<DevicePointer> GrownMemory::at_least(std::size_t bytes, std::size_t limit_bytes) {
  if (m_memory && m_memory->bytes() >= bytes) return m_memory->address();
  m_memory.reset();  // before asking for more, so that both need not fit
  // A power of two, so that a sweep upwards allocates rarely.
  auto allocated = DeviceMemory::allocate(m_driver, std::max(bytes, std::min(std::bit_ceil(bytes), limit_bytes)));
  if (!allocated) return tl::unexpected(allocated.error());
  m_memory.emplace(std::move(*allocated));
  return m_memory->address();
}

}  // namespace gpusonde::cuda
