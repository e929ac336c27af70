// Latency of single lines from single SMs, and how many lines all SMs together are served.
#include "kernels/hop.cuh"
#include "target/cuda/kernel_parameters.hpp"

using gpusonde::cuda::k_any_sm;
using gpusonde::cuda::LineMapParameters;
using gpusonde::cuda::LinkSelfParameters;
using gpusonde::cuda::ThroughputParameters;

// Blocks that wait for each other wait no longer than this: another program may hold an SM.
constexpr u64 k_patience_cycles = 2000000000;

GPUSONDE_KERNEL link_self(const LinkSelfParameters p) {
  const u64 step = static_cast<u64>(grid_blocks()) * block_threads();
  for (u64 i = static_cast<u64>(block_index()) * block_threads() + thread_index(); i < p.count; i += step) {
    const u64 node = p.base + Cg::load64(p.places + 8 * i);
    asm volatile("st.global.u64 [%0], %1;" ::"l"(node), "l"(node) : "memory");
  }
}

// Loads the node's address from itself.
struct SelfLoad {
  GPUSONDE_DEVICE u64 next(u64 node) { return Cg::load64(node); }
};
// The same by an operation that changes nothing and that only the home of the line can carry out.
struct SelfAtomic {
  GPUSONDE_DEVICE u64 next(u64 node) {
    u64 value;
    asm volatile("atom.global.or.b64 %0, [%1], 0;" : "=l"(value) : "l"(node) : "memory");
    return value;
  }
};

template <class Hop>
GPUSONDE_DEVICE u32 best_of(u64 node, u32 hops, u32 repetitions, u64 sink) {
  node = Hop::next(Hop::next(node));
  wait_for(static_cast<u32>(node), 1, sink);
  u32 best = 0xFFFFFFFFU;
#pragma unroll 1
  for (u32 turn = 0; turn < repetitions; ++turn) {
    const u32 before = clock_cycles_low();
#pragma unroll 1
    for (u32 left = hops / 8; left != 0; --left) {
      do_not_unroll();
#pragma unroll
      for (int j = 0; j < 8; ++j) node = Hop::next(node);
    }
    wait_for(static_cast<u32>(node), 1, sink);
    const u32 elapsed = clock_cycles_low() - before;
    best = elapsed < best ? elapsed : best;
  }
  return best;
}

// Some time without a load, between two looks at whose turn it is: who waits must not load the slice of the counter.
GPUSONDE_DEVICE void pause() {
  const u32 before = clock_cycles_low();
  while (clock_cycles_low() - before < 30000) {
  }
}

// One block an SM; blocks on SMs without a turn leave, and so does a second block of an SM.
template <class Hop>
GPUSONDE_DEVICE void line_map(const LineMapParameters& p) {
  if (thread_index() != 0) return;
  const u32 sm = sm_index();
  const u32 turn = Cg::load32(p.turns + 4ULL * sm);
  if (turn == k_any_sm) return;
  u32 before;
  asm volatile("atom.global.exch.b32 %0, [%1], 1;" : "=r"(before) : "l"(p.taken + 4ULL * sm) : "memory");
  if (before != 0) return;
  const u32 first_turn = turn / p.at_once * p.at_once;
  const u64 begin = clock_cycles();
  for (;;) {
    u32 done;
    asm volatile("atom.global.or.b32 %0, [%1], 0;" : "=r"(done) : "l"(p.done) : "memory");
    if (done >= first_turn) break;
    if (clock_cycles() - begin > k_patience_cycles) return;  // somebody else holds an SM whose turn comes before
    pause();
  }
  const u32 count = p.end_place - p.first_place;
  // SMs that measure at a time begin at lines that lie far apart.
  u32 place = (turn - first_turn) * (count / p.at_once);
#pragma unroll 1
  for (u32 i = 0; i < count; ++i, ++place) {
    if (place >= count) place -= count;
    const u64 node = p.base + Cg::load64(p.places + 8ULL * (p.first_place + place));
    const u32 best = best_of<Hop>(node, p.hops, p.repetitions, p.sink);
    const u32 eighths = best / (p.hops / 8);
    const u16 held = static_cast<u16>(eighths < 0xFFFF ? eighths : 0xFFFF);
    const u64 out = p.output + 2 * (static_cast<u64>(turn) * p.place_count + p.first_place + place);
    asm volatile("st.global.cg.u16 [%0], %1;" ::"l"(out), "h"(held) : "memory");
  }
  asm volatile("fence.acq_rel.gpu;" ::: "memory");
  asm volatile("red.global.add.u32 [%0], 1;" ::"l"(p.done) : "memory");
}

GPUSONDE_KERNEL line_map_load(const LineMapParameters p) { line_map<SelfLoad>(p); }
GPUSONDE_KERNEL line_map_atomic(const LineMapParameters p) { line_map<SelfAtomic>(p); }

// All blocks wait for each other, then load; the list lies in shared memory.
GPUSONDE_KERNEL throughput(const ThroughputParameters p) {
  const u32 list = shared_address();
  for (u32 i = thread_index(); i < p.place_count; i += block_threads()) {
    const u64 address = p.base + Cg::load64(p.places + 8ULL * i);
    asm volatile("st.shared.u64 [%0], %1;" ::"r"(list + 8 * i), "l"(address) : "memory");
  }
  block_barrier();
  if (thread_index() == 0) {
    asm volatile("red.global.add.u32 [%0], 1;" ::"l"(p.arrived) : "memory");
    const u64 begin = clock_cycles();
    u32 arrived;
    do {
      asm volatile("atom.global.or.b32 %0, [%1], 0;" : "=r"(arrived) : "l"(p.arrived) : "memory");
    } while (arrived < grid_blocks() && clock_cycles() - begin < k_patience_cycles);
    // A time that no measurement takes, for the host to see.
    if (arrived < grid_blocks())
      asm volatile("red.global.max.u64 [%0], %1;" ::"l"(p.cycles), "l"(gpusonde::cuda::k_gave_up) : "memory");
  }
  block_barrier();
  u32 state = (block_index() * block_threads() + thread_index()) * 2654435761U + 12345U;
  u64 seen = 0;
  const u64 before = clock_cycles();
#pragma unroll 1
  for (u32 left = p.loads / 4; left != 0; --left) {
    do_not_unroll();
    u64 address[4];
    u64 value[4];
#pragma unroll
    for (int k = 0; k < 4; ++k) {
      state = state * 1664525U + 1013904223U;
      const u32 index = static_cast<u32>((static_cast<u64>(state) * p.place_count) >> 32);
      asm volatile("ld.shared.u64 %0, [%1];" : "=l"(address[k]) : "r"(list + 8 * index) : "memory");
    }
#pragma unroll
    for (int k = 0; k < 4; ++k) value[k] = Cg::load64(address[k]);
#pragma unroll
    for (int k = 0; k < 4; ++k) seen ^= value[k];
  }
  wait_for(static_cast<u32>(seen), 0x9E3779B9U, p.sink);
  block_barrier();
  const u64 elapsed = clock_cycles() - before;
  if (thread_index() == 0) asm volatile("red.global.max.u64 [%0], %1;" ::"l"(p.cycles), "l"(elapsed) : "memory");
}
