// Which lines are of one row. First, lines of a line's bank: loaded after it, they close its row. With one of them, z,
// any line y is asked twice: after z and then the line, and after the line and then z. Only a line of the same row
// finds its row open the first time and closed the second.
#include <algorithm>
#include <array>
#include <cmath>

#include "inference/statistics.hpp"
#include "probe/dram_probe.hpp"

namespace gpusonde {
namespace {

constexpr std::size_t k_anchors_of_page = 2;
constexpr std::size_t k_tests_a_run = 1 << 15;
constexpr std::uint64_t k_first_pool_lines = 8192;
constexpr std::size_t k_most_asked_again = 2000;
constexpr int k_again = 8;  // more readings of lines that may close the row
constexpr std::size_t k_enough_mates = 6;
constexpr std::uint64_t k_rounds = 30;
constexpr std::uint64_t k_certain_rounds = 24;

/// One test: lines that are loaded one after the other, and the line whose row is asked about.
struct RowQuestion {
  std::uint64_t first = 0;
  std::uint64_t second = 0;
  std::uint64_t asked = 0;
};

struct RowAnswer {
  double cycles = 0;
  double open_cycles = 0;  ///< the same line right after, when its row is open for certain
};

/// A line that may be of the anchor's row: how often it found its row open.
struct Candidate {
  std::uint64_t line = 0;
  std::uint64_t open_after = 0;   ///< when the anchor was loaded last
  std::uint64_t open_before = 0;  ///< when another row of the bank was
};

/// A line with one that closes its row.
struct Anchor {
  std::uint64_t place = 0;
  std::uint64_t closer = 0;
};

class RowMeasurement {
 public:
  explicit RowMeasurement(DramBench& bench) : m_bench(bench), m_random(bench.random(1)) {}

  Result<DramRows> run() {
    std::vector<Anchor> anchors;
    auto& measurements = m_bench.context().measurements;
    for (const auto page : m_bench.pages())
      for (std::size_t i = 0; i < k_anchors_of_page; ++i)
        anchors.push_back({page + m_random.below(m_bench.lines_of_page()) * k_dram_line_bytes, 0});
    for (std::size_t i = 0; i < anchors.size(); ++i) {
      m_bench.say("lines of one bank", 0.2 * static_cast<double>(i) / static_cast<double>(anchors.size()));
      if (auto r = find_mates(anchors[i].place); !r) return tl::unexpected(r.error());
    }
    DramRows rows;
    rows.contrast = contrast_of(measurements);
    if (!rows.contrast.ok()) return rows;
    for (std::size_t i = 0; i < anchors.size(); ++i) {
      m_bench.say("lines of one row", 0.2 + 0.2 * static_cast<double>(i) / static_cast<double>(anchors.size()));
      const auto mates = mates_of(measurements, anchors[i].place);
      if (mates.empty()) continue;
      anchors[i].closer = mates.front();
      if (auto r = find_row(anchors[i], rows.contrast.value); !r) return tl::unexpected(r.error());
    }
    for (const auto& row : rows_of(measurements)) {
      std::vector<std::uint64_t> places{row.anchor};
      places.insert(places.end(), row.others.begin(), row.others.end());
      rows.members.push_back(std::move(places));
    }
    return rows;
  }

 private:
  Result<std::vector<RowAnswer>> ask(const std::vector<RowQuestion>& questions) {
    std::vector<RowAnswer> answers;
    answers.reserve(questions.size());
    for (std::size_t first = 0; first < questions.size(); first += k_tests_a_run) {
      const auto end = std::min(questions.size(), first + k_tests_a_run);
      TestList tests;
      for (std::size_t i = first; i < end; ++i) {
        const auto& q = questions[i];
        const std::array places{q.first, q.second, q.asked};
        tests.begin_test();
        const auto at = tests.add(places);
        tests.step(StepKind::drop, at, 3);
        tests.step(StepKind::walk, at, 2);
        for (int turn = 0; turn < 2; ++turn) {
          tests.step(StepKind::drop, at + 2, 1);
          tests.step(StepKind::time, at + 2, 1);
        }
      }
      const auto samples = m_bench.run(tests);
      if (!samples) return tl::unexpected(samples.error());
      for (std::size_t i = 0; i + 1 < samples->cycles.size(); i += 2)
        answers.push_back({static_cast<double>(samples->cycles[i]), static_cast<double>(samples->cycles[i + 1])});
    }
    return answers;
  }

  /// Lines that make the anchor's next load slow. Few suffice; where there are very many banks, all lines are asked.
  Result<void> find_mates(std::uint64_t anchor) {
    const auto pool = m_bench.random_lines(~0ULL, 10);
    std::size_t mates = 0;
    for (std::size_t first = 0; first < pool.size() && mates < k_enough_mates;) {
      const auto end = std::min<std::size_t>(pool.size(), std::max<std::size_t>(k_first_pool_lines, 2 * first));
      std::vector<std::uint64_t> lines(pool.begin() + static_cast<std::ptrdiff_t>(first),
                                       pool.begin() + static_cast<std::ptrdiff_t>(end));
      std::erase(lines, anchor);
      if (auto r = store_mates(anchor, lines); !r) return r;
      const auto contrast = contrast_of(m_bench.context().measurements);
      mates = mates_of(m_bench.context().measurements, anchor).size();
      // No bank at all stands out in many thousand lines: more would not change that.
      if (!contrast.ok() && end >= 2 * k_first_pool_lines && !m_any) break;
      m_any = m_any || contrast.ok();
      first = end;
    }
    return {};
  }

