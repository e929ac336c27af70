// A GPU described in a file: the ground truth of the simulated GPU. Read from TOML, validated, saved.
// Latencies are for a 64-bit pointer chain, from issue to use, the whole way (not per stage).
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "gpusonde/error.hpp"
#include "gpusonde/finding.hpp"
#include "model/address_function.hpp"

namespace gpusonde {

enum class Replacement : std::uint8_t { lru, fifo, tree_plru, nru, srrip, random };
enum class AddressSpace : std::uint8_t { virtual_address, physical_address };
/// Who shares one; `partition`: half of the SMs.
enum class Scope : std::uint8_t { sm, tpc, cpc, gpc, partition, gpu };
enum class Placement : std::uint8_t { contiguous, random };
/// Which set of a TLB a span of addresses belongs to. `folded` is the exclusive or of all groups of log2(sets)
/// bits of the span's number: runs at any power-of-two distance fill all sets evenly.
enum class TlbIndex : std::uint8_t { modulo, folded };
/// What a load that meets a refresh waits: the stall, or what is left of a refresh that takes so long.
enum class RefreshWait : std::uint8_t { fixed, rest };

[[nodiscard]] std::string_view to_string(Replacement policy) noexcept;  // "lru", "fifo", "tree-plru", ...

/// A time that belongs partly to the SM clock and partly to fixed clocks.
struct DomainLatency {
  double sm_cycles = 0;
  double fixed_ns = 0;
  /// In SM cycles at an SM clock.
  [[nodiscard]] constexpr double cycles(double sm_mhz) const noexcept { return sm_cycles + fixed_ns * sm_mhz / 1000.0; }

  bool operator==(const DomainLatency&) const = default;
};

/// One cache level. Capacity = slices * sets * ways * line_bytes.
/// With two partitions each holds all of this, so the figures are those of one: a load is answered by the copy in the
/// partition of its SM (Scope::partition), an atomic goes to the line's home.
struct CacheModel {
  std::string name = "l1";  ///< l1, l2, l3: in order, nearest first
  Scope scope = Scope::sm;
  std::uint32_t line_bytes = 128;
  std::uint32_t sector_bytes = 32;
  std::uint32_t fetch_bytes = 0;  ///< a miss brings this aligned block of the line from below; 0: one sector
  std::uint32_t ways = 4;
  std::uint32_t sets = 256;  ///< per slice
  std::uint32_t slices = 1;
  AddressFunction set_function;    ///< of the line's first byte; value % sets is the set
  AddressFunction slice_function;  ///< of the line's first byte; value % slices is the slice
  std::uint32_t partitions = 1;    ///< 1 or 2
  AddressFunction home_function;   ///< of the line's first byte, physical; value % partitions is its home
  AddressSpace index = AddressSpace::physical_address;
  AddressSpace tag = AddressSpace::physical_address;
  Replacement replacement = Replacement::lru;
  DomainLatency hit;               ///< load to use of a hit here, mean over slices
  double slice_spread_cycles = 0;  ///< SM-to-slice distance: hit +- half of this, mean 0 for every SM
  double far_cycles = 0;           ///< what an atomic takes more when its line's home is the other partition
  double atomic_cycles = 0;        ///< what an atomic takes more here than a load that hits
  double lines_per_cycle = 0.5;    ///< lines that one slice (or an SM's L1) serves in an SM cycle
  bool allocates_cg = true;        ///< false: `.cg` loads bypass this level (L1)

  [[nodiscard]] std::uint64_t capacity_bytes() const noexcept {
    return std::uint64_t{line_bytes} * ways * sets * slices;
  }
  /// What a miss brings from the level below.
  [[nodiscard]] std::uint32_t fetched_bytes() const noexcept { return fetch_bytes == 0 ? sector_bytes : fetch_bytes; }

