#include "probe/tlb_probe.hpp"

#include <array>

#include "probe/probes.hpp"

namespace gpusonde {
namespace {

#define GPUSONDE_TLB_LEVEL(n)                                                                                          \
  FindingSpec{"tlb." n ".entries", "count", "translations that level " n " holds"},                                    \
      FindingSpec{"tlb." n ".ways", "count", "of a set; all entries where fully associative"},                         \
      FindingSpec{"tlb." n ".span", "bytes", "what one entry maps"},                                                   \
      FindingSpec{"tlb." n ".reach", "bytes", "what all entries map"},                                                 \
      FindingSpec{"tlb." n ".miss_cost", "cycles", "added to a load that misses levels 1 to " n " and hits the next"}, \
      FindingSpec{"tlb." n ".replacement", "name", "lru, fifo, tree-plru or random"}, FindingSpec {                    \
    "tlb." n ".scope", "name", "who shares it: sm, tpc, cpc, gpc, partition or gpu"                                    \
  }

constexpr std::array k_findings{GPUSONDE_TLB_LEVEL("1"), GPUSONDE_TLB_LEVEL("2"), GPUSONDE_TLB_LEVEL("3")};
#undef GPUSONDE_TLB_LEVEL

constexpr std::array<std::string_view, 6> k_tables{"tlb.space",       "tlb.alias",    "tlb.refused",
                                                   "tlb.replacement", "tlb.conflict", "tlb.scope"};

class TlbProbe final : public Probe {
 public:
  [[nodiscard]] std::string_view name() const noexcept override { return "tlb"; }
  [[nodiscard]] std::string_view summary() const noexcept override {
    return "translation caches: one page under many addresses";
  }
  [[nodiscard]] std::span<const FindingSpec> findings() const noexcept override { return k_findings; }
  [[nodiscard]] std::span<const std::string_view> tables() const noexcept override { return k_tables; }
  [[nodiscard]] Result<void> measure(ProbeContext& context) const override { return measure_tlb(context); }
  [[nodiscard]] Analysis analyze(const AnalysisInput& input) const override { return analyze_tlb(input); }
};

}  // namespace

const Probe& tlb_probe() {
  static const TlbProbe probe;
  return probe;
}

}  // namespace gpusonde
