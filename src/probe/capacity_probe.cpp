#include "probe/capacity_probe.hpp"

#include <array>

#include "probe/probes.hpp"

namespace gpusonde {
namespace {

constexpr std::array k_findings{
    FindingSpec{"l1.capacity", "bytes", "what stays resident in L1, to one line; the best storage split"},
    FindingSpec{"l2.capacity", "bytes",
                "the whole L2: lines still resident, summed over how long ago they were touched"},
    FindingSpec{"l2.near_capacity", "bytes", "the partition near an SM, where there are two"},
};

constexpr std::array<std::string_view, 2> k_tables{"capacity.probe", "capacity.recency"};

class CapacityProbe final : public Probe {
 public:
  [[nodiscard]] std::string_view name() const noexcept override { return "capacity"; }
  [[nodiscard]] std::string_view summary() const noexcept override {
    return "what stays resident: L1 to one line by storage split, L2 summed over recency";
  }
  [[nodiscard]] std::span<const FindingSpec> findings() const noexcept override { return k_findings; }
  [[nodiscard]] std::span<const std::string_view> tables() const noexcept override { return k_tables; }
  [[nodiscard]] Result<void> measure(ProbeContext& context) const override { return measure_capacity(context); }
  [[nodiscard]] Analysis analyze(const AnalysisInput& input) const override { return analyze_capacity(input); }
};

}  // namespace

const Probe& capacity_probe() {
  static const CapacityProbe probe;
  return probe;
}

}  // namespace gpusonde
