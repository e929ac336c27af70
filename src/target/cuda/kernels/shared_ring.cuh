// A ring inside the block's dynamic shared memory, linked by the block itself: shared memory does not
// outlive a launch.
#pragma once

#include "kernels/device.cuh"
#include "target/cuda/kernel_parameters.hpp"

template <bool IndexNodes>
GPUSONDE_DEVICE void link_shared_ring(const gpusonde::cuda::ChaseParameters& p) {
  const u32 base = shared_address();
  const u32 threads = block_threads();
  for (u64 i = thread_index(); i < p.order.p.node_count; i += threads) {
    const u64 here = p.first_byte + p.order.offset(i);
    const u64 next = p.first_byte + p.order.offset(i + 1 == p.order.p.node_count ? 0 : i + 1);
    const u32 address = base + static_cast<u32>(here);
    if (IndexNodes)
      asm volatile("st.shared.u32 [%0], %1;" ::"r"(address), "r"(static_cast<u32>(next / 4)) : "memory");
    else
      asm volatile("st.shared.u64 [%0], %1;" ::"r"(address), "l"(base + next) : "memory");
  }
  block_barrier();
}
