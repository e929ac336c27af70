// Which lines of a page are of one row: a line is cheap right after another of its row was loaded.
#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <numeric>

#include "inference/statistics.hpp"
#include "probe/dram_probe.hpp"

namespace gpusonde {
namespace {

constexpr std::size_t k_anchors_of_page = 3;
constexpr std::size_t k_open_readings = 3;
constexpr std::size_t k_scans = 2;
constexpr std::size_t k_tests_a_run = 1 << 16;
constexpr std::size_t k_round = 1024;  // of them few are of one row
constexpr std::uint64_t k_confirmations = 16;
constexpr std::size_t k_most_candidates = 1000;  // of an anchor: more say that its scan went wrong
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
    if (auto r = scan(k_anchors_of_page, 0); !r) return tl::unexpected(r.error());
    DramRows rows;
    rows.contrast = store_contrast();
    if (!rows.contrast.ok()) {
      if (auto r = scan(1, k_round); !r) return tl::unexpected(r.error());
      rows.contrast = store_contrast();
    }
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

  /// Each line right after itself: of an open row for certain. The median of a few, since one may meet a refresh.
  Result<void> read_open() {
    std::vector<std::vector<double>> readings(m_lines.size());
    const Permutation order(m_lines.size(), m_random.next());
    for (std::uint64_t first = 0; first < m_lines.size(); first += k_tests_a_run) {
      const auto end = std::min<std::uint64_t>(m_lines.size(), first + k_tests_a_run);
      TestList tests;
      for (auto i = first; i < end; ++i) {
        tests.begin_test();
        const auto at = tests.add(std::span(&m_lines[order(i)], 1));
        tests.step(StepKind::walk, at, 1);
        for (std::size_t turn = 0; turn < k_open_readings; ++turn) {
          tests.step(StepKind::drop, at, 1);
          tests.step(StepKind::time, at, 1);
        }
      }
      const auto samples = m_bench.run(tests);
      if (!samples) return tl::unexpected(samples.error());
      for (std::size_t i = 0; i < samples->cycles.size(); ++i)
        readings[order(first + i / k_open_readings)].push_back(samples->cycles[i]);
    }
    for (const auto& of_line : readings) m_open.push_back(median(of_line));
    return {};
  }

  /// The line's reading after the anchor's, for each of a list. `round`: rows are closed before every so many; 0:
  /// never.
  Result<std::vector<std::uint32_t>> ask(const std::vector<Asked>& list, std::size_t round) {
    std::vector<std::uint32_t> readings;
    readings.reserve(list.size());
    for (std::size_t first = 0; first < list.size(); first += k_tests_a_run) {
      const auto end = std::min(list.size(), first + k_tests_a_run);
      TestList tests;
      const auto closers = round == 0 ? 0 : m_bench.add_closers(tests);
      for (std::size_t i = first; i < end; ++i) {
        tests.begin_test();
        if (round != 0 && i % round == 0) DramBench::close_rows(tests, closers);
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
  /// Where there are so many banks that this leaves rows open, other loads close them.
  Result<void> scan(std::size_t anchors_of_page, std::size_t round) {
    const auto lines = m_bench.lines_of_page();
    m_asked.clear();
    m_scans.clear();
    for (std::size_t i = 0; i < m_anchors.size(); ++i)
      for (std::uint64_t line = 0; line < lines && i % k_anchors_of_page < anchors_of_page; ++line) {
        const auto number = static_cast<std::uint32_t>(m_anchors[i] / lines * lines + line);
        if (number != m_anchors[i]) m_asked.push_back({m_anchors[i], number});
      }
    for (std::size_t turn = 0; turn < k_scans; ++turn) {
      m_bench.say("open rows", 0.05 + 0.1 * static_cast<double>(turn));
      const Permutation order(std::max<std::size_t>(m_asked.size(), 1), m_random.next());
      std::vector<Asked> shuffled(m_asked.size());
      for (std::size_t i = 0; i < m_asked.size(); ++i) shuffled[i] = m_asked[order(i)];
      const auto readings = ask(shuffled, round);
      if (!readings) return tl::unexpected(readings.error());
      std::vector<std::uint32_t> in_order(m_asked.size());
      for (std::size_t i = 0; i < m_asked.size(); ++i) in_order[order(i)] = (*readings)[i];
      m_scans.push_back(std::move(in_order));
    }
    return {};
  }

  Estimate store_contrast() {
    std::vector<std::vector<double>> by_line(m_lines.size());
    for (const auto& readings : m_scans)
      for (std::size_t i = 0; i < m_asked.size(); ++i) by_line[m_asked[i].line].push_back(readings[i]);
    auto& table = m_bench.table("dram.open_rows");
    table = {};
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
    // One anchor of a page at a time: its row would be open for the others too.
    std::vector<std::uint64_t> after_anchor(list.size());
    std::vector<std::uint64_t> after_others(list.size());
    for (std::uint64_t turn = 0; turn < k_confirmations; ++turn) {
      for (std::size_t of_page = 0; of_page < k_anchors_of_page; ++of_page) {
        std::vector<std::size_t> part;
        for (std::size_t i = 0; i < list.size(); ++i)
          if (number_in_page(list[i].anchor) == of_page) part.push_back(i);
        if (auto r = count(list, part, false, low, after_anchor); !r) return r;
      }
      std::vector<std::size_t> all(list.size());
      std::iota(all.begin(), all.end(), std::size_t{0});
      if (auto r = count(list, all, true, low, after_others); !r) return r;
    }
    auto& table = m_bench.table("dram.rows");
    for (const auto anchor : m_anchors) add_row(table, anchor, anchor, k_confirmations, 0);
    for (std::size_t i = 0; i < list.size(); ++i)
      if (after_anchor[i] > k_confirmations / 3)
        add_row(table, list[i].anchor, list[i].line, after_anchor[i], after_others[i]);
    return {};
  }

  /// Asks some of a list once more, each after its anchor or after a line of another page, and counts those that are
  /// low.
  template <class Low>
  Result<void> count(const std::vector<Asked>& list, const std::vector<std::size_t>& part, bool control, const Low& low,
                     std::vector<std::uint64_t>& counts) {
    if (part.empty()) return {};
    const Permutation order(part.size(), m_random.next());
    std::vector<Asked> asked;
    for (std::size_t i = 0; i < part.size(); ++i) {
      const auto& [anchor, line] = list[part[order(i)]];
      asked.push_back({control ? other_page(line) : anchor, line});
    }
    const auto readings = ask(asked, k_round);
    if (!readings) return tl::unexpected(readings.error());
    for (std::size_t i = 0; i < asked.size(); ++i)
      if (low(asked[i].line, (*readings)[i])) ++counts[part[order(i)]];
    return {};
  }
  [[nodiscard]] std::size_t number_in_page(std::uint32_t anchor) const {
    return static_cast<std::size_t>(std::find(m_anchors.begin(), m_anchors.end(), anchor) - m_anchors.begin()) %
           k_anchors_of_page;
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
