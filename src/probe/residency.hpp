// Does a working set of n lines stay in L1? The question that capacity bisection asks.
#pragma once

#include <cstdint>

#include "inference/estimate.hpp"
#include "probe/probe.hpp"

namespace gpusonde {

/// What one answer rests on; a row of `capacity.probe`.
struct Residency {
  std::uint64_t nodes = 0;
  double misses_per_lap = 0;
  double tolerated_misses = 0;  ///< at most this many count as noise
  double uncertain_misses = 0;  ///< what the scatter of the repetitions leaves open; 0 where hops are counted
  std::uint64_t shared_config_bytes = 0;
  [[nodiscard]] bool resident() const noexcept { return misses_per_lap <= tolerated_misses; }
};

/// Asks about one storage split. Where per-hop samples would take storage from L1 (unified storage),
/// misses are counted from the total of eight laps: (latency - hit) * nodes / (miss - hit); else hop by hop.
class ResidencyProbe {
 public:
  /// `hit_cycles`, `miss_cycles`: the L1 plateau and the one above it, aggregate timing. `resident_nodes`
  /// is known to be resident: calibration.
  ResidencyProbe(ProbeContext& context, StorageSplit split, double hit_cycles, double miss_cycles,
                 std::uint64_t resident_nodes)
      : m_context(context),
        m_split(split),
        m_hit_cycles(hit_cycles),
        m_miss_cycles(miss_cycles),
        m_resident_nodes(resident_nodes) {}

  [[nodiscard]] Result<Residency> ask(std::uint64_t nodes);

 private:
  [[nodiscard]] Result<ChaseSamples> chase(std::uint64_t nodes, HopTiming timing, std::uint64_t hops,
                                           std::uint32_t repetitions);
  [[nodiscard]] Result<Residency> ask_in_total(std::uint64_t nodes);
  [[nodiscard]] Result<Residency> ask_by_hop(std::uint64_t nodes);
  [[nodiscard]] Result<void> calibrate_hops();

  ProbeContext& m_context;
  StorageSplit m_split;
  double m_hit_cycles, m_miss_cycles;
  std::uint64_t m_resident_nodes;
  double m_threshold_cycles = 0;  ///< per hop; 0: not calibrated yet
  double m_stray_fraction = 0;
  double m_base_cycles = 0;  ///< per hop of a resident ring, aggregate; 0: not calibrated yet
};

}  // namespace gpusonde