  bool operator==(const CacheModel&) const = default;
};

/// Unified L1/shared storage. The shared part is the smallest choice that holds both what the carve-out
/// asks for and what the most resident blocks of the launch reserve; the L1 keeps the rest.
struct UnifiedStorageModel {
  std::uint64_t total_bytes = 0;
  std::vector<std::uint64_t> shared_choices_bytes;  ///< ascending
  std::uint64_t reserved_per_block_bytes = 1024;
  std::uint32_t max_blocks = 32;     ///< resident per SM
  std::uint32_t max_threads = 2048;  ///< resident per SM

  bool operator==(const UnifiedStorageModel&) const = default;
};

struct TlbModel {
  std::string name = "utlb";
  std::uint32_t entries = 16;
  std::uint32_t ways = 0;             ///< 0: fully associative
  TlbIndex index = TlbIndex::modulo;  ///< folded: the number of sets is a power of two
  std::uint64_t span_bytes = 2ULL << 20;
  Replacement replacement = Replacement::lru;
  Scope scope = Scope::sm;
  DomainLatency miss;  ///< added to a load that misses here and hits the next level; of the last level: the walk

  bool operator==(const TlbModel&) const = default;
};

struct PagingModel {
  std::uint64_t frame_bytes = 2ULL << 20;
  Placement placement = Placement::random;

  bool operator==(const PagingModel&) const = default;
};

/// DRAM behind the last cache. `latency` is the whole load with the row to be opened and the first-level
/// translation present, without refresh; a hit in an open row takes `activate_ns` less.
struct DramModel {
  std::uint32_t controllers = 12;
  std::uint32_t channels_per_controller = 2;
  std::uint32_t banks = 16;  ///< per channel
  std::uint64_t rows = 65536;
  std::uint32_t row_bytes = 1024;
  std::uint32_t column_bytes = 32;
  AddressFunction channel_function;  ///< % (controllers * channels_per_controller)
  AddressFunction bank_function;     ///< % banks
  AddressFunction row_function;
  DomainLatency latency;
  double activate_ns = 0;       ///< what opening a new row adds to a read in an open one
  double column_ns = 0;         ///< each further column of an open row
  double refresh_fraction = 0;  ///< share of loads that meet a refresh
  double refresh_stall_ns = 0;  ///< what such a load waits, at most
  double refresh_interval_ns = 3900;
  RefreshWait refresh_waits = RefreshWait::fixed;  ///< rest: the fraction is stall / interval

  bool operator==(const DramModel&) const = default;
};

struct TimingModel {
  double sm_mhz = 1000;
  double memory_mhz = 1000;
  double index_overhead_cycles = 0;     ///< what a 32-bit index hop adds to a pointer hop
  double timer_overhead_cycles = 2;     ///< two clock reads back to back
  double per_hop_overhead_cycles = 10;  ///< what timing each hop adds to it
  double loop_overhead_cycles = 4;      ///< one iteration of the multiply-add loop
  double shared_hit_cycles = 0;         ///< shared-memory load; 0: the model has no shared memory
  double shared_bytes_per_cycle = 128;  ///< that an SM's shared memory reads or writes in an SM cycle
  double register_read_cycles = 0;      ///< what a shared load with its address in a register takes more than one with
                                        ///< an immediate address
  double texture_hit_cycles = 0;        ///< texture load that hits; 0: the model has no textures
  double crossbar_lines_per_cycle = 2;  ///< line requests that an SM can send in one of its cycles
  double crossbar_bytes_per_cycle = 0;  ///< that come back to an SM in one of its cycles; 0: no limit

  bool operator==(const TimingModel&) const = default;
};

/// A pipeline: a dependent operation follows after `latency_cycles`, an independent one of the same warp after
/// `interval_cycles`.
struct InstructionModel {
  std::string operation;  ///< ffma, imad, ...: see Operation; none of the shared loads
  double latency_cycles = 0;
  double interval_cycles = 0;

