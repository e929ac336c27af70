// Everything around the chase: linking a ring, and what the clocks themselves cost and run at.
#include "kernels/device.cuh"
#include "target/cuda/kernel_parameters.hpp"

using gpusonde::cuda::ClockParameters;
using gpusonde::cuda::LinkListParameters;
using gpusonde::cuda::LinkParameters;

// Each thread links some positions of the ring to their successors, so a ring of a billion nodes costs
// no shuffle and no copy from the host.
GPUSONDE_KERNEL link(const LinkParameters p) {
  const u64 step = static_cast<u64>(grid_blocks()) * block_threads();
  const u64 nodes = p.order.p.node_count;
  const u64 end = p.first + p.count;
  for (u64 i = p.first + static_cast<u64>(block_index()) * block_threads() + thread_index(); i < end; i += step) {
    const u64 here = p.first_byte + p.order.offset(i);
    const u64 next = p.first_byte + p.order.offset(i + 1 == nodes ? 0 : i + 1);
    if (p.index_chain != 0)
      *reinterpret_cast<u32*>(p.buffer + here) = static_cast<u32>(next / 4);
    else
      *reinterpret_cast<u64*>(p.buffer + here) = p.buffer + next;
  }
}

// The same for nodes that are given one by one. With slots apart from nodes, no address of a node is used
// here, so the chase is the first to need its translation.
GPUSONDE_KERNEL link_list(const LinkListParameters p) {
  const u64 step = static_cast<u64>(grid_blocks()) * block_threads();
  const u64* places = reinterpret_cast<const u64*>(p.places);
  for (u64 i = static_cast<u64>(block_index()) * block_threads() + thread_index(); i < p.count; i += step) {
    const u64 slot = p.slots + (p.slot_bytes != 0 ? places[i] % p.slot_bytes : places[i]);
    const u64 next = p.nodes + places[i + 1 == p.count ? 0 : i + 1];
    asm volatile("st.global.u64 [%0], %1;" ::"l"(slot), "l"(next) : "memory");
  }
}

// Two clock reads back to back. The first round, which fetches the code, is not kept.
GPUSONDE_KERNEL timer(const ClockParameters p) {
  if (thread_index() != 0) return;
#pragma unroll 1
  for (u64 i = 0; i <= p.amount; ++i) {
    const u64 before = clock_cycles();
    const u64 after = clock_cycles();
    if (i != 0) add_result(p.results + 8 * (i - 1), after - before);
  }
}

// x = a x + c, one dependent multiply-add a turn and no memory access: what the loop of an index chase
// costs apart from its loads. Run twice, the second run kept.
GPUSONDE_KERNEL loop_overhead(const ClockParameters p) {
  if (thread_index() != 0) return;
  // Not the same for all lanes as far as the compiler can tell, or the loop would run on the uniform
  // datapath, whose latencies are others.
  u32 x = static_cast<u32>(kept_in_register(1));
#pragma unroll 1
  for (int run = 0; run < 2; ++run) {
    const u64 ns_before = global_timer_ns();
    const u64 before = clock_cycles();
#pragma unroll 1
    for (u32 left = static_cast<u32>(kept_in_register(p.amount)); left != 0; --left) {
      do_not_unroll();
      asm volatile("mad.lo.u32 %0, %0, 1664525, 1013904223;" : "+r"(x));
    }
    wait_for(x, 0, p.sink);
    const u64 after = clock_cycles();
    const u64 ns_after = global_timer_ns();
    if (run == 1) {
      add_result(p.results, after - before);
      add_result(p.results + 8, ns_after - ns_before);
    }
  }
}

// Spins for a while and reads both clocks where the global timer ticks (about once a microsecond on
// some chips), so that its coarseness cancels.
GPUSONDE_KERNEL spin_clock(const ClockParameters p) {
  if (thread_index() != 0) return;
  const u64 start = global_timer_ns();
  u64 first_ns = start;
  while (first_ns == start) first_ns = global_timer_ns();
  const u64 first_cycles = clock_cycles();
  u64 last_ns = first_ns;
  while (last_ns - first_ns < p.amount) last_ns = global_timer_ns();
  const u64 last_cycles = clock_cycles();
  add_result(p.results, last_cycles - first_cycles);
  add_result(p.results + 8, last_ns - first_ns);
}
