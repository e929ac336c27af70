// What clang without a CUDA toolkit lacks, and the few instructions that must be exactly what they are.
// Everything here compiles with clang (-nocudainc) and with nvcc.
#pragma once

#if defined(__clang__) && !defined(__NVCC__)
#define __global__ __attribute__((global))
#define __device__ __attribute__((device))
#define __shared__ __attribute__((shared))
#define __launch_bounds__(threads, blocks) __attribute__((launch_bounds(threads, blocks)))
#endif

// One block an SM suffices, so registers are never spilled to local memory, which would pass through L1.
#define GPUSONDE_KERNEL extern "C" __global__ __launch_bounds__(1024, 1) void
#define GPUSONDE_DEVICE static __device__ __attribute__((always_inline)) inline

using u64 = unsigned long long;
using u32 = unsigned;
using u16 = unsigned short;

#define GPUSONDE_SPECIAL_REGISTER(name, reg)     \
  GPUSONDE_DEVICE u32 name() {                   \
    u32 value;                                   \
    asm("mov.u32 %0, %%" reg ";" : "=r"(value)); \
    return value;                                \
  }
GPUSONDE_SPECIAL_REGISTER(thread_index, "tid.x")
GPUSONDE_SPECIAL_REGISTER(block_threads, "ntid.x")
GPUSONDE_SPECIAL_REGISTER(block_index, "ctaid.x")
GPUSONDE_SPECIAL_REGISTER(grid_blocks, "nctaid.x")
GPUSONDE_SPECIAL_REGISTER(sm_index, "smid")
#undef GPUSONDE_SPECIAL_REGISTER

// Clock reads are volatile with a memory clobber: neither compiler moves a load across one.
GPUSONDE_DEVICE u64 clock_cycles() {
  u64 value;
  asm volatile("mov.u64 %0, %%clock64;" : "=l"(value)::"memory");
  return value;
}
GPUSONDE_DEVICE u32 clock_cycles_low() {
  u32 value;
  asm volatile("mov.u32 %0, %%clock;" : "=r"(value)::"memory");
  return value;
}
GPUSONDE_DEVICE u64 global_timer_ns() {
  u64 value;
  asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(value)::"memory");
  return value;
}

// Results are added to zeroed memory by a reduction, which L2 carries out: a store could take a line
// of the L1 that is being measured.
GPUSONDE_DEVICE void add_result(u64 address, u64 value) {
  asm volatile("red.global.add.u64 [%0], %1;" ::"l"(address), "l"(value) : "memory");
}

// The value itself, for the first lane of a warp, in a way the compiler cannot see through: it stays in
// a register where a kernel parameter would be fetched from the constant bank again in each turn.
GPUSONDE_DEVICE u64 kept_in_register(u64 value) {
  u32 zero;
  asm volatile("mov.u32 %0, %%laneid;" : "=r"(zero));
  return value + zero;
}

// At the head of a timed loop: keeps ptxas from unrolling what clang has unrolled as far as wanted, so
// that the loop has the number of loads that `gpusonde sass` checks.
GPUSONDE_DEVICE void do_not_unroll() { asm volatile(".pragma \"nounroll\";"); }

// Makes whatever follows wait for `value`: it is compared with a value that it never has, and an
// in-order machine issues the next clock read after that comparison.
GPUSONDE_DEVICE void wait_for(u32 value, u32 never, u64 sink) {
  asm volatile("{ .reg .pred q; setp.eq.u32 q, %0, %1; @q red.global.add.u64 [%2], 1; }" ::"r"(value), "r"(never),
               "l"(sink)
               : "memory");
}

GPUSONDE_DEVICE void block_barrier() { asm volatile("barrier.sync 0;" ::: "memory"); }

// Whether any thread of the block says yes; a barrier as well. Needs no shared memory.
GPUSONDE_DEVICE bool block_any(bool yes) {
  u32 result;
  asm volatile("{ .reg .pred p, q; setp.ne.u32 p, %1, 0; barrier.red.or.pred q, 0, p; selp.u32 %0, 1, 0, q; }"
               : "=r"(result)
               : "r"(static_cast<u32>(yes))
               : "memory");
  return result != 0;
}

extern __shared__ u64 dynamic_shared[];

GPUSONDE_DEVICE u32 shared_address() {
  u32 address;
  asm("{ .reg .u64 a; cvta.to.shared.u64 a, %1; cvt.u32.u64 %0, a; }" : "=r"(address) : "l"(dynamic_shared));
  return address;
}
