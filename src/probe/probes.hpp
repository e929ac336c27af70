// The probes by name, and what they share.
#pragma once

#include <optional>

#include "inference/estimate.hpp"
#include "probe/probe.hpp"

namespace gpusonde {

[[nodiscard]] const Probe& clock_probe();
[[nodiscard]] const Probe& latency_probe();
[[nodiscard]] const Probe& capacity_probe();
[[nodiscard]] const Probe& tlb_probe();
[[nodiscard]] const Probe& sweep_probe();
[[nodiscard]] const Probe& addressing_probe();
[[nodiscard]] const Probe& l1_probe();
[[nodiscard]] const Probe& slices_probe();
[[nodiscard]] const Probe& l2_probe();
[[nodiscard]] const Probe& instr_probe();
[[nodiscard]] const Probe& memories_probe();
[[nodiscard]] const Probe& crossbar_probe();
[[nodiscard]] const Probe& bandwidth_probe();
[[nodiscard]] const Probe& load_probe();
[[nodiscard]] const Probe& coalesce_probe();
[[nodiscard]] const Probe& dram_probe();

/// SM clock in MHz from the table `clock`.
[[nodiscard]] Estimate sm_clock_estimate(const Measurements& measurements);
/// Cycles of one multiply-add iteration from the table `loop_overhead`.
[[nodiscard]] std::optional<double> loop_overhead_cycles(const Measurements& measurements);

}  // namespace gpusonde