  Result<void> store_mates(std::uint64_t anchor, const std::vector<std::uint64_t>& lines) {
    std::vector<RowQuestion> questions;
    for (const auto line : lines) questions.push_back({anchor, line, anchor});
    const auto answers = ask(questions);
    if (!answers) return tl::unexpected(answers.error());
    std::vector<double> cycles, open;
    for (const auto& answer : *answers) {
      cycles.push_back(answer.cycles);
      open.push_back(answer.open_cycles);
    }
    const double usual = median(open);
    const double cut = usual + std::max(3.0, 3 * mad_sigma(open));
    std::vector<std::size_t> slow;
    for (std::size_t i = 0; i < lines.size() && slow.size() < k_most_asked_again; ++i)
      if (cycles[i] > cut) slow.push_back(i);
    questions.clear();
    for (const auto i : slow) questions.insert(questions.end(), k_again, {anchor, lines[i], anchor});
    const auto again = ask(questions);
    if (!again) return tl::unexpected(again.error());
    auto& table = m_bench.table("dram.same_bank");
    for (std::size_t k = 0; k < slow.size(); ++k) {
      std::vector<double> readings;
      for (std::size_t turn = 0; turn < k_again; ++turn) readings.push_back((*again)[k * k_again + turn].cycles);
      table.make<std::uint64_t>("place_bytes").push_back(anchor);
      table.make<std::uint64_t>("other_bytes").push_back(lines[slow[k]]);
      table.make<double>("more_cycles").push_back(median(readings) - usual);
    }
    auto& asked = m_bench.table("dram.asked");
    asked.make<std::uint64_t>("place_bytes").push_back(anchor);
    asked.make<std::uint64_t>("lines").push_back(lines.size());
    asked.make<double>("usual_cycles").push_back(usual);
    asked.make<double>("scatter_cycles").push_back(mad_sigma(open));
    return {};
  }

  /// Round by round every line is asked both ways, and those that answered wrongly too often leave. The order makes no
  /// difference to a line of another bank, so that of its two answers one is wrong on average.
  Result<void> find_row(const Anchor& anchor, double contrast) {
    const auto page = anchor.place / m_bench.page_bytes() * m_bench.page_bytes();
    std::vector<Candidate> candidates;
    const Permutation order(m_bench.lines_of_page(), m_random.next());
    for (std::uint64_t i = 0; i < m_bench.lines_of_page(); ++i) {
      const auto line = page + order(i) * k_dram_line_bytes;
      if (line != anchor.place && line != anchor.closer) candidates.push_back({line, 0, 0});
    }
    add_row(anchor.place, {anchor.place, k_rounds, 0}, k_rounds);
    for (std::uint64_t round = 1; round <= k_rounds; ++round) {
      std::vector<RowQuestion> questions;
      for (const auto& candidate : candidates) {
        questions.push_back({anchor.closer, anchor.place, candidate.line});
        questions.push_back({anchor.place, anchor.closer, candidate.line});
      }
      const auto answers = ask(questions);
      if (!answers) return tl::unexpected(answers.error());
      for (std::size_t i = 0; i < candidates.size(); ++i) {
        candidates[i].open_after += open((*answers)[2 * i], contrast) ? 1 : 0;
        candidates[i].open_before += open((*answers)[2 * i + 1], contrast) ? 1 : 0;
      }
      const auto allowed = std::max<std::uint64_t>(1, (4 * round + 5) / 10);
      std::vector<Candidate> stay;
      for (const auto& candidate : candidates) {
        if (round - candidate.open_after + candidate.open_before <= allowed)
          stay.push_back(candidate);
        else if (round >= k_certain_rounds)
          add_row(anchor.place, candidate, round);  // so late no chance: now and then it is of the row
      }
      candidates = std::move(stay);
    }
    for (const auto& candidate : candidates) add_row(anchor.place, candidate, k_rounds);
    return {};
  }

  static bool open(const RowAnswer& answer, double contrast) {
    return answer.cycles - answer.open_cycles < contrast / 2;
  }

  void add_row(std::uint64_t anchor, const Candidate& candidate, std::uint64_t rounds) {
    auto& table = m_bench.table("dram.rows");
    table.make<std::uint64_t>("anchor_bytes").push_back(anchor);
    table.make<std::uint64_t>("place_bytes").push_back(candidate.line);
    table.make<std::uint64_t>("asked").push_back(rounds);
    table.make<std::uint64_t>("open_after_anchor").push_back(candidate.open_after);
    table.make<std::uint64_t>("open_after_other_row").push_back(candidate.open_before);
  }

  DramBench& m_bench;
  Random m_random;
  bool m_any = false;  ///< an anchor has lines of its bank
};

}  // namespace

Result<DramRows> measure_dram_rows(DramBench& bench) { return RowMeasurement(bench).run(); }

}  // namespace gpusonde
