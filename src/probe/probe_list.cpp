#include <array>

#include "probe/probes.hpp"

namespace gpusonde {

std::span<const Probe* const> probe_list() {
  static const std::array<const Probe*, 4> probes{&clock_probe(), &latency_probe(), &capacity_probe(), &tlb_probe()};
  return probes;
}

}  // namespace gpusonde
