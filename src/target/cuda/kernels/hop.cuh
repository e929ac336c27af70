// The hop: one dependent load. A load path says how a word is loaded, a chain says where the next one is.
#pragma once

#include "kernels/device.cuh"

// `load_if`: 4, 8 or 16 bytes, or none; the low word of what came.
#define GPUSONDE_LOAD_PATH(name, space_and_operator)                                                               \
  struct name {                                                                                                    \
    GPUSONDE_DEVICE u64 load64(u64 address) {                                                                      \
      u64 value;                                                                                                   \
      asm volatile("ld." space_and_operator ".u64 %0, [%1];" : "=l"(value) : "l"(address) : "memory");             \
      return value;                                                                                                \
    }                                                                                                              \
    GPUSONDE_DEVICE u32 load32(u64 address) {                                                                      \
      u32 value;                                                                                                   \
      asm volatile("ld." space_and_operator ".u32 %0, [%1];" : "=r"(value) : "l"(address) : "memory");             \
      return value;                                                                                                \
    }                                                                                                              \
    template <u32 Bytes>                                                                                           \
    GPUSONDE_DEVICE u32 load_if(u64 address, u32 wanted) {                                                         \
      u64 low = 0;                                                                                                 \
      u64 high = 0;                                                                                                \
      u32 word = 0;                                                                                                \
      if constexpr (Bytes == 16)                                                                                   \
        asm volatile("{ .reg .pred p; setp.ne.u32 p, %3, 0; @p ld." space_and_operator ".v2.u64 {%0, %1}, [%2]; }" \
                     : "+l"(low), "+l"(high)                                                                       \
                     : "l"(address), "r"(wanted)                                                                   \
                     : "memory");                                                                                  \
      else if constexpr (Bytes == 8)                                                                               \
        asm volatile("{ .reg .pred p; setp.ne.u32 p, %2, 0; @p ld." space_and_operator ".u64 %0, [%1]; }"          \
                     : "+l"(low)                                                                                   \
                     : "l"(address), "r"(wanted)                                                                   \
                     : "memory");                                                                                  \
      else                                                                                                         \
        asm volatile("{ .reg .pred p; setp.ne.u32 p, %2, 0; @p ld." space_and_operator ".u32 %0, [%1]; }"          \
                     : "+r"(word)                                                                                  \
                     : "l"(address), "r"(wanted)                                                                   \
                     : "memory");                                                                                  \
      return Bytes == 4 ? word : static_cast<u32>(low ^ high);                                                     \
    }                                                                                                              \
  }
GPUSONDE_LOAD_PATH(Ca, "global.ca");
GPUSONDE_LOAD_PATH(Cg, "global.cg");
GPUSONDE_LOAD_PATH(Cv, "global.cv");
GPUSONDE_LOAD_PATH(Nc, "global.nc");

// Shared memory is addressed with 32 bits; a pointer chain there still has 64-bit nodes, so that both
// kinds of chain can be compared across paths.
struct Shared {
  GPUSONDE_DEVICE u64 load64(u64 address) {
    u64 value;
    asm volatile("ld.shared.u64 %0, [%1];" : "=l"(value) : "r"(static_cast<u32>(address)) : "memory");
    return value;
  }
  GPUSONDE_DEVICE u32 load32(u64 address) {
    u32 value;
    asm volatile("ld.shared.u32 %0, [%1];" : "=r"(value) : "r"(static_cast<u32>(address)) : "memory");
    return value;
  }
};

// A chain's position and its byte offset from `base` can be had from each other.

// p = *(u64*)p
template <class Path>
struct PointerChain {
  using Position = u64;
  static constexpr u32 k_never = 1;  // addresses are multiples of 8
  GPUSONDE_DEVICE Position at(u64 base, u64 offset) { return base + offset; }
  GPUSONDE_DEVICE u64 offset(u64 base, Position p) { return p - base; }
  GPUSONDE_DEVICE Position next(u64, Position p) { return Path::load64(p); }
};

// i = base[i]
template <class Path>
struct IndexChain {
  using Position = u32;
  static constexpr u32 k_never = 0xFFFFFFFFU;  // the last element has a smaller number
  GPUSONDE_DEVICE Position at(u64, u64 offset) { return static_cast<u32>(offset / 4); }
  GPUSONDE_DEVICE u64 offset(u64, Position i) { return static_cast<u64>(i) * 4; }
  GPUSONDE_DEVICE Position next(u64 base, Position i) { return Path::load32(base + static_cast<u64>(i) * 4); }
};
