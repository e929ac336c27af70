#include "probe/load_probe.hpp"

#include "probe/probes.hpp"

namespace gpusonde {
namespace {

constexpr std::array k_findings{
    FindingSpec{"load.l1.completion_interval", "cycles", "a load of L1 when one warp has up to 8 under way"},
    FindingSpec{"load.l2.completion_interval", "cycles", "a load of L2 when one warp has up to 8 under way"},
    FindingSpec{"load.dram.completion_interval", "cycles", "a load of memory when one warp has up to 8 under way"},
    FindingSpec{"load.l2.idle_latency", "cycles", "a whole line of L2 with nothing else under way"},
    FindingSpec{"load.l2.idle_latency_ns", "ns", "the same in time"},
    FindingSpec{"load.l2.peak", "bytes/s", "most that whole lines of L2 at random bring"},
    FindingSpec{"load.l2.knee", "bytes/s", "what they bring when latency is 1.5 times the idle one"},
    FindingSpec{"load.l2.concurrency", "bytes", "under way there, by Little's law"},
    FindingSpec{"load.dram.idle_latency", "cycles", "a whole line of memory with nothing else under way"},
    FindingSpec{"load.dram.idle_latency_ns", "ns", "the same in time"},
    FindingSpec{"load.dram.peak", "bytes/s", "most that whole lines of memory at random bring"},
    FindingSpec{"load.dram.knee", "bytes/s", "what they bring when latency is 1.5 times the idle one"},
    FindingSpec{"load.dram.concurrency", "bytes", "under way there, by Little's law"},
};
constexpr std::array<std::string_view, 3> k_tables{"load.skipped", "load.chains", "load.curve"};

class LoadProbe final : public Probe {
 public:
  [[nodiscard]] std::string_view name() const noexcept override { return "load"; }
  [[nodiscard]] std::string_view summary() const noexcept override {
    return "loads that overlap: time of each in a warp, and latency against bandwidth";
  }
  [[nodiscard]] std::span<const FindingSpec> findings() const noexcept override { return k_findings; }
  [[nodiscard]] std::span<const std::string_view> tables() const noexcept override { return k_tables; }
  [[nodiscard]] Result<void> measure(ProbeContext& context) const override { return measure_load(context); }
  [[nodiscard]] Analysis analyze(const AnalysisInput& input) const override { return analyze_load(input); }
};

}  // namespace

void store(Table& table, const LoadRow& row) {
  table.make<std::string>("level").push_back(row.level);
  table.make<std::uint64_t>("chains").push_back(row.chains);
  table.make<std::uint64_t>("warps").push_back(row.warps);
  table.make<std::uint64_t>("sms").push_back(row.sms);
  table.make<std::uint64_t>("repetition").push_back(row.repetition);
  table.make<std::uint64_t>("ring_bytes").push_back(row.ring_bytes);
  table.make<std::uint64_t>("rounds").push_back(row.rounds);
  table.make<double>("round_cycles").push_back(row.round_cycles);
  table.make<double>("elapsed_cycles").push_back(row.elapsed_cycles);
  table.make<std::uint64_t>("wall_ns").push_back(row.wall_ns);
  table.make<std::uint64_t>("loads").push_back(row.loads);
  table.make<std::uint64_t>("bytes").push_back(row.bytes);
}

std::vector<LoadRow> read_loads(const Measurements& measurements, std::string_view name) {
  std::vector<LoadRow> rows;
  const auto* table = measurements.find(name);
  const auto* level = table == nullptr ? nullptr : table->column<std::string>("level");
  if (level == nullptr) return rows;
  const auto count = [table](std::string_view column, std::size_t row) {
    const auto* values = table->column<std::uint64_t>(column);
    return values == nullptr ? 0 : (*values)[row];
  };
  const auto number = [table](std::string_view column, std::size_t row) {
    const auto* values = table->column<double>(column);
    return values == nullptr ? 0 : (*values)[row];
  };
  for (std::size_t i = 0; i < table->rows(); ++i)
    rows.push_back({(*level)[i], count("chains", i), count("warps", i), count("sms", i), count("repetition", i),
                    count("ring_bytes", i), count("rounds", i), number("round_cycles", i), number("elapsed_cycles", i),
                    count("wall_ns", i), count("loads", i), count("bytes", i)});
  return rows;
}

const Probe& load_probe() {
  static const LoadProbe probe;
  return probe;
}

}  // namespace gpusonde
