// Experiments are data: what a target is asked to do, and the samples it gives back. Nothing here
// measures and nothing here infers.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <variant>
#include <vector>

#include "experiment/ring_order.hpp"

namespace gpusonde {

/// Load instruction of a hop. Source: PTX ISA, cache operators.
enum class LoadPath : std::uint8_t {
  global_ca,  ///< cached in L1 and L2
  global_cg,  ///< cached in L2 only
  global_cv,  ///< volatile: fetched again
  global_nc,  ///< read-only path
  shared,     ///< shared memory; the ring lies in the block's shared memory
};

/// What a hop does to find the next node.
enum class ChainKind : std::uint8_t {
  pointer,  ///< p = *(u64*)p
  index,    ///< i = chain[i], 32-bit; adds the address arithmetic
};

enum class Warmup : std::uint8_t {
  none,
  serial,    ///< one lane walks whole laps of the ring, as the timed chase does
  parallel,  ///< the chasing block touches every line in ring order
};

enum class HopTiming : std::uint8_t {
  aggregate,  ///< two clock reads around all hops of a repetition
  per_hop,    ///< a clock read around each hop; costs some cycles a hop, for classifying only
};

[[nodiscard]] std::string_view to_string(LoadPath path) noexcept;   // "ca", "cg", "cv", "nc", "shared"
[[nodiscard]] std::string_view to_string(ChainKind kind) noexcept;  // "pointer", "index"
[[nodiscard]] std::string_view to_string(Warmup warmup) noexcept;   // "none", "serial", "parallel"

/// A closed chain of nodes inside the target's buffer, node 0 of the address order at `first_byte`.
struct Ring {
  std::uint64_t first_byte = 0;
  RingOrderParameters order;

