#include "probe/slices_probe.hpp"

#include <array>

#include "probe/probes.hpp"

namespace gpusonde {
namespace {

constexpr std::array k_findings{
    FindingSpec{"l2.slices", "count", "slices that lines are spread over, as latency from all SMs tells them apart"},
    FindingSpec{"l2.slice_function", "text", "program that gives the slice of an address, or of an offset in its page"},
    FindingSpec{"l2.latency_spread", "cycles", "slowest less fastest slice, over all SMs"},
    FindingSpec{"l2.partitions", "count", "halves that atomics are near to or far from"},
    FindingSpec{"l2.home_mask", "hex", "parity of address bits inside a page that chooses a line's home"},
};
constexpr std::array<std::string_view, 6> k_tables{"slices.plan", "slices.load",   "slices.atomic",
                                                   "slices.home", "slices.labels", "slices.contention"};

class SlicesProbe final : public Probe {
 public:
  [[nodiscard]] std::string_view name() const noexcept override { return "slices"; }
  [[nodiscard]] std::string_view summary() const noexcept override {
    return "slices and partitions of L2: latency of lines from every SM, and who answers at once";
  }
  [[nodiscard]] std::span<const FindingSpec> findings() const noexcept override { return k_findings; }
  [[nodiscard]] std::span<const std::string_view> tables() const noexcept override { return k_tables; }
  [[nodiscard]] Result<void> measure(ProbeContext& context) const override { return measure_slices(context); }
  [[nodiscard]] Analysis analyze(const AnalysisInput& input) const override { return analyze_slices(input); }
};

}  // namespace

const Probe& slices_probe() {
  static const SlicesProbe probe;
  return probe;
}

}  // namespace gpusonde
