#include "probe/memories_probe.hpp"

#include <array>

#include "probe/probes.hpp"

namespace gpusonde {
namespace {

constexpr std::string_view k_shares = "yes or no: whether its data lie where L1's do";
constexpr std::array k_findings{
    FindingSpec{"constant.1.hit_latency", "cycles", "a constant in the nearest cache for constants, by a register"},
    FindingSpec{"constant.1.capacity", "bytes", "what stays there"},
    FindingSpec{"constant.2.hit_latency", "cycles", "likewise of the next one"},
    FindingSpec{"constant.2.capacity", "bytes", "what stays there"},
    FindingSpec{"constant.shares_l1", "name", k_shares},
    FindingSpec{"texture.hit_latency", "cycles", "a texture load of 32 bits that hits, chained by its index"},
    FindingSpec{"texture.shares_l1", "name", k_shares},
    FindingSpec{"readonly.hit_latency", "cycles", "a load by the read-only path that hits, 64-bit pointer chain"},
    FindingSpec{"readonly.shares_l1", "name", k_shares},
    FindingSpec{"shared.hit_latency", "cycles", "a shared-memory load, 64-bit pointer chain"},
    FindingSpec{"shared.shares_l1", "name", k_shares},
    FindingSpec{"dsmem.latency", "cycles", "a load of another SM's shared memory, mean over pairs of a cluster"},
    FindingSpec{"dsmem.self_latency", "cycles", "the same load of the block's own shared memory"},
};
constexpr std::array<std::string_view, 6> k_tables{"memories.chase",   "memories.hits",    "memories.reference",
                                                   "memories.sharing", "memories.cluster", "memories.missing"};

class MemoriesProbe final : public Probe {
 public:
  [[nodiscard]] std::string_view name() const noexcept override { return "memories"; }
  [[nodiscard]] std::string_view summary() const noexcept override {
    return "constant, texture, read-only and shared memory, and that of other SMs of a cluster";
  }
  [[nodiscard]] std::span<const FindingSpec> findings() const noexcept override { return k_findings; }
  [[nodiscard]] std::span<const std::string_view> tables() const noexcept override { return k_tables; }
  [[nodiscard]] Result<void> measure(ProbeContext& context) const override { return measure_memories(context); }
  [[nodiscard]] Analysis analyze(const AnalysisInput& input) const override { return analyze_memories(input); }
};

}  // namespace

const Probe& memories_probe() {
  static const MemoriesProbe probe;
  return probe;
}

}  // namespace gpusonde
