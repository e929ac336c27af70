// Many small tests of what is still in a cache, in one launch: each a few steps that load places in no order, one
// after the other, or one after the other with a reading each; or one load of a warp with a place for each lane.
//
// The list of places is read past L1. Readings are added to zeroed memory by reductions, which L2 carries out.
#pragma once

#include "kernels/hop.cuh"
#include "target/cuda/kernel_parameters.hpp"

// Empties the SM's L1: an acquire at the GPU's scope must not see what was there before.
GPUSONDE_DEVICE void drop_l1() { asm volatile("fence.acq_rel.gpu;" ::: "memory"); }

GPUSONDE_DEVICE u64 place_address(const gpusonde::cuda::SequenceParameters& p, u32 index) {
  return p.base + Cg::load64(p.places + 8ULL * index);
}

// Four loads of a thread are under way at a time.
template <class Path>
GPUSONDE_DEVICE void touch_places(const gpusonde::cuda::SequenceParameters& p, u32 first, u32 count) {
  const u32 threads = block_threads();
  u64 seen = 0;
  u32 i = thread_index();
#pragma unroll 1
  for (; i + 3 * threads < count; i += 4 * threads) {
    u64 address[4];
    u64 value[4];
#pragma unroll
    for (u32 k = 0; k < 4; ++k) address[k] = place_address(p, first + i + k * threads);
#pragma unroll
    for (u32 k = 0; k < 4; ++k) value[k] = Path::load64(address[k]);
#pragma unroll
    for (u32 k = 0; k < 4; ++k) seen ^= value[k];
  }
#pragma unroll 1
  for (; i < count; i += threads) seen ^= Path::load64(place_address(p, first + i));
  wait_for(static_cast<u32>(seen), 0x9E3779B9U, p.sink);
}

template <class Path>
GPUSONDE_DEVICE void walk_places(const gpusonde::cuda::SequenceParameters& p, u32 first, u32 count) {
#pragma unroll 1
  for (u32 i = 0; i < count; ++i)
    wait_for(static_cast<u32>(Path::load64(place_address(p, first + i))), 0x9E3779B9U, p.sink);
}

GPUSONDE_DEVICE void store_reading(const gpusonde::cuda::SequenceParameters& p, u32 reading, u32 elapsed, u32 start) {
  asm volatile("red.global.add.u32 [%0], %1;" ::"l"(p.readings + 4ULL * reading), "r"(elapsed) : "memory");
  if (p.starts != 0)
    asm volatile("red.global.add.u32 [%0], %1;" ::"l"(p.starts + 4ULL * reading), "r"(start) : "memory");
}

template <class Path>
GPUSONDE_DEVICE u32 time_places(const gpusonde::cuda::SequenceParameters& p, u32 first, u32 count, u32 reading) {
#pragma unroll 1
  for (u32 i = 0; i < count; ++i) {
    do_not_unroll();
    const u64 address = place_address(p, first + i);
    wait_for(static_cast<u32>(address), 0x9E3779B9U, p.sink);
    const u32 before = clock_cycles_low();
    const u64 value = Path::load64(address);
    wait_for(static_cast<u32>(value), 0x9E3779B9U, p.sink);
    const u32 elapsed = clock_cycles_low() - before;
    store_reading(p, reading, elapsed, before);
    ++reading;
  }
  return reading;
}

GPUSONDE_DEVICE void warp_barrier() { asm volatile("bar.warp.sync 0xffffffff;" ::: "memory"); }

// The largest value of a warp's lanes.
GPUSONDE_DEVICE u32 warp_max(u32 value) {
#pragma unroll
  for (u32 step = 16; step != 0; step /= 2) {
    u32 other;
    asm volatile("shfl.sync.bfly.b32 %0, %1, %2, 31, 0xffffffff;" : "=r"(other) : "r"(value), "r"(step));
    value = other > value ? other : value;
  }
  return value;
}

