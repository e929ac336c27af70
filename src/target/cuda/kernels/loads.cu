// Many warps that load at once: chases for latency under load, and streams for bandwidth.
//
// All blocks of a grid are resident, since no more are launched than fit, and begin together.
#include "kernels/hop.cuh"
#include "kernels/together.cuh"
#include "target/cuda/kernel_parameters.hpp"

using gpusonde::cuda::LoadedChaseParameters;
using gpusonde::cuda::LoadsResult;
using gpusonde::cuda::StreamParameters;

GPUSONDE_DEVICE u32 lane_index() {
  u32 value;
  asm("mov.u32 %0, %%laneid;" : "=r"(value));
  return value;
}

// Each of a node's 32 words holds the number of the next node's line, so that each lane finds it by itself.
GPUSONDE_KERNEL link_lines(const LoadedChaseParameters p) {
  const u64 nodes = p.order.p.node_count;
  const u64 warps = static_cast<u64>(grid_blocks()) * (block_threads() / 32);
  u64 i = static_cast<u64>(block_index()) * (block_threads() / 32) + thread_index() / 32;
#pragma unroll 1
  for (; i < nodes; i += warps) {
    const u64 here = p.first_byte + p.order.offset(i);
    const u64 next = p.first_byte + p.order.offset(i + 1 == nodes ? 0 : i + 1);
    const u64 word = p.buffer + here + 4 * lane_index();
    asm volatile("st.global.u32 [%0], %1;" ::"l"(word), "r"(static_cast<u32>(next / 128)) : "memory");
  }
}

// Where each chain begins: at places that divide the ring evenly.
GPUSONDE_KERNEL place_chains(const LoadedChaseParameters p) {
  const u64 chain = static_cast<u64>(block_index()) * block_threads() + thread_index();
  if (chain >= p.chains) return;
  const u64 start = p.first_byte + p.order.offset(chain * p.order.p.node_count / p.chains);
  asm volatile("st.global.u64 [%0], %1;" ::"l"(p.starts + 8 * chain), "l"(start) : "memory");
}

// Loads of each node its line, or its first word: a touch of what is to be warm in L2.
GPUSONDE_KERNEL touch_ring(const LoadedChaseParameters p) {
  const u64 sectors = p.whole_lines != 0 ? 4 : 1;
  const u64 total = p.order.p.node_count * sectors;
  const u64 step = static_cast<u64>(grid_blocks()) * block_threads();
  u32 seen = 0;
#pragma unroll 1
  for (u64 i = static_cast<u64>(block_index()) * block_threads() + thread_index(); i < total; i += step)
    seen ^= Cg::load32(p.buffer + p.first_byte + p.order.offset_of_node(i / sectors) + 32 * (i % sectors));
  wait_for(seen, 0x9E3779B9U, p.result + __builtin_offsetof(LoadsResult, sink));
}

// One lane loads 8 bytes: the next node's address.
template <class Path>
struct Words {
  using Position = u64;
  GPUSONDE_DEVICE Position at(const LoadedChaseParameters& p, u64 offset) { return p.buffer + offset; }
  GPUSONDE_DEVICE Position next(u64, Position node) { return Path::load64(node); }
};
// 32 lanes load the node's 128 bytes: the number of the next node's line. `base` is the lane's word of line 0.
template <class Path>
struct Lines {
  using Position = u32;
  GPUSONDE_DEVICE Position at(const LoadedChaseParameters&, u64 offset) { return static_cast<u32>(offset / 128); }
  GPUSONDE_DEVICE Position next(u64 base, Position line) { return Path::load32(base + 128ULL * line); }
};

// So many rounds a turn that a branch back is rare among the loads.
template <int Chains>
inline constexpr int k_rounds_a_turn = Chains == 1 ? 8 : 16 / Chains;

template <class Kind, int Chains>
GPUSONDE_DEVICE void walk(u64 base, typename Kind::Position (&position)[Chains], u32 rounds, u64 sink) {
#pragma unroll 1
  for (u32 left = rounds / k_rounds_a_turn<Chains>; left != 0; --left) {
    do_not_unroll();
#pragma unroll
    for (int turn = 0; turn < k_rounds_a_turn<Chains>; ++turn) {
#pragma unroll
      for (int c = 0; c < Chains; ++c) position[c] = Kind::next(base, position[c]);
    }
  }
  u32 seen = 0;
#pragma unroll
  for (int c = 0; c < Chains; ++c) seen |= static_cast<u32>(position[c]);
  wait_for(seen, 0xFFFFFFFFU, sink);
}

