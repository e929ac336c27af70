// Which lines of a page are of one row: a line is cheap right after another of its row was loaded.
#include <algorithm>
#include <array>
#include <cmath>
#include <map>

#include "inference/statistics.hpp"
#include "probe/dram_probe.hpp"

namespace gpusonde {
namespace {

constexpr std::size_t k_anchors_of_page = 3;
constexpr std::size_t k_scans = 2;
constexpr std::size_t k_tests_a_run = 1 << 16;
constexpr std::uint64_t k_confirmations = 24;
constexpr std::size_t k_most_candidates = 2000;  // of an anchor: more say that its scan went wrong
constexpr double k_bin_cycles = 4;

/// A line asked after an anchor: numbers in the lists below.
struct Asked {
  std::uint32_t anchor = 0;
  std::uint32_t line = 0;
};

class RowMeasurement {
 public:
  explicit RowMeasurement(DramBench& bench) : m_bench(bench), m_random(bench.random(1)) {}

  Result<DramRows> run() {
    choose();
    m_bench.say("open rows", 0);
    if (auto r = read_open(); !r) return tl::unexpected(r.error());
    if (auto r = scan(); !r) return tl::unexpected(r.error());
    DramRows rows;
    rows.contrast = store_contrast();
    if (!rows.contrast.ok()) return rows;
    m_bench.say("lines of a row", 0.25);
    if (auto r = confirm(rows.contrast.value); !r) return tl::unexpected(r.error());
    for (const auto& row : rows_of(m_bench.context().measurements)) {
      std::vector<std::uint64_t> places{row.anchor};
      places.insert(places.end(), row.others.begin(), row.others.end());
      rows.members.push_back(std::move(places));
    }
    return rows;
  }

 private:
  void choose() {
    for (const auto page : m_bench.pages())
      for (std::uint64_t line = 0; line < m_bench.lines_of_page(); ++line)
        m_lines.push_back(page + line * k_dram_line_bytes);
    const auto lines = m_bench.lines_of_page();
    for (std::size_t page = 0; page < m_bench.pages().size(); ++page)
      for (std::size_t i = 0; i < k_anchors_of_page; ++i)
        m_anchors.push_back(static_cast<std::uint32_t>(page * lines + m_random.below(lines)));
  }

  /// Each line right after itself: of an open row for certain.
  Result<void> read_open() {
    m_open.resize(m_lines.size());
    const Permutation order(m_lines.size(), m_random.next());
    TestList tests;
    std::vector<std::size_t> asked;
    const auto flush = [&]() -> Result<void> {
      const auto samples = m_bench.run(tests);
      if (!samples) return tl::unexpected(samples.error());
      for (std::size_t i = 0; i < asked.size(); ++i) m_open[asked[i]] = samples->cycles[i];
      asked.clear();
      return {};
    };
    for (std::uint64_t i = 0; i < m_lines.size(); ++i) {
      const auto line = static_cast<std::size_t>(order(i));
      tests.begin_test();
      const auto at = tests.add(std::span(&m_lines[line], 1));
      for (const auto kind : {StepKind::drop, StepKind::walk, StepKind::drop, StepKind::time}) tests.step(kind, at, 1);
      asked.push_back(line);
      if (asked.size() == k_tests_a_run || i + 1 == m_lines.size())
        if (auto r = flush(); !r) return r;
    }
    return {};
  }

  /// The line's reading after the anchor's, for each of a list.
  Result<std::vector<std::uint32_t>> ask(const std::vector<Asked>& list) {
    std::vector<std::uint32_t> readings;
    readings.reserve(list.size());
    for (std::size_t first = 0; first < list.size(); first += k_tests_a_run) {
      const auto end = std::min(list.size(), first + k_tests_a_run);
      TestList tests;
      for (std::size_t i = first; i < end; ++i) {
        tests.begin_test();
        const std::array places{m_lines[list[i].anchor], m_lines[list[i].line]};
        const auto at = tests.add(places);
        tests.step(StepKind::drop, at, 2);
        tests.step(StepKind::time, at, 2);
      }
      const auto samples = m_bench.run(tests);
      if (!samples) return tl::unexpected(samples.error());
      for (std::size_t i = 0; i < end - first; ++i) readings.push_back(samples->cycles[2 * i + 1]);
    }
    return readings;
  }

  /// Every line of a page after each of its anchors, all pages mixed: neighbours in time are no neighbours in memory.
  Result<void> scan() {
    const auto lines = m_bench.lines_of_page();
    for (const auto anchor : m_anchors)
      for (std::uint64_t line = 0; line < lines; ++line) {
        const auto number = static_cast<std::uint32_t>(anchor / lines * lines + line);
        if (number != anchor) m_asked.push_back({anchor, number});
      }
    for (std::size_t turn = 0; turn < k_scans; ++turn) {
      m_bench.say("open rows", 0.05 + 0.1 * static_cast<double>(turn));
      const auto readings = ask_shuffled(m_asked);
      if (!readings) return tl::unexpected(readings.error());
      m_scans.push_back(*readings);
    }
    return {};
  }

