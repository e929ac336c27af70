// What the host passes to the kernels, by value, and what they leave in device memory. One definition
// for the host compiler, clang and nvcc, so plain types only.
#pragma once

#include "experiment/ring_order.hpp"

namespace gpusonde::cuda {

inline constexpr unsigned k_any_sm = 0xFFFFFFFFU;
/// Cycles of a throughput whose blocks were not all there at once.
inline constexpr unsigned long long k_gave_up = ~0ULL;

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

/// Of a sequence's step: what experiment/experiment.hpp says, with the kind as a number.
struct SequenceStepWords {
  unsigned kind;  ///< 0: touch, 1: walk, 2: time, 3: drop, 4: gather
  unsigned first;
  unsigned count;
  unsigned times;
};
struct SequenceTestWords {
  unsigned first_step;
  unsigned end_step;
  unsigned first_reading;
  unsigned reserved;
};

/// Kernels `sequence_*`: tests [first_test, end_test), claimed one by one by the blocks of the grid.
struct SequenceParameters {
  unsigned long long base;      ///< address of place 0
  unsigned long long places;    ///< address of the list, u64 each
  unsigned long long steps;     ///< address of SequenceStepWords
  unsigned long long tests;     ///< address of SequenceTestWords
  unsigned long long readings;  ///< address of u32 cycles, added to
  unsigned long long starts;    ///< address of u32, added to: the clock when a reading began; 0: not asked for
  unsigned long long claimed;   ///< address of a u32, zeroed: tests that blocks took
  unsigned long long taken;     ///< address of u32 by SM, zeroed: 1 once a block works there
  unsigned long long sink;      ///< address that is never written
  unsigned first_test;
  unsigned end_test;
  unsigned sm;          ///< only blocks on this SM work; k_any_sm: all
  unsigned lane_bytes;  ///< of a gather: 4, 8 or 16
};

/// Kernel `link_self`: each place gets its own address.
struct LinkSelfParameters {
  unsigned long long base;
  unsigned long long places;  ///< address of `count` places, u64 each
  unsigned long long count;
};

/// Kernels `line_map_*`: places [first_place, end_place) from each SM that has a turn, `at_once` SMs at a time.
struct LineMapParameters {
  unsigned long long base;
  unsigned long long places;
  unsigned long long turns;   ///< address of u32 by SM: its turn, from 0; k_any_sm: none
  unsigned long long taken;   ///< address of u32 by SM: zeroed; 1 once a block took the SM's turn
  unsigned long long done;    ///< address of a u32, zeroed: turns that ended
  unsigned long long output;  ///< address of u16 by turn and place
  unsigned long long sink;
  unsigned place_count;  ///< of a row of the output
  unsigned first_place;
  unsigned end_place;
  unsigned hops;  ///< a multiple of 8
  unsigned repetitions;
  unsigned at_once;
};

/// Kernel `throughput`: every lane loads `loads` lines drawn from the list.
struct ThroughputParameters {
  unsigned long long base;
  unsigned long long places;
  unsigned long long arrived;  ///< address of a u32, zeroed: blocks that are ready
  unsigned long long cycles;   ///< address of a u64, zeroed: the longest that a block took
  unsigned long long sink;
  unsigned place_count;
  unsigned loads;  ///< a multiple of 4
};

/// Kernels made by `instruction_ptx`: turns of a straight line of operations, the first one to fetch the code.
struct InstructionParameters {
  unsigned long long results;   ///< address of `turns` u64, zeroed: cycles of each, added
  unsigned long long operands;  ///< address of 32 records of operands, one a lane
  unsigned long long sink;      ///< address that is never written
  unsigned turns;
  unsigned reserved;
};

/// Kernels `memory_*`: a ring is walked for `lead_hops`, then `repetitions` times for `hops`. A node holds the next
/// node's place, counted from the ring's first byte; those of `shared` and `read_only` are of 64 bits, others of 32.
struct MemoryChaseParameters {
  unsigned long long ring;     ///< address of the ring; of `shared`: of the words to be copied; constant: not used
  unsigned long long texture;  ///< texture object over the ring, a channel of 32 bits
  unsigned long long bytes;    ///< of the ring
  unsigned long long results;  ///< address of `repetitions` u64, zeroed: cycles of each, added
  unsigned long long reached;  ///< address of a u64: the place where the walk ended
  unsigned long long sink;     ///< address that is never written
  unsigned lead_hops;          ///< a multiple of 8
  unsigned hops;               ///< a multiple of 8
  unsigned repetitions;
  unsigned reserved;
};

/// Kernels `sharing_*`: a ring of 64-bit addresses in L1, a node a line, is walked and timed for a lap, before and
/// after loads of other memory.
struct SharingParameters {
  unsigned long long ring;         ///< address of the ring's first node
  unsigned long long other;        ///< address of the other bytes; constant: not used
  unsigned long long texture;      ///< texture object over the other bytes, a channel of 32 bits
  unsigned long long other_bytes;  ///< a multiple of 1024
  unsigned long long results;      ///< address of two u64, zeroed: cycles before and after
  unsigned long long sink;
  unsigned hops;  ///< of a lap, a multiple of 8
  unsigned reserved;
};

/// Kernel `cluster_latency`: one cluster; each block in turn chases a ring in each block's shared memory.
struct ClusterParameters {
  unsigned long long cycles;  ///< address of u32 by [from][to]
  unsigned long long sms;     ///< address of u32 by block
  unsigned long long sink;
  unsigned blocks;
  unsigned hops;  ///< a multiple of 8
};

/// What the kernels of module `loads` leave; the host writes it before each launch: `first_ns` all ones, else zeroes.
struct LoadsResult {
  unsigned long long sum_cycles;   ///< over warps (chases) or blocks (streams), each on its SM's clock
  unsigned long long most_cycles;  ///< the longest of them
  unsigned long long first_ns;     ///< global timer at the first begin
  unsigned long long last_ns;      ///< and at the last end
  unsigned arrived;                ///< blocks that are ready to begin
  unsigned gave_up;                ///< blocks that waited for others in vain
  unsigned long long sink;         ///< never written but by chance; keeps loads alive
};

/// Kernels `loaded_*`, `link_lines`, `place_chains` and `touch_ring`: one block an SM, one chain after the other of
/// each warp of each block begins at places that divide the ring evenly.
struct LoadedChaseParameters {
  RingOrder order;
  unsigned long long buffer;
  unsigned long long first_byte;
  unsigned long long result;  ///< address of a LoadsResult
  unsigned long long starts;  ///< address of u64 by chain: where it begins, as byte offset like `first_byte`
  unsigned long long chains;  ///< of all warps
  unsigned warmup_rounds;     ///< multiples of 8, both
  unsigned rounds;
  unsigned whole_lines;  ///< of touch_ring: 1: all four sectors of a node's line
  unsigned reserved;
};

/// Kernels `stream_*`. A set of `quads` times 16 bytes, gone round as often as it takes.
struct StreamParameters {
  unsigned long long buffer;
  unsigned long long result;   ///< address of a LoadsResult
  unsigned long long to_copy;  ///< bytes from a place to that of its copy
  unsigned quads;              ///< of the set; of a copy: of its first half
  unsigned own;                ///< 1: each block has a set of its own
  unsigned own_quads;          ///< from one block's set to the next one's
  unsigned warm_turns;         ///< untimed
  unsigned turns;              ///< each is 8 loads (or stores) of a thread, 4 where an SM has two blocks
  unsigned reserved;
};

/// Kernels `timer`, `loop_overhead`, `spin_clock`.
struct ClockParameters {
  unsigned long long results;  ///< address: u64 cycles each (timer), or {cycles, ns}
  unsigned long long sink;     ///< address that is never written
  unsigned long long amount;   ///< repetitions, iterations or nanoseconds
};

}  // namespace gpusonde::cuda
