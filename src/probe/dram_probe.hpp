// DRAM behind L2: rows, banks, what opening a row and a further column cost, refresh, and latency by what translation
// finds. All by sequences of loads on one SM, of lines that leave L2 before.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "core/random.hpp"
#include "inference/dram_banks.hpp"
#include "inference/dram_refresh.hpp"
#include "inference/dram_rows.hpp"
#include "probe/probe.hpp"

namespace gpusonde {

inline constexpr std::uint64_t k_dram_line_bytes = 128;

[[nodiscard]] Result<void> measure_dram(ProbeContext& context);
[[nodiscard]] Analysis analyze_dram(const AnalysisInput& input);

/// Tests of a sequence, put together one by one.
class TestList {
 public:
  void begin_test();
  /// Appends places to the list; the index of the first.
  std::uint32_t add(std::span<const std::uint64_t> places);
  void step(StepKind kind, std::uint32_t first, std::uint32_t count);
  [[nodiscard]] std::size_t tests() const noexcept { return m_sequence.tests.size(); }
  [[nodiscard]] std::size_t places() const noexcept { return m_sequence.places.size(); }
  [[nodiscard]] SequenceExperiment take();

 private:
  SequenceExperiment m_sequence = empty();
  [[nodiscard]] static SequenceExperiment empty();
};

/// Where lines are taken from, and how sequences run.
class DramBench {
 public:
  explicit DramBench(ProbeContext& context);

  /// Page starts whose translations fit every first-level TLB.
  [[nodiscard]] const std::vector<std::uint64_t>& pages() const noexcept { return m_pages; }
  [[nodiscard]] std::uint64_t page_bytes() const noexcept { return m_page_bytes; }
  [[nodiscard]] std::uint64_t lines_of_page() const noexcept { return m_page_bytes / k_dram_line_bytes; }
  /// A place of each line of all pages, each once, in an order of the seed; at most `most`.
  [[nodiscard]] std::vector<std::uint64_t> random_lines(std::uint64_t most, std::uint64_t stream) const;
  [[nodiscard]] Result<SequenceSamples> run(TestList& tests, bool stamps = false);
  [[nodiscard]] Table& table(const char* name) { return m_context.measurements.table(name); }
  [[nodiscard]] ProbeContext& context() noexcept { return m_context; }
  [[nodiscard]] Random random(std::uint64_t stream) const;
  /// Loads of lines all over other memory: whatever row was open is so no more. Once a list of tests, then in steps.
  std::uint32_t add_closers(TestList& tests);
  static void close_rows(TestList& tests, std::uint32_t closers);
  [[nodiscard]] std::uint32_t fetch_limit_bytes() const noexcept { return m_fetch_limit_bytes; }
  void say(const char* doing, double fraction);

 private:
  ProbeContext& m_context;
  std::uint64_t m_page_bytes = 0;
  std::vector<std::uint64_t> m_pages;
  std::vector<std::uint64_t> m_closers;  ///< places
  std::uint32_t m_fetch_limit_bytes = 0;
};

/// What later parts need of the first.
struct DramRows {
  Estimate contrast;                                ///< cycles
  std::vector<std::vector<std::uint64_t>> members;  ///< places of lines of one row, the anchor first
};
[[nodiscard]] Result<DramRows> measure_dram_rows(DramBench& bench);
[[nodiscard]] Result<void> measure_dram_banks(DramBench& bench, const DramRows& rows);
[[nodiscard]] Result<void> measure_dram_refresh(DramBench& bench);
[[nodiscard]] Result<void> measure_dram_latency(DramBench& bench);

// Of stored tables, for both halves. Empty where they are absent.
[[nodiscard]] Estimate contrast_of(const Measurements& measurements);
/// Lines of a line's bank, of other rows.
[[nodiscard]] std::vector<std::uint64_t> mates_of(const Measurements& measurements, std::uint64_t place);
[[nodiscard]] std::vector<RowMembers> rows_of(const Measurements& measurements);
[[nodiscard]] PairKinds pairs_of(const Measurements& measurements);
[[nodiscard]] LateLoads late_of(const Measurements& measurements);

}  // namespace gpusonde
