// The contract between probes and devices. A target executes experiments and returns samples; it
// never infers. A simulated GPU and a real one are the same kind of thing behind this contract.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/cancel.hpp"
#include "experiment/experiment.hpp"
#include "gpusonde/device.hpp"
#include "gpusonde/error.hpp"

namespace gpusonde {

/// What this target can do. A probe asks before it plans, and reports `unsupported` with the reason.
struct Capabilities {
  std::uint64_t max_ring_bytes = 0;         ///< largest first_byte + footprint of a global-memory ring
  std::uint64_t max_shared_ring_bytes = 0;  ///< likewise for LoadPath::shared; 0: none
  std::uint64_t max_per_hop_hops = 8192;    ///< most hops * repetitions with per_hop timing
  bool unified_storage = false;             ///< L1 and shared memory share storage: StorageSplit matters
  bool warmups_agree = false;               ///< a parallel warm-up leaves exactly what a serial one does
  bool sm_choice = false;                   ///< ChaseExperiment::sm is honoured
  std::vector<LoadPath> paths;
  std::uint32_t max_map_places = 1 << 16;           ///< of a LineMapExperiment
  std::vector<std::uint32_t> prefetch_sizes_bytes;  ///< of SequenceExperiment::prefetch_bytes; empty: none
  std::vector<std::uint32_t> fetch_limits_bytes;    ///< of SequenceExperiment::fetch_limit_bytes; empty: fixed
  bool drops_lines = false;                         ///< StepKind::drop
  bool physical_addresses = false;                  ///< Target::physical_addresses can tell
  std::vector<Operation> operations;                ///< of InstructionExperiment
  std::vector<MemoryKind> memories;                 ///< of MemoryChaseExperiment and StorageSharingExperiment
  std::uint64_t max_constant_bytes = 0;             ///< of MemoryKind::constant
  std::uint32_t max_cluster_blocks = 0;             ///< of ClusterExperiment; 0: no clusters
  std::string why_no_clusters;                      ///< one sentence when there are none
};

/// One physical page mapped under many virtual ones, on demand: address p of the space is byte p % page_bytes of
/// it. Translations then differ while the data stay the same.
struct AliasSpace {
  std::uint64_t page_bytes = 0;  ///< smallest page that can be mapped; 0: the device cannot have such a space
  std::uint64_t span_bytes = 0;  ///< virtual addresses reserved, a multiple of page_bytes
  std::uint64_t max_pages = 0;   ///< most pages mapped at a time

  std::string why_not;         ///< one sentence when page_bytes is 0
  bool uses_own_page = false;  ///< storing a repetition's result takes a translation too, of a page of its own
};

struct RunControl {
  const CancelToken* cancel = nullptr;            ///< may be null
  std::function<void(std::size_t done)> on_done;  ///< after each experiment; may be empty
};

class Target {
 public:
  Target() = default;
  Target(const Target&) = delete;
  Target& operator=(const Target&) = delete;
  virtual ~Target() = default;

  [[nodiscard]] virtual const DeviceInfo& device() const noexcept = 0;
  [[nodiscard]] virtual const Capabilities& capabilities() const noexcept = 0;
  /// Driver, host, ECC, MIG, other processes, clocks now. Unknown things stay empty.
  [[nodiscard]] virtual Environment environment() = 0;
  [[nodiscard]] virtual ClockState clocks() = 0;
  /// SHA-256 of the kernels that run (of the embedded PTX); empty for a simulated GPU.
  [[nodiscard]] virtual std::string kernels_sha256() const { return {}; }

  /// The space of Region::aliases; reserved when first asked for, mapped as experiments need it.
  [[nodiscard]] virtual AliasSpace alias_space() { return {0, 0, 0, "this device has no virtual memory management"}; }
  /// Undoes all mappings of the alias space, to leave their memory and time to others.
  virtual void release_aliases() {}

  /// Physical addresses of places of the buffer, as root tools read them from page tables. Errors: unsupported.
  [[nodiscard]] virtual Result<std::vector<std::uint64_t>> physical_addresses(std::span<const std::uint64_t> places);

  /// Executes the experiments in order and returns one Samples per experiment, of the alternative
  /// that belongs to it. Each experiment behaves as if run alone after the others: a target may
  /// reorder or run them at once only where that makes no difference.
  /// Errors: usage (an experiment outside the capabilities, or malformed), measurement (allocation or
  /// kernel failed), interrupted.
  [[nodiscard]] virtual Result<std::vector<Samples>> run(std::span<const Experiment> experiments,
                                                         const RunControl& control) = 0;
};

/// The check every target makes first: hops a multiple of 8 and not 0, node_count and stride not 0,
/// stride a multiple of 8 (pointer) or 4 (index), the ring inside max_ring_bytes, an index ring inside
/// 2^32 elements of 4 bytes, per_hop inside the limit, a path the target has. Errors: usage.
[[nodiscard]] Result<void> check(const ChaseExperiment& experiment, const Capabilities& capabilities);

/// Likewise for a list: hops and warmup_hops multiples of 8, at least two places, each a multiple of 8 and in its
/// region, no two in the same 8 bytes of memory, at most max_pages pages of aliases, a path of global memory.
/// `aliases` is looked at only for Region::aliases. Errors: usage, unsupported (no alias space: its reason).
[[nodiscard]] Result<void> check(const ListChaseExperiment& experiment, const Capabilities& capabilities,
                                 const AliasSpace& aliases);

/// Likewise for a sequence: steps inside the list, tests that ascend from 0, places in their region, sizes that the
/// target has. Errors: usage, unsupported.
[[nodiscard]] Result<void> check(const SequenceExperiment& experiment, const Capabilities& capabilities,
                                 const AliasSpace& aliases);
/// Places inside the buffer and on lines of their own, hops a multiple of 8, SMs below `sm_count`. Errors: usage.
[[nodiscard]] Result<void> check(const LineMapExperiment& experiment, const Capabilities& capabilities,
                                 std::uint32_t sm_count);
/// Places inside the buffer, 1 to 8192 of them; whole warps. Errors: usage.
[[nodiscard]] Result<void> check(const ThroughputExperiment& experiment, const Capabilities& capabilities,
                                 std::uint32_t sm_count);
/// A ring inside the buffer, of at least as many nodes as there are chains; SMs that the device has. Errors: usage.
[[nodiscard]] Result<void> check(const LoadedChaseExperiment& experiment, const Capabilities& capabilities,
                                 std::uint32_t sm_count);
/// Bytes that the buffer, or a block's shared memory, holds; SMs that the device has. Errors: usage, unsupported.
[[nodiscard]] Result<void> check(const BandwidthExperiment& experiment, const Capabilities& capabilities,
                                 std::uint32_t sm_count);
/// Operations, memories and clusters that the target has, within its limits. Errors: usage, unsupported.
[[nodiscard]] Result<void> check(const InstructionExperiment& experiment, const Capabilities& capabilities);
[[nodiscard]] Result<void> check(const MemoryChaseExperiment& experiment, const Capabilities& capabilities);
[[nodiscard]] Result<void> check(const StorageSharingExperiment& experiment, const Capabilities& capabilities);
[[nodiscard]] Result<void> check(const ClusterExperiment& experiment, const Capabilities& capabilities);

}  // namespace gpusonde
