// Bytes a second that each level gives and takes when all SMs stream over it.
#pragma once

#include <array>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "probe/findings.hpp"
#include "probe/probe.hpp"

namespace gpusonde {

/// A level and what is done there: `bandwidth.LEVEL.TRANSFER` is the finding.
struct StreamKind {
  std::string_view level;
  std::string_view transfer;
};
inline constexpr std::array<StreamKind, 10> k_stream_kinds{{{"l1", "read"},
                                                            {"shared", "read"},
                                                            {"shared", "write"},
                                                            {"shared", "copy"},
                                                            {"l2", "read"},
                                                            {"l2", "write"},
                                                            {"l2", "copy"},
                                                            {"dram", "read"},
                                                            {"dram", "write"},
                                                            {"dram", "copy"}}};
/// The same set as L1's, read past L1.
inline constexpr StreamKind k_past_l1{"past_l1", "read"};
[[nodiscard]] std::string finding_id(const StreamKind& kind);

/// One row of `bandwidth.stream`.
struct StreamRow {
  std::string level;
  std::string transfer;
  std::uint64_t threads_per_sm = 0;
  std::uint64_t repetition = 0;  ///< 0: to choose the threads by, not for the estimate
  std::uint64_t set_bytes = 0;
  std::uint64_t bytes = 0;
  double cycles = 0;
  std::uint64_t wall_ns = 0;
  std::uint64_t sms = 0;

  [[nodiscard]] double bytes_per_second() const noexcept {
    return wall_ns == 0 ? 0 : 1e9 * static_cast<double>(bytes) / static_cast<double>(wall_ns);
  }
  [[nodiscard]] double sm_mhz() const noexcept {
    return wall_ns == 0 ? 0 : 1e3 * cycles / static_cast<double>(wall_ns);
  }
};
void store(Table& table, const StreamRow& row);
[[nodiscard]] std::vector<StreamRow> read_streams(const Table& table);
/// Threads an SM that moved most in repetition 0; 0 without one.
[[nodiscard]] std::uint64_t best_threads(const std::vector<StreamRow>& rows, const StreamKind& kind);

/// What memory's pins carry at most, 0 where that is not known: an estimate that reaches beyond it by its error alone
/// ends there, one that is more by over 1 % is inconclusive, or failed where its whole interval is.
[[nodiscard]] Estimate limited_by_pins(Estimate estimate, double bytes_per_second);

[[nodiscard]] Result<void> measure_bandwidth(ProbeContext& context);
[[nodiscard]] Analysis analyze_bandwidth(const AnalysisInput& input);

}  // namespace gpusonde
