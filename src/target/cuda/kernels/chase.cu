// The pointer chase with two clock reads around all hops of a repetition: gives latencies.
//
// Untimed lead hops and timed repetitions run through the same loops, so the code, the constants and the
// translation of the loops are warm when timing begins.
#include "kernels/claim.cuh"
#include "kernels/hop.cuh"
#include "kernels/shared_ring.cuh"
#include "kernels/warm_up.cuh"

using gpusonde::cuda::ChaseParameters;
using gpusonde::cuda::ChaseState;

template <class Chain>
GPUSONDE_DEVICE void chase(const ChaseParameters& p, u64 base, u64 ring_offset) {
  const u64 sink = p.state + __builtin_offsetof(ChaseState, sink);
  warm_up<Chain>(p, base, ring_offset, sink);
  if (thread_index() != 0) return;

  base = kept_in_register(base);
  auto position = Chain::at(base, p.start);
  u64 result = p.results + 16ULL * p.first_repetition;
  u64 hops = p.lead_hops;
#pragma unroll 1
  for (u32 phase = 0; phase <= p.repetitions; ++phase) {
    const u64 ns_before = global_timer_ns();
    const u64 cycles_before = clock_cycles();
    // Long turns, since a branch back costs some seven cycles, and short ones for what remains.
#pragma unroll 1
    for (u32 turns = static_cast<u32>(hops / 64); turns != 0; --turns) {
      do_not_unroll();
#pragma unroll
      for (int j = 0; j < 64; ++j) position = Chain::next(base, position);
    }
#pragma unroll 1
    for (u32 turns = static_cast<u32>(hops % 64 / 8); turns != 0; --turns) {
      do_not_unroll();
#pragma unroll
      for (int j = 0; j < 8; ++j) position = Chain::next(base, position);
    }
    wait_for(static_cast<u32>(position), Chain::k_never, sink);
    const u64 cycles_after = clock_cycles();
    const u64 ns_after = global_timer_ns();
    if (phase != 0) {
      add_result(result, cycles_after - cycles_before);
      add_result(result + 8, ns_after - ns_before);
      result += 16;
    }
    hops = p.hops;
  }
  const u64 reached = Chain::offset(base, position);
  asm volatile("st.global.cg.u64 [%0], %1;" ::"l"(p.state), "l"(reached) : "memory");
}

#define GPUSONDE_CHASE(name, path)                                           \
  GPUSONDE_KERNEL chase_##name##_pointer(const ChaseParameters p) {          \
    if (claim_work(p)) chase<PointerChain<path>>(p, p.buffer, p.first_byte); \
  }                                                                          \
  GPUSONDE_KERNEL chase_##name##_index(const ChaseParameters p) {            \
    if (claim_work(p)) chase<IndexChain<path>>(p, p.buffer, p.first_byte);   \
  }
GPUSONDE_CHASE(ca, Ca)
GPUSONDE_CHASE(cg, Cg)
GPUSONDE_CHASE(cv, Cv)
GPUSONDE_CHASE(nc, Nc)

GPUSONDE_KERNEL chase_shared_pointer(const ChaseParameters p) {
  if (!claim_work(p)) return;
  link_shared_ring<false>(p);
  chase<PointerChain<Shared>>(p, shared_address(), p.first_byte);
}
GPUSONDE_KERNEL chase_shared_index(const ChaseParameters p) {
  if (!claim_work(p)) return;
  link_shared_ring<true>(p);
  chase<IndexChain<Shared>>(p, shared_address(), p.first_byte);
}