  bool operator==(const InstructionModel&) const = default;
};

/// A level of the caches for constants, nearest first, fully associative, LRU. Beyond the last one: L2.
struct ConstantCacheModel {
  std::uint64_t bytes = 2048;
  std::uint32_t line_bytes = 64;
  double hit_cycles = 0;

  bool operator==(const ConstantCacheModel&) const = default;
};

/// Blocks that can read each other's shared memory.
struct ClusterModel {
  std::uint32_t max_blocks = 0;     ///< 0: no clusters
  double self_cycles = 0;           ///< a block's own shared memory, by the same instruction
  double remote_cycles = 0;         ///< another block's, mean
  double remote_spread_cycles = 0;  ///< remote +- half of this, by the pair of SMs

  bool operator==(const ClusterModel&) const = default;
};

/// Seeded measurement noise, off by default.
struct NoiseModel {
  double run_fraction = 0;  ///< each repetition's total is scaled by 1 + this * N(0,1)
  double hop_cycles = 0;    ///< standard deviation added to each hop in per-hop timing (not below 0)

  bool operator==(const NoiseModel&) const = default;
};

struct DeviceModel {
  std::string id;      ///< file stem, e.g. `rtx4090`
  std::string name;    ///< e.g. `NVIDIA GeForce RTX 4090`
  std::string origin;  ///< the path or built-in name it was loaded from
  std::uint32_t compute_capability_major = 0;
  std::uint32_t compute_capability_minor = 0;
  std::uint32_t sm_count = 1;
  std::uint32_t sms_per_tpc = 2;  ///< consecutive numbers
  std::uint32_t sms_per_cpc = 6;
  std::uint32_t sms_per_gpc = 18;
  std::uint64_t memory_bytes = 0;
  std::uint32_t bus_width_bits = 0;
  std::uint64_t shared_per_sm_bytes = 0;
  TimingModel timing;
  std::vector<CacheModel> caches;  ///< nearest first; at least one
  std::optional<UnifiedStorageModel> unified;
  std::vector<TlbModel> tlbs;  ///< nearest first; may be empty: translation is free
  PagingModel paging;
  DramModel dram;
  std::vector<InstructionModel> instructions;
  std::vector<ConstantCacheModel> constants;
  ClusterModel cluster;
  NoiseModel noise;

  /// Bytes a second that the memory's pins can carry, two transfers a clock; 0: not known.
  [[nodiscard]] double memory_bytes_per_second() const noexcept { return 2e6 * timing.memory_mhz * bus_width_bits / 8; }

  bool operator==(const DeviceModel&) const = default;
};

/// Reads a model. `text` is the file's content, `file` its name in error messages.
/// Errors: bad_input `file:line:col: what is wrong; what would be right`.
[[nodiscard]] Result<DeviceModel> parse_model(std::string_view text, const std::string& file);
[[nodiscard]] Result<DeviceModel> load_model(const std::filesystem::path& path);
/// Built in by name (`rtx4090`) or a path that ends in .toml. Errors name the built-in ones.
[[nodiscard]] Result<DeviceModel> find_model(const std::string& name_or_path);
[[nodiscard]] std::vector<std::string> built_in_models();
/// The TOML text of a built-in model. Precondition: name is one of built_in_models().
[[nodiscard]] std::string_view built_in_model_text(std::string_view name);
/// Everything that must hold, for models made in code. Errors: bad_input.
[[nodiscard]] Result<void> validate(const DeviceModel& model);
/// TOML that parse_model reads back to an equal model.
[[nodiscard]] std::string to_toml(const DeviceModel& model);

/// What the findings would be if the inference were perfect, at an SM clock: by finding id.
/// Joined to a run's findings as `truth`; never seen by a probe.
[[nodiscard]] std::vector<std::pair<std::string, FindingValue>> truth_of(const DeviceModel& model, double sm_mhz);

}  // namespace gpusonde
