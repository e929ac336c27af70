#include <array>

#include "probe/probes.hpp"

namespace gpusonde {

std::span<const Probe* const> probe_list() {
  static const std::array<const Probe*, 16> probes{
      &clock_probe(),    &latency_probe(), &capacity_probe(),  &tlb_probe(),      &sweep_probe(), &addressing_probe(),
      &l1_probe(),       &slices_probe(),  &l2_probe(),        &coalesce_probe(), &instr_probe(), &memories_probe(),
      &crossbar_probe(), &dram_probe(),    &bandwidth_probe(), &load_probe()};
  return probes;
}

}  // namespace gpusonde
