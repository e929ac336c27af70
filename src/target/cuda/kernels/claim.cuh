// Which block works. A kernel is launched with as many blocks as it takes to reach the wanted SM; the
// first block there claims the work, all others leave at once.
#pragma once

#include "kernels/device.cuh"
#include "target/cuda/kernel_parameters.hpp"

// Called by all threads of the block, with the same answer in each. Needs no shared memory, which would
// change the split of the storage that is being measured.
GPUSONDE_DEVICE bool claim_work(const gpusonde::cuda::ChaseParameters& p) {
  const u32 sm = sm_index();
  if (p.sm != gpusonde::cuda::k_any_sm && p.sm != sm) return false;
  bool mine = false;
  if (thread_index() == 0) {
    const u64 claimed = p.state + __builtin_offsetof(gpusonde::cuda::ChaseState, claimed);
    u32 before;
    asm volatile("atom.global.exch.b32 %0, [%1], 1;" : "=r"(before) : "l"(claimed) : "memory");
    mine = before == 0;
    if (mine) {
      const u64 where = p.state + __builtin_offsetof(gpusonde::cuda::ChaseState, sm);
      asm volatile("st.global.cg.u32 [%0], %1;" ::"l"(where), "r"(sm) : "memory");
    }
  }
  return block_any(mine);
}