  /// Bytes from the first node's to past the last node's stride.
  [[nodiscard]] std::uint64_t footprint_bytes() const noexcept { return order.node_count * order.stride_bytes; }
};

/// `hops`, or the next multiple of 8, which is what chases take.
[[nodiscard]] constexpr std::uint64_t round_up_to_8(std::uint64_t hops) noexcept { return (hops + 7) / 8 * 8; }

/// How unified L1/shared storage is to be split for the chase: the carve-out asked for, and the block
/// size, which bounds how many blocks could be resident and so what is reserved for them.
struct StorageSplit {
  int carveout_percent = 0;            ///< shared part asked for: 0 (most L1) to 100; -1: driver's choice
  std::uint32_t block_threads = 1024;  ///< threads of the chasing block; one of them chases
};

/// Chase `ring`, warmed as asked, then time `repetitions` runs of `hops` dependent loads, each going
/// on where the last ended. The ring is linked anew for every experiment; caches are not flushed.
struct ChaseExperiment {
  Ring ring;
  LoadPath path = LoadPath::global_ca;
  ChainKind chain = ChainKind::pointer;
  Warmup warmup = Warmup::serial;
  std::uint32_t warmup_laps = 1;
  /// The timed chase begins so many positions before the lap's end, at lines touched that long ago; 0: at
  /// the lap's beginning, as the chase goes on. At most the ring's nodes; needs a parallel warm-up.
  std::uint64_t start_back = 0;
  std::uint64_t hops = 4096;  ///< per repetition; a multiple of 8. per_hop: at most 8192
  std::uint32_t repetitions = 3;
  HopTiming timing = HopTiming::aggregate;
  std::optional<std::uint32_t> sm;  ///< chase on this SM; empty: any
  StorageSplit split;
};

struct ChaseSamples {
  std::uint64_t hops = 0;                 ///< per repetition
  std::vector<std::uint64_t> cycles;      ///< one per repetition, of all its hops
  std::vector<std::uint64_t> wall_ns;     ///< one per repetition, from the global timer (about 1 us ticks)
  std::vector<std::uint32_t> hop_cycles;  ///< per_hop only: repetitions * hops, in order
  std::uint32_t sm = 0;                   ///< SM that chased
  std::uint64_t shared_config_bytes = 0;  ///< shared part of the unified storage; 0 when not known
};

/// Where the places of a list lie.
enum class Region : std::uint8_t {
  buffer,   ///< the target's buffer, as for a ring
  aliases,  ///< one physical page under many virtual ones: page after page of AliasSpace maps the same memory
};

/// Chase a ring of 64-bit pointers whose nodes are given one by one, in chasing order: `warmup_hops` untimed
/// loads from places[0] on, then `repetitions` timed runs of `hops`, each going on where the last ended.
/// The ring is linked anew for every experiment, of aliases through a mapping of its own, so that no
/// translation of the places is used before the first load.
struct ListChaseExperiment {
  Region region = Region::buffer;
  std::vector<std::uint64_t> places;    ///< byte offset of each node in the region; a multiple of 8
  LoadPath path = LoadPath::global_cg;  ///< one of global memory
  std::uint64_t warmup_hops = 0;        ///< a multiple of 8
  std::uint64_t hops = 64;              ///< per repetition; a multiple of 8. per_hop: see Capabilities
  std::uint32_t repetitions = 32;
  HopTiming timing = HopTiming::aggregate;
  std::optional<std::uint32_t> sm;         ///< chase on this SM; empty: any
  std::optional<std::uint32_t> warmup_sm;  ///< walk the warm-up there instead; needs `sm`
  StorageSplit split;
};

/// What a step of a sequence does with its places.
enum class StepKind : std::uint8_t {
  touch,   ///< loads them all at once, in no order: the block's threads share them
  walk,    ///< loads them one after the other, each when the last has come back
  time,    ///< likewise, with a reading for each load
  drop,    ///< no loads: the places' lines leave L2, as far as the device has an instruction for that
  gather,  ///< one load of one warp, a place a lane, at most 32; one reading, from its issue until all have come back
};

/// Places [first, first + count) of the sequence's list, `times` times over.
struct SequenceStep {
  StepKind kind = StepKind::walk;
  std::uint32_t first = 0;
  std::uint32_t count = 1;
  std::uint32_t times = 1;
};

/// Many small tests of what is still in a cache: load this, then that, then time this again. Test i is the steps
/// [tests[i], tests[i + 1]), the last one up to the end. L1 is empty at the beginning of each test; what L2 holds
/// goes on from test to test, in order. What lies at the places is neither looked at nor changed.
struct SequenceExperiment {
  Region region = Region::buffer;
  std::vector<std::uint64_t> places;  ///< byte offset in the region; a multiple of 8 (see lane_bytes); repeats are fine
  std::vector<SequenceStep> steps;
  std::vector<std::uint32_t> tests = {0};  ///< ascending, the first one 0
  bool at_once = false;                    ///< tests do not depend on each other: each may run on an SM of its own
  LoadPath path = LoadPath::global_cg;     ///< one of global memory
  std::uint32_t prefetch_bytes = 0;        ///< 64, 128 or 256: the load's L2 prefetch size; 0: without
  std::uint32_t fetch_limit_bytes = 0;     ///< the driver's limit of L2 fetches while it runs; 0: left alone
  std::uint32_t lane_bytes = 8;            ///< of a gather's lanes: 4, 8 or 16; its places are multiples of that
  bool stamps = false;                     ///< also when each timed load or gather began
  std::optional<std::uint32_t> sm;         ///< all tests on this SM; empty: any
  StorageSplit split;
};

struct SequenceSamples {
  std::vector<std::uint32_t> cycles;      ///< one a timed load or gather, in the order of the steps
  std::vector<std::uint32_t> starts;      ///< with stamps: low 32 bits of the SM's clock when each of them began
  std::uint64_t base_address = 0;         ///< virtual address of the region's place 0
  std::uint64_t shared_config_bytes = 0;  ///< as in ChaseSamples
};

/// Where a line is asked: a load is answered by the nearest copy in L2, an atomic where the line is at home.
enum class LineOperation : std::uint8_t { load, atomic };

/// Latency of single lines from single SMs: each place holds its own address, and `hops` dependent accesses go to it
/// alone, after some that are not timed. The best of `repetitions` counts.
struct LineMapExperiment {
  std::vector<std::uint64_t> places;  ///< byte offset in the buffer; a multiple of 8; on lines of their own
  std::vector<std::uint32_t> sms;     ///< empty: all
  LineOperation operation = LineOperation::load;
  std::uint32_t hops = 8;         ///< a multiple of 8
  std::uint32_t repetitions = 2;  ///< smallest counts
  std::uint32_t sms_at_once = 1;  ///< so many SMs measure at a time, each a line of its own
};

struct LineMapSamples {
  std::vector<std::uint32_t> sms;            ///< that measured, ascending
  std::vector<std::uint16_t> eighth_cycles;  ///< an access's latency in 1/8 cycles; [sm][place]
  std::uint64_t base_address = 0;            ///< virtual address of the buffer's place 0
};

/// All SMs load lines drawn at random from a list, past L1, as many at a time as they can have under way: how many
/// lines the slices that hold them serve.
struct ThroughputExperiment {
  std::vector<std::uint64_t> places;   ///< byte offset in the buffer; a multiple of 8; at most 8192
  std::uint32_t loads_a_lane = 256;    ///< each lane loads so many lines
  std::uint32_t threads_per_sm = 512;  ///< a multiple of 32
  std::uint32_t sms = 0;               ///< so many SMs load; 0: all
};

struct ThroughputSamples {
  std::uint64_t lines = 0;  ///< loaded in all
  double cycles = 0;        ///< from the first load to the last, on an SM's clock
  std::uint32_t sm_count = 0;
};

/// `warps` warps on each of `sms` SMs load at the same time, each from `chains` places of the ring that follow their
/// chains independently: a round is one load of each chain, and its time the latency under that load. The chains
/// of all warps begin at places spread evenly over the ring. The ring is linked anew, and warmed as asked: in parallel
/// (each of its lines is touched once by any SM), or by each warp walking `warmup_rounds` rounds, or both.
struct LoadedChaseExperiment {
  Ring ring;                            ///< stride a multiple of 8; of 128 with whole lines
  LoadPath path = LoadPath::global_cg;  ///< one of global memory
  std::uint32_t chains = 1;             ///< of a warp: 1, 2, 4 or 8
  std::uint32_t warps = 1;              ///< of an SM, 1 to 32
  std::uint32_t sms = 1;                ///< 0: all
  bool whole_lines = false;             ///< false: one lane loads 8 bytes; true: 32 lanes load the node's 128 bytes
  bool warm_parallel = false;
  std::uint32_t warmup_rounds = 0;
  std::uint32_t rounds = 256;  ///< timed
};

struct LoadedChaseSamples {
  double round_cycles = 0;    ///< mean over warps and rounds
  double elapsed_cycles = 0;  ///< of the SM that took longest, on its clock
  std::uint64_t wall_ns = 0;  ///< from the first warp's begin to the last one's end, by the global timer
  std::uint64_t loads = 0;    ///< of all warps and chains
  std::uint64_t bytes = 0;    ///< that the lanes asked for
  std::uint32_t sm_count = 0;
};

enum class Transfer : std::uint8_t { read, write, copy };

/// SMs stream over memory as fast as they can, 16 bytes a lane, for its bandwidth.
struct BandwidthExperiment {
  LoadPath path = LoadPath::global_cg;  ///< global_ca, global_cg or shared
  Transfer transfer = Transfer::read;   ///< copy: from the first half of the bytes to the second
  std::uint64_t bytes = 0;              ///< of the working set, a multiple of 32 KiB; of each SM if `per_sm`
  bool per_sm = false;                  ///< each SM has bytes of its own; in shared memory always
  std::uint32_t passes = 1;             ///< timed, over the whole set, after one that is not
  std::uint32_t threads_per_sm = 1024;  ///< 1024 or 2048
  std::uint32_t sms = 0;                ///< 0: all
};

struct BandwidthSamples {
  std::uint64_t bytes = 0;    ///< read and written, of all passes
  double cycles = 0;          ///< of the SM that took longest, on its clock
  std::uint64_t wall_ns = 0;  ///< from the first SM's begin to the last one's end, by the global timer
  std::uint32_t sm_count = 0;
};

/// One operation of a warp, as machine code names it.
enum class Operation : std::uint8_t {
  ffma,
  imad,
  imad_wide,  ///< 32 x 32 + 64 bits
  iadd3,
  lop3,
  mufu_ex2,
  dadd,
  dfma,
  hfma2,
  shared_register,   ///< a shared-memory load with its address in a register that waits for the last one
  shared_immediate,  ///< with an immediate address, under a predicate that waits for the last one
  shared_predicate,  ///< with its address in a register, under such a predicate: what `shared_immediate` is held
                     ///< against
};
inline constexpr std::size_t k_operation_count = 12;
[[nodiscard]] std::string_view to_string(Operation operation) noexcept;  // "ffma", ..., "shared_predicate"

/// One warp runs `chains` chains of dependent operations that are independent of each other, one operation of each
/// in turn; short chains and long ones, so that what is not of the operations themselves cancels.
struct InstructionExperiment {
  Operation operation = Operation::ffma;
  std::uint32_t chains = 1;       ///< 1 to 16; 1 with a predicate
  std::uint32_t repetitions = 8;  ///< of each length
};

struct InstructionSamples {
  std::uint64_t short_length = 0;  ///< operations of one chain
  std::uint64_t long_length = 0;
  std::vector<std::uint64_t> short_cycles;  ///< one a repetition
  std::vector<std::uint64_t> long_cycles;
};

/// Memories behind instructions of their own.
enum class MemoryKind : std::uint8_t { constant, texture, read_only, shared };
[[nodiscard]] std::string_view to_string(MemoryKind kind) noexcept;  // "constant", "texture", "read_only", "shared"

/// A chase through one of them: a ring of `bytes / stride_bytes` nodes in a random order, walked once, then timed.
struct MemoryChaseExperiment {
  MemoryKind kind = MemoryKind::constant;
  std::uint64_t bytes = 1024;       ///< a multiple of the stride
  std::uint32_t stride_bytes = 64;  ///< a multiple of 8
  std::uint32_t hops = 1024;        ///< per repetition; a multiple of 8
  std::uint32_t repetitions = 5;
};

struct MemoryChaseSamples {
  std::uint64_t hops = 0;             ///< per repetition
  std::vector<std::uint64_t> cycles;  ///< one a repetition
};

/// Whether a memory's data lie where L1's do: a ring of `l1_bytes` in L1 (loads with .ca) is timed, then
/// `other_bytes` are loaded through the other memory, then the ring is timed again, one lap.
struct StorageSharingExperiment {
  MemoryKind kind = MemoryKind::texture;
  std::uint64_t l1_bytes = 0;     ///< a multiple of 1024
  std::uint64_t other_bytes = 0;  ///< a multiple of 1024; constant: up to the device's bank
  std::uint32_t repetitions = 5;
};

struct StorageSharingSamples {
  std::uint64_t hops = 0;                    ///< of a lap: one a line of 128 bytes
  std::vector<std::uint64_t> before_cycles;  ///< one a repetition
  std::vector<std::uint64_t> after_cycles;
  bool same_data = false;  ///< read_only, texture: the lines that the other loads touch are in the ring's memory
};

/// Loads of the shared memory of other SMs of a cluster: the latency from each block to each.
struct ClusterExperiment {
  std::uint32_t blocks = 8;  ///< of the cluster; see Capabilities
  std::uint32_t hops = 256;  ///< a multiple of 8
};

struct ClusterSamples {
  std::vector<std::uint32_t> sms;  ///< of each block
  std::vector<double> cycles;      ///< a hop's; [from][to]
};

/// Two clock reads back to back, `repetitions` times.
struct TimerExperiment {
  std::uint32_t repetitions = 64;
};

struct TimerSamples {
  std::vector<std::uint64_t> cycles;
};

/// A dependent integer multiply-add loop of `iterations` with no memory access: the baseline that the
/// RTX 5080 document subtracts.
struct LoopOverheadExperiment {
  std::uint64_t iterations = 1 << 16;
};

/// Spins for `duration_ns` on one SM and reads both clocks at each end: the SM clock in force.
struct ClockExperiment {
  std::uint64_t duration_ns = 20'000'000;
};

struct ElapsedSamples {
  std::uint64_t cycles = 0;
  std::uint64_t wall_ns = 0;
  std::uint64_t iterations = 0;
};

using Experiment = std::variant<ChaseExperiment, TimerExperiment, LoopOverheadExperiment, ClockExperiment,
                                ListChaseExperiment, SequenceExperiment, LineMapExperiment, ThroughputExperiment,
                                LoadedChaseExperiment, BandwidthExperiment, InstructionExperiment,
                                MemoryChaseExperiment, StorageSharingExperiment, ClusterExperiment>;
using Samples = std::variant<ChaseSamples, TimerSamples, ElapsedSamples, SequenceSamples, LineMapSamples,
                             ThroughputSamples, LoadedChaseSamples, BandwidthSamples, InstructionSamples,
                             MemoryChaseSamples, StorageSharingSamples, ClusterSamples>;

}  // namespace gpusonde
