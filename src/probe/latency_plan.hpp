// What the latency study asks of a target: the sweep, its transitions again, controls and comparisons.
#pragma once

#include <vector>

#include "experiment/experiment.hpp"
#include "probe/hierarchy.hpp"
#include "probe/probe.hpp"

namespace gpusonde {

/// Up to here a serial warm-up costs no more than a few milliseconds, and a parallel one is known to
/// mislead between the L1 size and 1 MiB.
inline constexpr std::uint64_t k_serial_up_to_bytes = 4ULL << 20;

/// One point of the sweep.
[[nodiscard]] ChaseExperiment sweep_point(std::uint64_t size_bytes, LoadPath path, ChainKind chain,
                                          const ProbeOptions& options);

/// Sizes between plateaus, and their neighbours, that were warmed in parallel: to be measured again
/// serially where that is affordable (`limit_bytes`).
[[nodiscard]] std::vector<std::uint64_t> transition_sizes(const Hierarchy& hierarchy,
                                                          const std::vector<std::uint64_t>& parallel_sizes,
                                                          std::uint64_t limit_bytes);

/// A control measurement and the name it is stored under.
struct ControlExperiment {
  const char* name;
  ChaseExperiment experiment;
};

/// The three controls of the step above a plateau, at one size inside the next plateau.
[[nodiscard]] std::vector<ControlExperiment> step_controls(const Hierarchy& hierarchy, const Plateau& lower,
                                                           const Plateau& upper, const ProbeOptions& options);

[[nodiscard]] LoadPath path_of(const std::string& policy);
[[nodiscard]] ChainKind chain_of(const std::string& chain);

}  // namespace gpusonde
