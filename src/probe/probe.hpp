// A probe plans experiments, has a target execute them, stores what came back, and infers findings
// from what is stored. The two halves are apart so that a saved run is analysed by the same code.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/cancel.hpp"
#include "experiment/experiment.hpp"
#include "gpusonde/error.hpp"
#include "gpusonde/run.hpp"
#include "target/target.hpp"

namespace gpusonde {

enum class SizePreset : std::uint8_t { dense, log, quick };

/// What the user asked of the latency study. Validated once, by the command line or by `check`.
struct LatencyOptions {
  SizePreset preset = SizePreset::log;
  std::uint64_t min_bytes = 0;  ///< 0: the preset's
  std::uint64_t max_bytes = 0;  ///< 0: the preset's, within memory
  std::uint32_t points_per_octave = 16;
  std::vector<LoadPath> policies = {LoadPath::global_ca, LoadPath::global_cg};
  std::vector<ChainKind> chains = {ChainKind::pointer};
  bool subtract_overhead = false;
  std::optional<Warmup> warmup;  ///< empty: auto (serial where parallel is known to mislead)
  std::uint64_t hops = 4096;
};

/// What the user asked of the sweep over memory: one node a stride. Validated by the command line or by `check_sweep`.
struct SweepOptions {
  std::vector<std::uint64_t> strides_bytes = {2ULL << 20, 8ULL << 20, 32ULL << 20, 64ULL << 20};
  std::uint64_t min_bytes = 0;    ///< 0: two nodes of each stride
  std::uint64_t max_bytes = 0;    ///< 0: what max_mem_fraction allows
  double max_mem_fraction = 0.9;  ///< of the memory that can be had
  std::vector<LoadPath> policies = {LoadPath::global_ca, LoadPath::global_cg};
  std::uint64_t step = 0;  ///< node i leads to node i + step; 0: a random order
  std::uint32_t laps = 2;  ///< timed
};

/// What a counter of the hardware says that one load of a pattern asked for, by name: sectors, lines. Filled by whoever
/// can read counters, which no probe does.
struct CounterReading {
  std::string counter;  ///< `sectors`, `tags`, ...
  double per_load = 0;
};

/// What the user asked of the coalescer: lanes of a pattern of their own besides the usual ones, and counters.
struct CoalesceOptions {
  std::string pattern;               ///< as given; empty: only the usual ones
  std::vector<std::uint64_t> lanes;  ///< byte offset of each of the pattern's lanes
  std::uint32_t width = 4;           ///< bytes a lane: 4, 8 or 16
  /// Reads counters while loads of a pattern run, at most a few times; empty: counters are not asked for.
  std::function<Result<std::vector<CounterReading>>(const std::vector<std::uint64_t>& lanes, std::uint32_t width)>
      read_counters;
};

struct ProbeOptions {
  LatencyOptions latency;
  SweepOptions sweep;
  CoalesceOptions coalesce;
  std::uint64_t map_lines = 4608;  ///< of the map of lines by SMs, consecutive ones included
  bool map_only = false;           ///< no functions, no contention
  bool quick = false;
  bool thorough = true;  ///< a survey: finer transitions, and the whole table of storage splits
  std::uint64_t seed = 1;
};

/// One thing a probe may find: for `gpusonde list` and for the schema of results.
struct FindingSpec {
  std::string_view id;
  std::string_view unit;
  std::string_view meaning;
};

/// What is happening now, for the progress line. `fraction` is of this probe, 0 to 1.
struct Progress {
  std::string_view probe;
  std::string doing;
  double fraction = 0;
};

struct ProbeContext {
  Target& target;
  const ProbeOptions& options;
  Measurements& measurements;  ///< earlier probes' tables, and where this probe adds its own
  const CancelToken* cancel = nullptr;
  std::function<void(const Progress&)> progress;
};

/// Findings, and tables derived for the reports (levels, fits), which are not measurements.
struct Analysis {
  std::vector<Finding> findings;
  std::vector<std::pair<std::string, Table>> derived;
};

struct AnalysisInput {
  const Measurements& measurements;
  const DeviceInfo& device;
  const RunOptions& options;
};

class Probe {
 public:
  Probe() = default;
  Probe(const Probe&) = delete;
  Probe& operator=(const Probe&) = delete;
  virtual ~Probe() = default;

  [[nodiscard]] virtual std::string_view name() const noexcept = 0;     ///< `latency`
  [[nodiscard]] virtual std::string_view summary() const noexcept = 0;  ///< one line for `list`
  [[nodiscard]] virtual std::span<const FindingSpec> findings() const noexcept = 0;
  /// Names of the tables it measures; cleared before it measures again.
  [[nodiscard]] virtual std::span<const std::string_view> tables() const noexcept = 0;
  /// Fills `context.measurements`. On error what was stored stays, and is analysed as far as it goes.
  [[nodiscard]] virtual Result<void> measure(ProbeContext& context) const = 0;
  /// Whether `analyze` reads tables of probes that come later, so that its findings may change with them.
  [[nodiscard]] virtual bool looks_ahead() const noexcept { return false; }
  /// Pure. Tables it needs that are absent make findings `skipped`.
  [[nodiscard]] virtual Analysis analyze(const AnalysisInput& input) const = 0;
};

/// All probes, in the order a survey runs them.
[[nodiscard]] std::span<const Probe* const> probe_list();

}  // namespace gpusonde
