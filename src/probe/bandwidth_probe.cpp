#include "probe/bandwidth_probe.hpp"

#include <fmt/format.h>

#include "probe/probes.hpp"

namespace gpusonde {
namespace {

constexpr std::array k_findings{
    FindingSpec{"bandwidth.l1.read", "bytes/s", "all SMs read from their L1"},
    FindingSpec{"bandwidth.shared.read", "bytes/s", "all SMs read from shared memory"},
    FindingSpec{"bandwidth.shared.write", "bytes/s", "all SMs write to shared memory"},
    FindingSpec{"bandwidth.shared.copy", "bytes/s",
                "all SMs copy inside shared memory, read and written bytes together"},
    FindingSpec{"bandwidth.l2.read", "bytes/s", "all SMs read what L2 holds"},
    FindingSpec{"bandwidth.l2.write", "bytes/s", "all SMs write what L2 holds"},
    FindingSpec{"bandwidth.l2.copy", "bytes/s", "all SMs copy what L2 holds, read and written bytes together"},
    FindingSpec{"bandwidth.dram.read", "bytes/s", "all SMs read from memory"},
    FindingSpec{"bandwidth.dram.write", "bytes/s", "all SMs write to memory"},
    FindingSpec{"bandwidth.dram.copy", "bytes/s", "all SMs copy memory, read and written bytes together"},
};
constexpr std::array<std::string_view, 3> k_tables{"bandwidth.state", "bandwidth.skipped", "bandwidth.stream"};

class BandwidthProbe final : public Probe {
 public:
  [[nodiscard]] std::string_view name() const noexcept override { return "bandwidth"; }
  [[nodiscard]] std::string_view summary() const noexcept override {
    return "bytes a second read, written and copied at each level";
  }
  [[nodiscard]] std::span<const FindingSpec> findings() const noexcept override { return k_findings; }
  [[nodiscard]] std::span<const std::string_view> tables() const noexcept override { return k_tables; }
  [[nodiscard]] Result<void> measure(ProbeContext& context) const override { return measure_bandwidth(context); }
  [[nodiscard]] Analysis analyze(const AnalysisInput& input) const override { return analyze_bandwidth(input); }
};

}  // namespace

std::string finding_id(const StreamKind& kind) { return fmt::format("bandwidth.{}.{}", kind.level, kind.transfer); }

void store(Table& table, const StreamRow& row) {
  table.make<std::string>("level").push_back(row.level);
  table.make<std::string>("transfer").push_back(row.transfer);
  table.make<std::uint64_t>("threads_per_sm").push_back(row.threads_per_sm);
  table.make<std::uint64_t>("repetition").push_back(row.repetition);
  table.make<std::uint64_t>("set_bytes").push_back(row.set_bytes);
  table.make<std::uint64_t>("bytes").push_back(row.bytes);
  table.make<double>("cycles").push_back(row.cycles);
  table.make<std::uint64_t>("wall_ns").push_back(row.wall_ns);
  table.make<std::uint64_t>("sms").push_back(row.sms);
}

std::vector<StreamRow> read_streams(const Table& table) {
  const auto* level = table.column<std::string>("level");
  const auto* transfer = table.column<std::string>("transfer");
  const auto number = [&table](std::string_view name, std::size_t row) {
    const auto* values = table.column<std::uint64_t>(name);
    return values == nullptr ? 0 : (*values)[row];
  };
  const auto* cycles = table.column<double>("cycles");
  std::vector<StreamRow> rows;
  if (level == nullptr || transfer == nullptr || cycles == nullptr) return rows;
  for (std::size_t i = 0; i < table.rows(); ++i)
    rows.push_back({(*level)[i], (*transfer)[i], number("threads_per_sm", i), number("repetition", i),
                    number("set_bytes", i), number("bytes", i), (*cycles)[i], number("wall_ns", i), number("sms", i)});
  return rows;
}

std::uint64_t best_threads(const std::vector<StreamRow>& rows, const StreamKind& kind) {
  std::uint64_t threads = 0;
  double most = -1;
  for (const auto& row : rows) {
    if (row.repetition != 0 || row.level != kind.level || row.transfer != kind.transfer) continue;
    if (row.bytes_per_second() <= most) continue;
    most = row.bytes_per_second();
    threads = row.threads_per_sm;
  }
  return threads;
}

const Probe& bandwidth_probe() {
  static const BandwidthProbe probe;
  return probe;
}

}  // namespace gpusonde
