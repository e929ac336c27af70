// Latency of the shared memory of other SMs of a cluster. clang 14 knows no sm_90, so the instructions are written
// out, and make_ptx.sh puts the version and target that they need.
#include "kernels/device.cuh"
#include "target/cuda/kernel_parameters.hpp"

using gpusonde::cuda::ClusterParameters;

constexpr u32 k_nodes = 64;

GPUSONDE_DEVICE u32 cluster_rank() {
  u32 rank;
  asm volatile("mov.u32 %0, %%cluster_ctarank;" : "=r"(rank));
  return rank;
}

// What is written before is seen by all blocks after.
GPUSONDE_DEVICE void cluster_barrier() { asm volatile("barrier.cluster.arrive; barrier.cluster.wait;" ::: "memory"); }

// The address, for all blocks of the cluster, of what lies at this address in the block of a rank.
GPUSONDE_DEVICE u32 address_in(u32 rank, u32 address) {
  u32 mapped;
  asm volatile("mapa.shared::cluster.u32 %0, %1, %2;" : "=r"(mapped) : "r"(address), "r"(rank));
  return mapped;
}

GPUSONDE_DEVICE u32 load_cluster(u32 address) {
  u32 value;
  asm volatile("ld.shared::cluster.u32 %0, [%1];" : "=r"(value) : "r"(address) : "memory");
  return value;
}

// Two turns through the same loop, the first one untimed.
GPUSONDE_DEVICE u32 chase(u32 node, u32 hops, u64 sink) {
  u32 elapsed = 0;
#pragma unroll 1
  for (u32 turn = 0; turn < 2; ++turn) {
    const u32 before = clock_cycles_low();
#pragma unroll 1
    for (u32 left = hops / 8; left != 0; --left) {
      do_not_unroll();
#pragma unroll
      for (int j = 0; j < 8; ++j) node = load_cluster(node);
    }
    wait_for(node, 1, sink);
    elapsed = clock_cycles_low() - before;
  }
  return elapsed;
}

// Each block holds a ring, a node every 8 words in an order that goes through all; one block chases at a time.
GPUSONDE_KERNEL cluster_latency(const ClusterParameters p) {
  const u32 rank = cluster_rank();
  const u32 base = shared_address();
  for (u32 i = thread_index(); i < k_nodes; i += block_threads()) {
    const u32 next = address_in(rank, base + 32 * ((i + 37) % k_nodes));
    asm volatile("st.shared.u32 [%0], %1;" ::"r"(base + 32 * i), "r"(next) : "memory");
  }
  if (thread_index() == 0)
    asm volatile("st.global.cg.u32 [%0], %1;" ::"l"(p.sms + 4ULL * rank), "r"(sm_index()) : "memory");
  cluster_barrier();
#pragma unroll 1
  for (u32 from = 0; from < p.blocks; ++from) {
    if (from == rank && thread_index() == 0) {
#pragma unroll 1
      for (u32 to = 0; to < p.blocks; ++to) {
        const u32 elapsed = chase(address_in(to, base), p.hops, p.sink);
        asm volatile("st.global.cg.u32 [%0], %1;" ::"l"(p.cycles + 4ULL * (from * p.blocks + to)), "r"(elapsed)
                     : "memory");
      }
    }
    block_barrier();
    cluster_barrier();
  }
}
