#include "probe/dram_probe.hpp"

#include <array>

#include "probe/probes.hpp"

namespace gpusonde {
namespace {

constexpr std::array k_findings{
    FindingSpec{"dram.row_size", "bytes", "bytes of a row that stays open, as lines of one page share it"},
    FindingSpec{"dram.row_miss_extra_ns", "ns", "what another row of a bank takes more than a further column"},
    FindingSpec{"dram.column_ns", "ns", "each further column of an open row"},
    FindingSpec{"dram.banks", "count", "banks that share a channel's pins"},
    FindingSpec{"dram.refresh_fraction", "fraction", "loads that wait for a refresh"},
    FindingSpec{"dram.refresh_stall_ns", "ns", "what such a load waits"},
    FindingSpec{"dram.refresh_interval_ns", "ns", "from one refresh of a channel to the next"},
    FindingSpec{"dram.refresh_waits", "name", "fixed: such loads wait as long each; rest: until the refresh is over"},
    FindingSpec{"dram.latency_tlb_hit", "cycles", "load with its translation there, and a row to open"},
    FindingSpec{"dram.latency_tlb_hit_ns", "ns", "the same at the SM clock of the run"},
    FindingSpec{"dram.latency_tlb_miss", "cycles", "the same with the first level of translation missed"},
    FindingSpec{"dram.latency_tlb_miss_ns", "ns", "the same at the SM clock of the run"},
    FindingSpec{"dram.latency_cold", "cycles", "the same with every level of translation missed"},
    FindingSpec{"dram.latency_cold_ns", "ns", "the same at the SM clock of the run"},
};
constexpr std::array<std::string_view, 14> k_tables{
    "dram.plan",          "dram.asked",   "dram.same_bank",  "dram.rows",       "dram.pairs",
    "dram.channel_lines", "dram.waits",   "dram.costs",      "dram.latency",    "dram.late_loads",
    "dram.line_loads",    "dram.reading", "dram.translated", "dram.translation"};

class DramProbe final : public Probe {
 public:
  [[nodiscard]] std::string_view name() const noexcept override { return "dram"; }
  [[nodiscard]] std::string_view summary() const noexcept override {
    return "DRAM: rows, banks, columns, refresh, and latency by what translation finds";
  }
  [[nodiscard]] std::span<const FindingSpec> findings() const noexcept override { return k_findings; }
  [[nodiscard]] std::span<const std::string_view> tables() const noexcept override { return k_tables; }
  [[nodiscard]] Result<void> measure(ProbeContext& context) const override { return measure_dram(context); }
  [[nodiscard]] Analysis analyze(const AnalysisInput& input) const override { return analyze_dram(input); }
};

}  // namespace

const Probe& dram_probe() {
  static const DramProbe probe;
  return probe;
}

}  // namespace gpusonde
