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
  touch,  ///< loads them all at once, in no order: the block's threads share them
  walk,   ///< loads them one after the other, each when the last has come back
  time,   ///< likewise, with a reading for each load
  drop,   ///< no loads: the places' lines leave L2, as far as the device has an instruction for that
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
  std::vector<std::uint64_t> places;  ///< byte offset in the region; a multiple of 8; repeated places are fine
  std::vector<SequenceStep> steps;
  std::vector<std::uint32_t> tests = {0};  ///< ascending, the first one 0
  bool at_once = false;                    ///< tests do not depend on each other: each may run on an SM of its own
  LoadPath path = LoadPath::global_cg;     ///< one of global memory
  std::uint32_t prefetch_bytes = 0;        ///< 64, 128 or 256: the load's L2 prefetch size; 0: without
  std::uint32_t fetch_limit_bytes = 0;     ///< the driver's limit of L2 fetches while it runs; 0: left alone
  std::optional<std::uint32_t> sm;         ///< all tests on this SM; empty: any
  StorageSplit split;
};

struct SequenceSamples {
  std::vector<std::uint32_t> cycles;      ///< one a timed load, in the order of the steps
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
};

struct ThroughputSamples {
  std::uint64_t lines = 0;  ///< loaded in all
  double cycles = 0;        ///< from the first load to the last, on an SM's clock
  std::uint32_t sm_count = 0;
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
                                ListChaseExperiment, SequenceExperiment, LineMapExperiment, ThroughputExperiment>;
using Samples =
    std::variant<ChaseSamples, TimerSamples, ElapsedSamples, SequenceSamples, LineMapSamples, ThroughputSamples>;

}  // namespace gpusonde
