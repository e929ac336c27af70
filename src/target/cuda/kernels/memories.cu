// Chases through memories with instructions of their own: constants, textures, the read-only path, shared memory;
// and whether what they load lies in L1's storage.
#include "kernels/hop.cuh"
#include "target/cuda/kernel_parameters.hpp"

using gpusonde::cuda::MemoryChaseParameters;
using gpusonde::cuda::SharingParameters;

// All that a program may have; the host fills it. The only variable, so that it begins its bank.
extern "C" {
__attribute__((constant)) u32 constant_bank[16384];
}

GPUSONDE_DEVICE u32 constant_address() {
  u32 address;
  asm("{ .reg .u64 a; cvta.to.const.u64 a, %1; cvt.u32.u64 %0, a; }" : "=r"(address) : "l"(constant_bank));
  return address;
}

GPUSONDE_DEVICE u32 load_constant(u32 address) {
  u32 value;
  asm volatile("{ .reg .u64 a; cvt.u64.u32 a, %1; ld.const.u32 %0, [a]; }" : "=r"(value) : "r"(address) : "memory");
  return value;
}

GPUSONDE_DEVICE u32 load_texture(u64 texture, u32 element) {
  u32 value;
  asm volatile("{ .reg .u32 g, b, a; tex.1d.v4.u32.s32 {%0, g, b, a}, [%1, {%2}]; }"
               : "=r"(value)
               : "l"(texture), "r"(element)
               : "memory");
  return value;
}

// A memory: how a chase begins, goes on, and which place it is at.
struct ConstantChase {
  u32 position;  // places are addresses as long as the bank begins at 0; else the walk ends elsewhere than it should
  GPUSONDE_DEVICE ConstantChase begin(const MemoryChaseParameters&) { return {constant_address()}; }
  __device__ __attribute__((always_inline)) void next() { position = load_constant(position); }
  __device__ __attribute__((always_inline)) u64 place(const MemoryChaseParameters&) const {
    return position - constant_address();
  }
};
struct TextureChase {
  u64 texture;   // the same for all lanes, or the load becomes a loop over lanes
  u32 position;  // number of the element
  GPUSONDE_DEVICE TextureChase begin(const MemoryChaseParameters& p) { return {p.texture, 0}; }
  __device__ __attribute__((always_inline)) void next() { position = load_texture(texture, position); }
  __device__ __attribute__((always_inline)) u64 place(const MemoryChaseParameters&) const { return 4ULL * position; }
};
struct ReadOnlyChase {
  u64 position;
  GPUSONDE_DEVICE ReadOnlyChase begin(const MemoryChaseParameters& p) { return {p.ring}; }
  __device__ __attribute__((always_inline)) void next() { position = Nc::load64(position); }
  __device__ __attribute__((always_inline)) u64 place(const MemoryChaseParameters& p) const {
    return position - p.ring;
  }
};
struct SharedChase {
  u64 position;
  // The block copies the ring: places become addresses of shared memory.
  GPUSONDE_DEVICE SharedChase begin(const MemoryChaseParameters& p) {
    const u32 base = shared_address();
    for (u64 at = 8ULL * thread_index(); at < p.bytes; at += 8ULL * block_threads()) {
      const u64 next = base + Cg::load64(p.ring + at);
      asm volatile("st.shared.u64 [%0], %1;" ::"r"(base + static_cast<u32>(at)), "l"(next) : "memory");
    }
    block_barrier();
    return {base};
  }
  __device__ __attribute__((always_inline)) void next() { position = Shared::load64(position); }
  __device__ __attribute__((always_inline)) u64 place(const MemoryChaseParameters&) const {
    return position - shared_address();
  }
};