// Untimed and timed rounds run through the same loop, so its code is there when timing begins.
template <class Kind, int Chains>
GPUSONDE_DEVICE void loaded_chase(const LoadedChaseParameters& p) {
  const u64 sink = p.result + __builtin_offsetof(LoadsResult, sink);
  const bool whole = sizeof(typename Kind::Position) == 4;
  const u64 base = kept_in_register(p.buffer) - lane_index() + (whole ? 4ULL * lane_index() : 0);
  const u64 warp = static_cast<u64>(block_index()) * (block_threads() / 32) + thread_index() / 32;
  const bool walks = whole || lane_index() == 0;
  typename Kind::Position position[Chains];
#pragma unroll
  for (int c = 0; c < Chains; ++c)
    position[c] = Kind::at(p, Cg::load64(p.starts + 8 * (warp * Chains + static_cast<u64>(c))));
  u32 rounds = p.warmup_rounds;
#pragma unroll 1
  for (int phase = 0; phase < 2; ++phase) {
    if (phase != 0) begin_together(p.result);
    const u64 ns_before = global_timer_ns();
    const u64 before = clock_cycles();
    if (walks) walk<Kind, Chains>(base, position, rounds, sink);
    const u64 elapsed = clock_cycles() - before;
    const u64 ns_after = global_timer_ns();
    if (phase != 0 && lane_index() == 0) add_times(p.result, elapsed, ns_before, ns_after);
    rounds = p.rounds;
  }
}

#define GPUSONDE_LOADED_CHASE(name, kind, chains) \
  GPUSONDE_KERNEL loaded_##name##_##chains(const LoadedChaseParameters p) { loaded_chase<kind, chains>(p); }
#define GPUSONDE_LOADED_CHASES(name, kind) \
  GPUSONDE_LOADED_CHASE(name, kind, 1)     \
  GPUSONDE_LOADED_CHASE(name, kind, 2)     \
  GPUSONDE_LOADED_CHASE(name, kind, 4)     \
  GPUSONDE_LOADED_CHASE(name, kind, 8)
GPUSONDE_LOADED_CHASES(ca_word, Words<Ca>)
GPUSONDE_LOADED_CHASES(cg_word, Words<Cg>)
GPUSONDE_LOADED_CHASES(cg_line, Lines<Cg>)

struct Quad {
  u32 x, y, z, w;
};

#define GPUSONDE_QUAD_SPACE(name, load_operator, store_operator, Address, constraint)                                  \
  struct name {                                                                                                        \
    GPUSONDE_DEVICE Quad load(u64 address) {                                                                           \
      Quad q;                                                                                                          \
      asm volatile("ld." load_operator ".v4.u32 {%0, %1, %2, %3}, [%4];"                                               \
                   : "=r"(q.x), "=r"(q.y), "=r"(q.z), "=r"(q.w)                                                        \
                   : constraint(static_cast<Address>(address))                                                         \
                   : "memory");                                                                                        \
      return q;                                                                                                        \
    }                                                                                                                  \
    GPUSONDE_DEVICE void store(u64 address, const Quad& q) {                                                           \
      asm volatile("st." store_operator ".v4.u32 [%0], {%1, %2, %3, %4};" ::constraint(static_cast<Address>(address)), \
                   "r"(q.x), "r"(q.y), "r"(q.z), "r"(q.w)                                                              \
                   : "memory");                                                                                        \
    }                                                                                                                  \
  }
GPUSONDE_QUAD_SPACE(QuadCa, "global.ca", "global", u64, "l");
GPUSONDE_QUAD_SPACE(QuadCg, "global.cg", "global", u64, "l");
GPUSONDE_QUAD_SPACE(QuadShared, "shared", "shared", u32, "r");

// The place of a thread's next 16 bytes, round and round over the set.
struct Cursor {
  u32 at;  // in 16 bytes
  u32 step;
  u32 end;
  u64 base;

  __device__ __attribute__((always_inline)) inline u32 take() {
    const u32 taken = at;
    at += step;
    if (at >= end) at -= end;
    return taken;
  }
};

enum class Does { read, write, copy };

