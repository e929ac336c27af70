// The hop: one dependent load. A load path says how a word is loaded, a chain says where the next one is.
#pragma once

#include "kernels/device.cuh"

#define GPUSONDE_LOAD_PATH(name, space_and_operator)                                                   \
  struct name {                                                                                        \
    GPUSONDE_DEVICE u64 load64(u64 address) {                                                          \
      u64 value;                                                                                       \
      asm volatile("ld." space_and_operator ".u64 %0, [%1];" : "=l"(value) : "l"(address) : "memory"); \
      return value;                                                                                    \
    }                                                                                                  \
    GPUSONDE_DEVICE u32 load32(u64 address) {                                                          \
      u32 value;                                                                                       \
      asm volatile("ld." space_and_operator ".u32 %0, [%1];" : "=r"(value) : "l"(address) : "memory"); \
      return value;                                                                                    \
    }                                                                                                  \
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