// A load of a warp is one instruction, so what uses its result waits for all lanes; lanes beyond `count` load nothing.
template <class Path, u32 Bytes>
GPUSONDE_DEVICE u32 gather_places(const gpusonde::cuda::SequenceParameters& p, u32 first, u32 count, u32 reading) {
  const u32 lane = thread_index();
  const u32 loads = lane < count ? 1 : 0;
  const u64 address = place_address(p, first + (loads != 0 ? lane : 0));
  wait_for(static_cast<u32>(address), 0x9E3779B9U, p.sink);
  warp_barrier();
  const u32 before = clock_cycles_low();
  const u32 value = Path::template load_if<Bytes>(address, loads);
  wait_for(value, 0x9E3779B9U, p.sink);
  const u32 elapsed = clock_cycles_low() - before;
  warp_barrier();
  const u32 slowest = warp_max(elapsed);
  if (lane == 0) store_reading(p, reading, slowest, before);
  return reading + 1;
}

// By the first warp.
template <class Path>
GPUSONDE_DEVICE u32 gather(const gpusonde::cuda::SequenceParameters& p, u32 first, u32 count, u32 reading) {
  if (p.lane_bytes == 16) return gather_places<Path, 16>(p, first, count, reading);
  if (p.lane_bytes == 4) return gather_places<Path, 4>(p, first, count, reading);
  return gather_places<Path, 8>(p, first, count, reading);
}

// A line's data are given up, in L2 too, without being written back: PTX 7.4 and sm_80. Precondition: nobody needs
// them.
GPUSONDE_DEVICE void drop_places(const gpusonde::cuda::SequenceParameters& p, u32 first, u32 count) {
  for (u32 i = thread_index(); i < count; i += block_threads()) {
    const u64 line = place_address(p, first + i) & ~127ULL;
    asm volatile("discard.global.L2 [%0], 128;" ::"l"(line) : "memory");
  }
  asm volatile("fence.acq_rel.gpu;" ::: "memory");
}

// `Drops`: whether the module's architecture has the instruction.
template <class Path, bool Drops>
GPUSONDE_DEVICE void run_test(const gpusonde::cuda::SequenceParameters& p, u32 test) {
  const u64 words = p.tests + 16ULL * test;
  const u32 end_step = Cg::load32(words + 4);
  u32 reading = Cg::load32(words + 8);
  drop_l1();
  block_barrier();
#pragma unroll 1
  for (u32 step = Cg::load32(words); step < end_step; ++step) {
    const u64 step_words = p.steps + 16ULL * step;
    const u32 kind = Cg::load32(step_words);
    const u32 first = Cg::load32(step_words + 4);
    const u32 count = Cg::load32(step_words + 8);
    const u32 times = Cg::load32(step_words + 12);
#pragma unroll 1
    for (u32 turn = 0; turn < times; ++turn) {
      if (kind == 0)
        touch_places<Path>(p, first, count);
      else if (thread_index() == 0 && kind == 1)
        walk_places<Path>(p, first, count);
      else if (kind == 3) {
        if constexpr (Drops) drop_places(p, first, count);
      } else if (kind == 4) {
        if (thread_index() < 32) reading = gather<Path>(p, first, count, reading);
      } else if (thread_index() == 0)
        reading = time_places<Path>(p, first, count, reading);
      block_barrier();
    }
  }
}

// Two blocks of one SM would disturb each other's L1: the first one works, the others leave.
GPUSONDE_DEVICE bool take_sm(const gpusonde::cuda::SequenceParameters& p) {
  const u32 sm = sm_index();
  if (p.sm != gpusonde::cuda::k_any_sm && p.sm != sm) return false;
  bool mine = false;
  if (thread_index() == 0) {
    u32 before;
    asm volatile("atom.global.exch.b32 %0, [%1], 1;" : "=r"(before) : "l"(p.taken + 4ULL * sm) : "memory");
    mine = before == 0;
  }
  return block_any(mine);
}

template <class Path, bool Drops>
GPUSONDE_DEVICE void run_tests(const gpusonde::cuda::SequenceParameters& p) {
  if (!take_sm(p)) return;
  __shared__ u32 taken;
  for (;;) {
    if (thread_index() == 0) {
      u32 before;
      asm volatile("atom.global.add.u32 %0, [%1], 1;" : "=r"(before) : "l"(p.claimed) : "memory");
      taken = p.first_test + before;
    }
    block_barrier();
    const u32 test = taken;
    block_barrier();
    if (test >= p.end_test) return;
    run_test<Path, Drops>(p, test);
  }
}

#define GPUSONDE_SEQUENCE(name, path, drops) \
  GPUSONDE_KERNEL sequence_##name(const gpusonde::cuda::SequenceParameters p) { run_tests<path, drops>(p); }
