// Blocks that begin together, and the times of all of them put together.
#pragma once

#include "kernels/device.cuh"
#include "target/cuda/kernel_parameters.hpp"

// Blocks that wait for each other wait no longer than this: another program may hold an SM.
constexpr u64 k_longest_wait_cycles = 500000000;

// Called by all threads of all blocks. A block that waits in vain says so, and goes on.
GPUSONDE_DEVICE void begin_together(u64 result) {
  using gpusonde::cuda::LoadsResult;
  block_barrier();
  if (thread_index() == 0) {
    const u64 arrived_at = result + __builtin_offsetof(LoadsResult, arrived);
    asm volatile("red.global.add.u32 [%0], 1;" ::"l"(arrived_at) : "memory");
    const u64 begin = clock_cycles();
    u32 arrived;
    do {
      asm volatile("atom.global.or.b32 %0, [%1], 0;" : "=r"(arrived) : "l"(arrived_at) : "memory");
    } while (arrived < grid_blocks() && clock_cycles() - begin < k_longest_wait_cycles);
    if (arrived < grid_blocks())
      asm volatile("red.global.add.u32 [%0], 1;" ::"l"(result + __builtin_offsetof(LoadsResult, gave_up)) : "memory");
  }
  block_barrier();
}

GPUSONDE_DEVICE void add_times(u64 result, u64 cycles, u64 ns_before, u64 ns_after) {
  using gpusonde::cuda::LoadsResult;
  const u64 sum = result + __builtin_offsetof(LoadsResult, sum_cycles);
  const u64 most = result + __builtin_offsetof(LoadsResult, most_cycles);
  const u64 first = result + __builtin_offsetof(LoadsResult, first_ns);
  const u64 last = result + __builtin_offsetof(LoadsResult, last_ns);
  asm volatile("red.global.add.u64 [%0], %1;" ::"l"(sum), "l"(cycles) : "memory");
  asm volatile("red.global.max.u64 [%0], %1;" ::"l"(most), "l"(cycles) : "memory");
  asm volatile("red.global.min.u64 [%0], %1;" ::"l"(first), "l"(ns_before) : "memory");
  asm volatile("red.global.max.u64 [%0], %1;" ::"l"(last), "l"(ns_after) : "memory");
}
