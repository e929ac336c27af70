#include "probe/latency_probe.hpp"

#include <array>

#include "probe/probes.hpp"

namespace gpusonde {
namespace {

constexpr std::array k_findings{
    FindingSpec{"l1.hit_latency", "cycles", "L1 hit, 64-bit pointer chain"},
    FindingSpec{"l2.hit_latency", "cycles", "L2 hit from one SM; the near partition where there are two"},
    FindingSpec{"l2.far_latency", "cycles", "L2 hit in the far partition"},
    FindingSpec{"dram.latency", "cycles", "memory, random over the working set; samples name the TLB state"},
    FindingSpec{"l1.hit_latency_index", "cycles", "the same with a 32-bit index chain"},
    FindingSpec{"l2.hit_latency_index", "cycles", "the same with a 32-bit index chain"},
    FindingSpec{"l2.far_latency_index", "cycles", "the same with a 32-bit index chain"},
    FindingSpec{"dram.latency_index", "cycles", "the same with a 32-bit index chain"},
    FindingSpec{"chain.index_overhead", "cycles", "what a 32-bit index chain adds to a hop"},
};

constexpr std::array<std::string_view, 3> k_tables{"latency.curve", "latency.control", "latency.reference"};

class LatencyProbe final : public Probe {
 public:
  [[nodiscard]] std::string_view name() const noexcept override { return "latency"; }
  [[nodiscard]] std::string_view summary() const noexcept override {
    return "true latency over the working set: levels, steps, both chains";
  }
  [[nodiscard]] std::span<const FindingSpec> findings() const noexcept override { return k_findings; }
  [[nodiscard]] std::span<const std::string_view> tables() const noexcept override { return k_tables; }
  [[nodiscard]] Result<void> measure(ProbeContext& context) const override { return measure_latency(context); }
  [[nodiscard]] Analysis analyze(const AnalysisInput& input) const override { return analyze_latency(input); }
  [[nodiscard]] bool looks_ahead() const noexcept override { return true; }  // capacity.recency
};

}  // namespace

const Probe& latency_probe() {
  static const LatencyProbe probe;
  return probe;
}

}  // namespace gpusonde
