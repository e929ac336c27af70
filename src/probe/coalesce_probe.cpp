#include "probe/coalesce_probe.hpp"

#include <array>

#include "probe/probes.hpp"

namespace gpusonde {
namespace {

constexpr std::array k_findings{
    FindingSpec{"coalescer.sectors", "list", "sectors that a warp's load asks for, by access pattern"},
    FindingSpec{"coalescer.lines", "list", "lines that they lie in, each a request"},
    FindingSpec{"coalescer.line_cycles", "cycles", "what one more line costs a load that hits L1"},
    FindingSpec{"coalescer.wavefront_cycles", "cycles", "what one more read of L1's data banks costs such a load"},
    FindingSpec{"coalescer.counters", "text",
                "whether the hardware's counters say the same; only where they were read"},
};
constexpr std::array<std::string_view, 4> k_tables{"coalesce.lanes", "coalesce.latency", "coalesce.sector",
                                                   "coalesce.counters"};

class CoalesceProbe final : public Probe {
 public:
  [[nodiscard]] std::string_view name() const noexcept override { return "coalesce"; }
  [[nodiscard]] std::string_view summary() const noexcept override {
    return "loads of a warp: lines and sectors by access pattern, and what a further line costs";
  }
  [[nodiscard]] std::span<const FindingSpec> findings() const noexcept override { return k_findings; }
  [[nodiscard]] std::span<const std::string_view> tables() const noexcept override { return k_tables; }
  [[nodiscard]] Result<void> measure(ProbeContext& context) const override { return measure_coalesce(context); }
  [[nodiscard]] Analysis analyze(const AnalysisInput& input) const override { return analyze_coalesce(input); }
};

}  // namespace

const Probe& coalesce_probe() {
  static const CoalesceProbe probe;
  return probe;
}

}  // namespace gpusonde
