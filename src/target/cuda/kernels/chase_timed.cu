// The pointer chase with a clock read around each hop: tells hits from misses. A hop costs some cycles
// more than in an aggregate chase, so latencies are not taken from here.
//
// Samples are 16 bits, held to 65535, in dynamic shared memory behind the ring (if that lies there too)
// until the end, so that nothing but the chase touches global memory meanwhile. The host counts them as
// part of the shared storage.
#include "kernels/claim.cuh"
#include "kernels/hop.cuh"
#include "kernels/shared_ring.cuh"
#include "kernels/warm_up.cuh"

using gpusonde::cuda::ChaseParameters;
using gpusonde::cuda::ChaseState;

template <class Chain>
GPUSONDE_DEVICE void chase_timed(const ChaseParameters& p, u64 base, u64 ring_offset, u32 samples) {
  const u64 sink = p.state + __builtin_offsetof(ChaseState, sink);
  warm_up<Chain>(p, base, ring_offset, sink);
  if (thread_index() == 0) {
    base = kept_in_register(base);
    auto position = Chain::at(base, p.start);
#pragma unroll 1
    for (u64 i = 0; i < p.lead_hops; ++i) {
      do_not_unroll();
      position = Chain::next(base, position);
    }
    wait_for(static_cast<u32>(position), Chain::k_never, sink);
    const u64 hops = p.hops;
    u64 result = p.results + 16ULL * p.first_repetition;
    u32 sample = samples;
#pragma unroll 1
    for (u32 repetition = 0; repetition < p.repetitions; ++repetition) {
      const u64 ns_before = global_timer_ns();
      const u64 cycles_before = clock_cycles();
#pragma unroll 1
      for (u64 i = 0; i < hops; ++i) {
        do_not_unroll();
        const u32 before = clock_cycles_low();
        position = Chain::next(base, position);
        wait_for(static_cast<u32>(position), Chain::k_never, sink);
        const u32 elapsed = clock_cycles_low() - before;
        const u16 held = static_cast<u16>(elapsed < 0xFFFF ? elapsed : 0xFFFF);
        asm volatile("st.shared.u16 [%0], %1;" ::"r"(sample), "h"(held) : "memory");
        sample += 2;
      }
      const u64 cycles_after = clock_cycles();
      const u64 ns_after = global_timer_ns();
      add_result(result, cycles_after - cycles_before);
      add_result(result + 8, ns_after - ns_before);
      result += 16;
    }
    const u64 reached = Chain::offset(base, position);
    asm volatile("st.global.cg.u64 [%0], %1;" ::"l"(p.state), "l"(reached) : "memory");
  }
  block_barrier();
  const u64 count = p.repetitions * p.hops;
  u16* out = reinterpret_cast<u16*>(p.samples) + p.first_repetition * p.hops;
  for (u64 i = thread_index(); i < count; i += block_threads()) {
    u16 value;
    asm volatile("ld.shared.u16 %0, [%1];" : "=h"(value) : "r"(samples + 2 * static_cast<u32>(i)) : "memory");
    out[i] = value;
  }
}

#define GPUSONDE_CHASE_TIMED(name, path)                                                             \
  GPUSONDE_KERNEL chase_##name##_pointer_timed(const ChaseParameters p) {                            \
    if (claim_work(p)) chase_timed<PointerChain<path>>(p, p.buffer, p.first_byte, shared_address()); \
  }                                                                                                  \
  GPUSONDE_KERNEL chase_##name##_index_timed(const ChaseParameters p) {                              \
    if (claim_work(p)) chase_timed<IndexChain<path>>(p, p.buffer, p.first_byte, shared_address());   \
  }
GPUSONDE_CHASE_TIMED(ca, Ca)
GPUSONDE_CHASE_TIMED(cg, Cg)
GPUSONDE_CHASE_TIMED(cv, Cv)
GPUSONDE_CHASE_TIMED(nc, Nc)

GPUSONDE_DEVICE u32 behind_ring(const ChaseParameters& p) {
  return shared_address() + static_cast<u32>(p.first_byte + p.order.p.node_count * p.order.p.stride_bytes);
}
GPUSONDE_KERNEL chase_shared_pointer_timed(const ChaseParameters p) {
  if (!claim_work(p)) return;
  link_shared_ring<false>(p);
  chase_timed<PointerChain<Shared>>(p, shared_address(), p.first_byte, behind_ring(p));
}
GPUSONDE_KERNEL chase_shared_index_timed(const ChaseParameters p) {
  if (!claim_work(p)) return;
  link_shared_ring<true>(p);
  chase_timed<IndexChain<Shared>>(p, shared_address(), p.first_byte, behind_ring(p));
}
