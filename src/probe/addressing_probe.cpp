#include "probe/addressing_probe.hpp"

#include <array>

#include "probe/probes.hpp"

namespace gpusonde {
namespace {

constexpr std::array k_findings{
    FindingSpec{"l1.addressing", "name", "VIVT, VIPT or PIPT: which addresses L1 is indexed and tagged by"},
    FindingSpec{"l2.addressing", "name", "likewise of L2"},
};
constexpr std::array<std::string_view, 3> k_tables{"addressing.alias", "addressing.index", "addressing.sweep"};

class AddressingProbe final : public Probe {
 public:
  [[nodiscard]] std::string_view name() const noexcept override { return "addressing"; }
  [[nodiscard]] std::string_view summary() const noexcept override {
    return "virtual or physical: one page at two addresses, and the sweep's steps";
  }
  [[nodiscard]] std::span<const FindingSpec> findings() const noexcept override { return k_findings; }
  [[nodiscard]] std::span<const std::string_view> tables() const noexcept override { return k_tables; }
  [[nodiscard]] Result<void> measure(ProbeContext& context) const override { return measure_addressing(context); }
  [[nodiscard]] Analysis analyze(const AnalysisInput& input) const override { return analyze_addressing(input); }
};

}  // namespace

const Probe& addressing_probe() {
  static const AddressingProbe probe;
  return probe;
}

}  // namespace gpusonde
