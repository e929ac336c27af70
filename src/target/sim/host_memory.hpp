// Memory of the simulator itself, laid out for random access: aligned to the host's cache lines, and in
// large pages where the system gives them.
#pragma once

#include <cstddef>
#include <new>
#include <vector>

#if defined(__linux__)
#include <sys/mman.h>
#endif

namespace gpusonde::sim {

template <class T>
struct HostAllocator {
  using value_type = T;

  HostAllocator() = default;
  template <class U>
  explicit HostAllocator(const HostAllocator<U>&) noexcept {}

  [[nodiscard]] T* allocate(std::size_t count) {
    const std::size_t bytes = count * sizeof(T);
    void* memory = ::operator new(bytes, alignment(bytes));
#if defined(__linux__)
    // A wish: without it the host's own TLB misses would cost more than the simulation.
    if (bytes >= k_large_page_bytes) (void)madvise(memory, bytes, MADV_HUGEPAGE);
#endif
    return static_cast<T*>(memory);
  }
  void deallocate(T* memory, std::size_t count) noexcept { ::operator delete(memory, alignment(count * sizeof(T))); }
  bool operator==(const HostAllocator&) const noexcept { return true; }

 private:
  static constexpr std::size_t k_line_bytes = 64;
  static constexpr std::size_t k_large_page_bytes = 2 << 20;
  static std::align_val_t alignment(std::size_t bytes) noexcept {
    return std::align_val_t{bytes >= k_large_page_bytes ? k_large_page_bytes : k_line_bytes};
  }
};

template <class T>
using HostVector = std::vector<T, HostAllocator<T>>;

}  // namespace gpusonde::sim
