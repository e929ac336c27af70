// What the host passes to the kernels, by value, and what they leave in device memory. One definition
// for the host compiler, clang and nvcc, so plain types only.
#pragma once

#include "experiment/ring_order.hpp"

namespace gpusonde::cuda {

inline constexpr unsigned k_any_sm = 0xFFFFFFFFU;

/// Kernel `link`: grid-stride over ring positions [first, first + count).
struct LinkParameters {
  RingOrder order;
  unsigned long long buffer;      ///< device address; indices of an index chain count from here
  unsigned long long first_byte;  ///< of the ring, from `buffer`
  unsigned long long first;
  unsigned long long count;
  unsigned index_chain;  ///< 0: nodes hold addresses (u64); 1: element numbers (u32)
  unsigned reserved;
};

/// Kernel `link_list`: grid-stride over the nodes of a list of places, in chasing order. A node is written
/// through one mapping of its memory and reached through another.
struct LinkListParameters {
  unsigned long long places;      ///< device address of `count` places, u64 each
  unsigned long long count;       ///< at least 1
  unsigned long long slots;       ///< address that nodes are written from
  unsigned long long slot_bytes;  ///< places are taken modulo this to find the node's slot; 0: as they are
  unsigned long long nodes;       ///< added to a place: the address that its predecessor holds
};

/// Kernels `chase_*`. In this order: parallel warm-up of `warm_count` ring positions from
/// `warm_first` on, round the ring as often as it takes, `lead_hops` untimed hops by one lane, then `repetitions` timed
/// runs of `hops` hops.
struct ChaseParameters {
  RingOrder order;
  unsigned long long buffer;
  unsigned long long first_byte;
  unsigned long long start;    ///< where the serial walk begins, as byte offset like `first_byte`
  unsigned long long state;    ///< address of a ChaseState
  unsigned long long results;  ///< address of repetitions' {cycles, ns} pairs, added to
  unsigned long long samples;  ///< per-hop kernels: address of u16 cycles, `repetitions * hops` of them
  unsigned long long warm_first;
  unsigned long long warm_count;
  unsigned long long lead_hops;  ///< a multiple of 8
  unsigned long long hops;       ///< a multiple of 8
  unsigned repetitions;
  unsigned first_repetition;  ///< where in `results` this launch begins
  unsigned sm;                ///< only a block on this SM works; k_any_sm: the first block
  unsigned reserved;
};

/// In device memory; the host clears it before each launch and reads it after.
struct ChaseState {
  unsigned long long position;  ///< where the walk ended: the next launch's `start`
  unsigned long long sink;      ///< never written; keeps loads alive
  unsigned claimed;             ///< 1 once a block took the work
  unsigned sm;                  ///< where it ran
};

/// Kernels `timer`, `loop_overhead`, `spin_clock`.
struct ClockParameters {
  unsigned long long results;  ///< address: u64 cycles each (timer), or {cycles, ns}
  unsigned long long sink;     ///< address that is never written
  unsigned long long amount;   ///< repetitions, iterations or nanoseconds
};

}  // namespace gpusonde::cuda
