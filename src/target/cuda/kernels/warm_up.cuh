// Parallel warm-up: the chasing block touches ring positions in ring order with the chase's own kind of
// load, so that the caches hold what a serial walk would leave in them, a thousand times sooner.
#pragma once

#include "kernels/hop.cuh"
#include "target/cuda/kernel_parameters.hpp"

template <class Chain>
GPUSONDE_DEVICE void warm_up(const gpusonde::cuda::ChaseParameters& p, u64 base, u64 ring_offset, u64 sink) {
  const u32 threads = block_threads();
  const u64 nodes = p.order.p.node_count;
  u64 position = p.warm_first + thread_index();
  u32 seen = 0;
#pragma unroll 1
  for (u64 i = thread_index(); i < p.warm_count; i += threads) {
    while (position >= nodes) position -= nodes;
    seen ^= static_cast<u32>(Chain::next(base, Chain::at(base, ring_offset + p.order.offset(position))));
    position += threads;
  }
  // Kept alive without a store; that the exclusive or has this value by chance costs one reduction.
  wait_for(seen, 0x9E3779B9U, sink);
  block_barrier();
}
