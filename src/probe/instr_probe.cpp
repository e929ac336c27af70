#include "probe/instr_probe.hpp"

#include <array>

#include "probe/probes.hpp"

namespace gpusonde {
namespace {

constexpr std::string_view k_latency = "from issue to use, in a chain of dependent operations";
constexpr std::string_view k_interval = "mean time of an operation of one warp, as many independent ones overlap";
constexpr std::array k_findings{
    FindingSpec{"instr.ffma.true_latency", "cycles", k_latency},
    FindingSpec{"instr.ffma.completion_interval", "cycles", k_interval},
    FindingSpec{"instr.imad.true_latency", "cycles", k_latency},
    FindingSpec{"instr.imad.completion_interval", "cycles", k_interval},
    FindingSpec{"instr.imad_wide.true_latency", "cycles", "likewise, through a factor and the summand"},
    FindingSpec{"instr.imad_wide.completion_interval", "cycles", k_interval},
    FindingSpec{"instr.iadd3.true_latency", "cycles", k_latency},
    FindingSpec{"instr.iadd3.completion_interval", "cycles", k_interval},
    FindingSpec{"instr.lop3.true_latency", "cycles", k_latency},
    FindingSpec{"instr.lop3.completion_interval", "cycles", k_interval},
    FindingSpec{"instr.mufu_ex2.true_latency", "cycles", k_latency},
    FindingSpec{"instr.mufu_ex2.completion_interval", "cycles", k_interval},
    FindingSpec{"instr.dadd.true_latency", "cycles", k_latency},
    FindingSpec{"instr.dadd.completion_interval", "cycles", k_interval},
    FindingSpec{"instr.dfma.true_latency", "cycles", k_latency},
    FindingSpec{"instr.dfma.completion_interval", "cycles", k_interval},
    FindingSpec{"instr.hfma2.true_latency", "cycles", k_latency},
    FindingSpec{"instr.hfma2.completion_interval", "cycles", k_interval},
    FindingSpec{"instr.shared_load.true_latency", "cycles",
                "a shared load of 4 bytes a lane, its address in a register"},
    FindingSpec{"instr.shared_load.completion_interval", "cycles", k_interval},
    FindingSpec{"operand.register_read", "cycles",
                "what a shared load takes more with its address in a register than with an immediate one"},
};
constexpr std::array<std::string_view, 2> k_tables{"instr.chains", "instr.missing"};

class InstrProbe final : public Probe {
 public:
  [[nodiscard]] std::string_view name() const noexcept override { return "instr"; }
  [[nodiscard]] std::string_view summary() const noexcept override {
    return "arithmetic and shared loads: true latency, and completion interval over independent chains";
  }
  [[nodiscard]] std::span<const FindingSpec> findings() const noexcept override { return k_findings; }
  [[nodiscard]] std::span<const std::string_view> tables() const noexcept override { return k_tables; }
  [[nodiscard]] Result<void> measure(ProbeContext& context) const override { return measure_instr(context); }
  [[nodiscard]] Analysis analyze(const AnalysisInput& input) const override { return analyze_instr(input); }
};

}  // namespace

const Probe& instr_probe() {
  static const InstrProbe probe;
  return probe;
}

}  // namespace gpusonde
