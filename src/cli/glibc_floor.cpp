// Keeps the released binary loadable on glibc 2.34. libstdc++ and libgcc are linked statically, and
// where they were built against a newer glibc they ask for two functions that 2.34 does not have:
// `arc4random` (2.36) and `_dl_find_object` (2.35). Both are defined here, hidden, so that the linker
// takes these and no other library in the process ever sees them.
#if defined(__linux__)

#include <dlfcn.h>
#include <link.h>
#include <sys/random.h>

#include <cerrno>
#include <cstdint>
#include <cstdlib>

/// Random bits from the kernel. Like glibc's own it does not fail: without a kernel source it aborts.
extern "C" __attribute__((visibility("hidden"), used)) std::uint32_t arc4random() noexcept {
  std::uint32_t value = 0;
  auto* next = reinterpret_cast<unsigned char*>(&value);
  std::size_t left = sizeof value;
  while (left != 0) {
    const ssize_t got = getrandom(next, left, 0);
    if (got < 0) {
      if (errno == EINTR) continue;
      std::abort();
    }
    next += got;
    left -= static_cast<std::size_t>(got);
  }
  return value;
}

// glibc 2.35 and newer declare the structure; an older one has a libgcc that does not ask for it.
#if defined(DLFO_STRUCT_HAS_EH_DBASE) && defined(DLFO_STRUCT_HAS_EH_COUNT) && !DLFO_STRUCT_HAS_EH_DBASE && \
    !DLFO_STRUCT_HAS_EH_COUNT

namespace {

struct ObjectSearch {
  std::uintptr_t address = 0;
  dl_find_object* result = nullptr;
};

/// dl_iterate_phdr callback: 1 ends the walk at the object whose loaded segments hold the address.
int match_object(dl_phdr_info* info, std::size_t /*size*/, void* data) {
  auto& search = *static_cast<ObjectSearch*>(data);
  bool found = false;
  std::uintptr_t map_end = 0;
  std::uintptr_t unwind_table = 0;
  for (std::size_t i = 0; i < info->dlpi_phnum; ++i) {
    const auto& header = info->dlpi_phdr[i];
    const std::uintptr_t begin = info->dlpi_addr + header.p_vaddr;
    if (header.p_type == PT_GNU_EH_FRAME) unwind_table = begin;
    if (header.p_type != PT_LOAD) continue;
    const std::uintptr_t end = begin + header.p_memsz;
    if (end > map_end) map_end = end;
    if (search.address >= begin && search.address < end) found = true;
  }
  if (!found || unwind_table == 0) return 0;
  search.result->dlfo_map_start = reinterpret_cast<void*>(info->dlpi_addr);
  search.result->dlfo_map_end = reinterpret_cast<void*>(map_end);
  search.result->dlfo_link_map = nullptr;  // the unwinder does not read it
  search.result->dlfo_eh_frame = reinterpret_cast<void*>(unwind_table);
  return 1;
}

}  // namespace

/// What the unwinder asks for: the object that holds a program counter, and its `.eh_frame_hdr`.
extern "C" __attribute__((visibility("hidden"), used)) int _dl_find_object(void* pc, dl_find_object* result) noexcept {
  ObjectSearch search{reinterpret_cast<std::uintptr_t>(pc), result};
  return dl_iterate_phdr(match_object, &search) == 1 ? 0 : -1;
}

#endif
#endif