// Untimed and timed hops run through the same loops, so that code and constants are there when timing begins.
template <class Chase>
GPUSONDE_DEVICE void chase(const MemoryChaseParameters& p) {
  Chase at = Chase::begin(p);
  if (thread_index() != 0) return;
  u64 result = p.results;
  u32 hops = p.lead_hops;
#pragma unroll 1
  for (u32 phase = 0; phase <= p.repetitions; ++phase) {
    const u64 before = clock_cycles();
#pragma unroll 1
    for (u32 turns = hops / 64; turns != 0; --turns) {
      do_not_unroll();
#pragma unroll
      for (int j = 0; j < 64; ++j) at.next();
    }
#pragma unroll 1
    for (u32 turns = hops % 64 / 8; turns != 0; --turns) {
      do_not_unroll();
#pragma unroll
      for (int j = 0; j < 8; ++j) at.next();
    }
    wait_for(static_cast<u32>(at.position), 1, p.sink);
    const u64 after = clock_cycles();
    if (phase != 0) {
      add_result(result, after - before);
      result += 8;
    }
    hops = p.hops;
  }
  asm volatile("st.global.cg.u64 [%0], %1;" ::"l"(p.reached), "l"(at.place(p)) : "memory");
}

GPUSONDE_KERNEL memory_constant(const MemoryChaseParameters p) { chase<ConstantChase>(p); }
GPUSONDE_KERNEL memory_texture(const MemoryChaseParameters p) { chase<TextureChase>(p); }
GPUSONDE_KERNEL memory_read_only(const MemoryChaseParameters p) { chase<ReadOnlyChase>(p); }
GPUSONDE_KERNEL memory_shared(const MemoryChaseParameters p) { chase<SharedChase>(p); }

struct ConstantLoad {
  GPUSONDE_DEVICE u32 at(const SharingParameters&, u64 place) {
    return load_constant(constant_address() + static_cast<u32>(place));
  }
};
struct TextureLoad {
  GPUSONDE_DEVICE u32 at(const SharingParameters& p, u64 place) {
    return load_texture(p.texture, static_cast<u32>(place / 4));
  }
};
struct ReadOnlyLoad {
  GPUSONDE_DEVICE u32 at(const SharingParameters& p, u64 place) { return Nc::load32(p.other + place); }
};

GPUSONDE_DEVICE u64 lap(u64 node, u32 hops) {
#pragma unroll 1
  for (u32 turns = hops / 8; turns != 0; --turns) {
    do_not_unroll();
#pragma unroll
    for (int j = 0; j < 8; ++j) node = Ca::load64(node);
  }
  return node;
}

GPUSONDE_DEVICE u64 timed_lap(u64& node, u32 hops, u64 sink) {
  const u64 before = clock_cycles();
  node = lap(node, hops);
  wait_for(static_cast<u32>(node), 1, sink);
  return clock_cycles() - before;
}

// Each sector of the other bytes is loaded in each of a few rounds, so that their lines are no less used than the
// ring's: some L1 keep lines that were hit again.
template <class Load>
GPUSONDE_DEVICE void sharing(const SharingParameters& p) {
  if (thread_index() != 0) return;
  u64 node = p.ring;
#pragma unroll 1
  for (u32 turn = 0; turn < 3; ++turn) node = lap(node, p.hops);
  const u64 before = timed_lap(node, p.hops, p.sink);
  u32 seen = 0;
#pragma unroll 1
  for (u32 turn = 0; turn < 3; ++turn) {
#pragma unroll 1
    for (u64 place = 0; place < p.other_bytes; place += 128) {
      do_not_unroll();
#pragma unroll
      for (u32 sector = 0; sector < 128; sector += 32) seen ^= Load::at(p, place + sector);
    }
  }
  wait_for(seen, 0x9E3779B9U, p.sink);
  const u64 after = timed_lap(node, p.hops, p.sink);
  add_result(p.results, before);
  add_result(p.results + 8, after);
}

GPUSONDE_KERNEL sharing_constant(const SharingParameters p) { sharing<ConstantLoad>(p); }
GPUSONDE_KERNEL sharing_texture(const SharingParameters p) { sharing<TextureLoad>(p); }
GPUSONDE_KERNEL sharing_read_only(const SharingParameters p) { sharing<ReadOnlyLoad>(p); }