  /// In an order at random; readings in the list's.
  Result<std::vector<std::uint32_t>> ask_shuffled(const std::vector<Asked>& list) {
    const Permutation order(std::max<std::size_t>(list.size(), 1), m_random.next());
    std::vector<Asked> shuffled(list.size());
    for (std::size_t i = 0; i < list.size(); ++i) shuffled[i] = list[order(i)];
    const auto readings = ask(shuffled);
    if (!readings) return readings;
    std::vector<std::uint32_t> in_order(list.size());
    for (std::size_t i = 0; i < list.size(); ++i) in_order[order(i)] = (*readings)[i];
    return in_order;
  }

  Estimate store_contrast() {
    std::vector<std::vector<double>> by_line(m_lines.size());
    for (const auto& readings : m_scans)
      for (std::size_t i = 0; i < m_asked.size(); ++i) by_line[m_asked[i].line].push_back(readings[i]);
    auto& table = m_bench.table("dram.open_rows");
    std::map<std::int64_t, std::uint64_t> bins;
    for (std::size_t line = 0; line < m_lines.size(); ++line) {
      if (by_line[line].empty()) continue;
      const double more = median(by_line[line]) - m_open[line];
      ++bins[static_cast<std::int64_t>(std::floor(more / k_bin_cycles))];
    }
    for (const auto& [bin, count] : bins) {
      table.make<double>("more_cycles").push_back((static_cast<double>(bin) + 0.5) * k_bin_cycles);
      table.make<std::uint64_t>("lines").push_back(count);
    }
    return contrast_of(m_bench.context().measurements);
  }

  /// Those that were cheap in every scan are asked many times more, after the anchor and after lines of other pages.
  Result<void> confirm(double contrast) {
    const auto low = [&](std::uint32_t line, double reading) { return reading < m_open[line] + contrast / 2; };
    std::map<std::uint32_t, std::vector<std::uint32_t>> candidates;
    for (std::size_t i = 0; i < m_asked.size(); ++i)
      if (std::all_of(m_scans.begin(), m_scans.end(),
                      [&](const auto& readings) { return low(m_asked[i].line, readings[i]); }))
        candidates[m_asked[i].anchor].push_back(m_asked[i].line);
    std::vector<Asked> list;
    for (const auto anchor : m_anchors)
      if (candidates[anchor].size() <= k_most_candidates)
        for (const auto line : candidates[anchor]) list.push_back({anchor, line});
    std::vector<Asked> asked;
    std::vector<std::size_t> index;
    for (std::size_t i = 0; i < list.size(); ++i)
      for (std::uint64_t turn = 0; turn < k_confirmations; ++turn)
        for (const bool control : {false, true}) {
          asked.push_back({control ? other_page(list[i].line) : list[i].anchor, list[i].line});
          index.push_back(2 * i + (control ? 1 : 0));
        }
    const auto readings = ask_shuffled(asked);
    if (!readings) return tl::unexpected(readings.error());
    std::vector<std::uint64_t> lows(2 * list.size());
    for (std::size_t i = 0; i < asked.size(); ++i)
      if (low(asked[i].line, (*readings)[i])) ++lows[index[i]];
    auto& table = m_bench.table("dram.rows");
    for (const auto anchor : m_anchors) add_row(table, anchor, anchor, k_confirmations, 0);
    for (std::size_t i = 0; i < list.size(); ++i)
      if (lows[2 * i] > k_confirmations / 3) add_row(table, list[i].anchor, list[i].line, lows[2 * i], lows[2 * i + 1]);
    return {};
  }

  [[nodiscard]] std::uint32_t other_page(std::uint32_t line) {
    const auto lines = static_cast<std::uint32_t>(m_bench.lines_of_page());
    const auto pages = static_cast<std::uint32_t>(m_bench.pages().size());
    const auto page = (line / lines + 1 + static_cast<std::uint32_t>(m_random.below(std::max(1U, pages - 1)))) % pages;
    return page * lines + static_cast<std::uint32_t>(m_random.below(lines));
  }

  void add_row(Table& table, std::uint32_t anchor, std::uint32_t line, std::uint64_t low, std::uint64_t control) {
    table.make<std::uint64_t>("anchor_bytes").push_back(m_lines[anchor]);
    table.make<std::uint64_t>("place_bytes").push_back(m_lines[line]);
    table.make<std::uint64_t>("asked").push_back(k_confirmations);
    table.make<std::uint64_t>("cheap_after_anchor").push_back(low);
    table.make<std::uint64_t>("cheap_after_others").push_back(control);
  }

  DramBench& m_bench;
  Random m_random;
  std::vector<std::uint64_t> m_lines;               ///< places
  std::vector<std::uint32_t> m_anchors;             ///< numbers of lines
  std::vector<double> m_open;                       ///< cycles, by line
  std::vector<Asked> m_asked;                       ///< in the scans
  std::vector<std::vector<std::uint32_t>> m_scans;  ///< readings of each
};

}  // namespace

Result<DramRows> measure_dram_rows(DramBench& bench) { return RowMeasurement(bench).run(); }

}  // namespace gpusonde