// `AtOnce` loads of a thread are under way at a time; so many times `turns`.
template <class Space, Does Doing, int AtOnce>
GPUSONDE_DEVICE void stream(Cursor& cursor, u32 turns, u64 to_copy, u64 sink) {
  const u64 copies = cursor.base + to_copy;
  u32 seen = 0;
#pragma unroll 1
  for (u32 left = turns; left != 0; --left) {
    do_not_unroll();
    u32 place[AtOnce];
    Quad quad[AtOnce];
#pragma unroll
    for (int k = 0; k < AtOnce; ++k) place[k] = cursor.take();
    if constexpr (Doing == Does::write) {
#pragma unroll
      for (int k = 0; k < AtOnce; ++k) Space::store(cursor.base + 16ULL * place[k], Quad{left, left, left, left});
    } else {
#pragma unroll
      for (int k = 0; k < AtOnce; ++k) quad[k] = Space::load(cursor.base + 16ULL * place[k]);
#pragma unroll
      for (int k = 0; k < AtOnce; ++k) {
        if constexpr (Doing == Does::copy)
          Space::store(copies + 16ULL * place[k], quad[k]);
        else
          seen ^= quad[k].x ^ quad[k].y ^ quad[k].z ^ quad[k].w;
      }
    }
  }
  wait_for(seen, 0x9E3779B9U, sink);
  // Until what was written is where others see it.
  if constexpr (Doing != Does::read) asm volatile("fence.acq_rel.gpu;" ::: "memory");
}

template <class Space, Does Doing, int AtOnce>
GPUSONDE_DEVICE void streams(const StreamParameters& p, u64 base) {
  const u64 sink = p.result + __builtin_offsetof(LoadsResult, sink);
  // A block's own set, or one of all: where a block begins in it.
  const u32 first = p.own != 0 ? thread_index() : block_index() * block_threads() + thread_index();
  const u32 step = p.own != 0 ? block_threads() : grid_blocks() * block_threads();
  Cursor cursor{first % p.quads, step % p.quads, p.quads, base};
  u32 turns = p.warm_turns;
#pragma unroll 1
  for (int phase = 0; phase < 2; ++phase) {
    if (phase != 0) begin_together(p.result);
    const u64 ns_before = global_timer_ns();
    const u64 before = clock_cycles();
    stream<Space, Doing, AtOnce>(cursor, turns, p.to_copy, sink);
    block_barrier();
    const u64 elapsed = clock_cycles() - before;
    const u64 ns_after = global_timer_ns();
    if (phase != 0 && thread_index() == 0) add_times(p.result, elapsed, ns_before, ns_after);
    turns = p.turns;
  }
}

template <class Space, Does Doing, int AtOnce>
GPUSONDE_DEVICE void global_streams(const StreamParameters& p) {
  streams<Space, Doing, AtOnce>(p, p.buffer + (p.own != 0 ? 16ULL * p.own_quads * block_index() : 0));
}

template <Does Doing, int AtOnce>
GPUSONDE_DEVICE void ca_streams(const StreamParameters& p) {
  global_streams<QuadCa, Doing, AtOnce>(p);
}
template <Does Doing, int AtOnce>
GPUSONDE_DEVICE void cg_streams(const StreamParameters& p) {
  global_streams<QuadCg, Doing, AtOnce>(p);
}

// What is read has to have been written: shared memory holds what was left there, which is never looked at.
template <Does Doing, int AtOnce>
GPUSONDE_DEVICE void shared_streams(const StreamParameters& p) {
  streams<QuadShared, Doing, AtOnce>(p, shared_address());
}

// One block an SM with eight loads of a thread under way, or two with four each, which need the registers.
#define GPUSONDE_TWO_BLOCKS extern "C" __global__ __launch_bounds__(1024, 2) void
#define GPUSONDE_STREAM(name, space, does)                                                     \
  GPUSONDE_KERNEL stream_##name##_1(const StreamParameters p) { space##_streams<does, 8>(p); } \
  GPUSONDE_TWO_BLOCKS stream_##name##_2(const StreamParameters p) { space##_streams<does, 4>(p); }
GPUSONDE_STREAM(ca_read, ca, Does::read)
GPUSONDE_STREAM(cg_read, cg, Does::read)
GPUSONDE_STREAM(cg_write, cg, Does::write)
GPUSONDE_STREAM(cg_copy, cg, Does::copy)
GPUSONDE_STREAM(shared_read, shared, Does::read)
GPUSONDE_STREAM(shared_write, shared, Does::write)
GPUSONDE_STREAM(shared_copy, shared, Does::copy)
