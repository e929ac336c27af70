// Latency while loads overlap: the time a load takes when one warp has several under way, and latency against
// bandwidth when more and more warps load whole lines.
#pragma once

#include <array>
#include <string>
#include <string_view>
#include <vector>

#include "probe/findings.hpp"
#include "probe/probe.hpp"

namespace gpusonde {

/// One row of `load.chains` or `load.curve`.
struct LoadRow {
  std::string level;
  std::uint64_t chains = 0;
  std::uint64_t warps = 0;
  std::uint64_t sms = 0;
  std::uint64_t repetition = 0;
  std::uint64_t ring_bytes = 0;
  std::uint64_t rounds = 0;
  double round_cycles = 0;
  double elapsed_cycles = 0;
  std::uint64_t wall_ns = 0;
  std::uint64_t loads = 0;
  std::uint64_t bytes = 0;

  [[nodiscard]] double loads_under_way() const noexcept {
    return static_cast<double>(chains) * static_cast<double>(warps) * static_cast<double>(sms);
  }
};
void store(Table& table, const LoadRow& row);
/// Empty without the table.
[[nodiscard]] std::vector<LoadRow> read_loads(const Measurements& measurements, std::string_view table);

inline constexpr std::array<std::string_view, 3> k_load_levels{"l1", "l2", "dram"};

[[nodiscard]] Result<void> measure_load(ProbeContext& context);
[[nodiscard]] Analysis analyze_load(const AnalysisInput& input);

}  // namespace gpusonde
