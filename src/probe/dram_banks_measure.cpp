// Which lines are of one bank and which of one channel, by pairs; then what a further column and a further row cost.
#include <algorithm>
#include <array>
#include <cmath>

#include "inference/statistics.hpp"
#include "probe/dram_probe.hpp"

namespace gpusonde {
namespace {

constexpr std::uint64_t k_pool_lines = 24576;
constexpr std::size_t k_tests_a_run = 1 << 15;
constexpr std::uint64_t k_alone_turns = 3;
constexpr std::uint64_t k_pair_turns = 9;
constexpr std::uint64_t k_noisy_pair_turns = 45;
constexpr std::uint64_t k_wait_turns = 5;
constexpr std::size_t k_most_pairs = 3000;
constexpr std::size_t k_most_mates = 200;
constexpr std::uint64_t k_cost_turns = 25;
constexpr std::size_t k_most_series = 6;
constexpr std::size_t k_most_steps = 8;
constexpr std::size_t k_controls = 32;
constexpr std::size_t k_least_rows = 4;
constexpr std::uint64_t k_sector_bytes = 32;
constexpr std::uint64_t k_sectors = k_dram_line_bytes / k_sector_bytes;

/// Lines that are opened one after the other, then dropped and loaded at once, a lane a place.
struct Gathered {
  std::vector<std::uint64_t> opened;  ///< in this order; those that stay open count
  std::vector<std::uint64_t> lanes;
};

struct Readings {
  std::vector<double> miss;   ///< median over turns
  std::vector<double> least;  ///< the fastest turn: without any refresh
  std::vector<double> hit;    ///< the same lanes again, from L2: median
  double scatter = 0;         ///< of single readings
};

std::vector<std::uint64_t> sectors_of(std::uint64_t line, std::uint64_t count = k_sectors) {
  std::vector<std::uint64_t> places;
  for (std::uint64_t i = 0; i < count; ++i) places.push_back(line + i * k_sector_bytes);
  return places;
}

class BankMeasurement {
 public:
  BankMeasurement(DramBench& bench, const DramRows& rows) : m_bench(bench), m_rows(rows), m_random(bench.random(2)) {}

  Result<void> run() {
    m_bench.say("channels", 0.4);
    if (auto r = pairs(); !r) return r;
    m_bench.say("banks", 0.5);
    if (auto r = banks(); !r) return r;
    m_bench.say("columns and rows", 0.6);
    return costs();
  }

 private:
  Result<Readings> gather(const std::vector<Gathered>& list, std::uint64_t turns) {
    std::vector<std::vector<double>> miss(list.size()), hit(list.size());
    const auto all = list.size() * turns;
    const Permutation order(std::max<std::uint64_t>(all, 1), m_random.next());
    for (std::uint64_t first = 0; first < all; first += k_tests_a_run) {
      const auto end = std::min<std::uint64_t>(all, first + k_tests_a_run);
      TestList tests;
      for (auto i = first; i < end; ++i) add_test(tests, list[order(i) % list.size()]);
      const auto samples = m_bench.run(tests);
      if (!samples) return tl::unexpected(samples.error());
      for (auto i = first; i < end; ++i) {
        miss[order(i) % list.size()].push_back(samples->cycles[2 * (i - first)]);
        hit[order(i) % list.size()].push_back(samples->cycles[2 * (i - first) + 1]);
      }
    }
    Readings readings;
    std::vector<double> off;
    for (std::size_t i = 0; i < list.size(); ++i) {
      for (const double reading : miss[i]) off.push_back(reading - median(miss[i]));
      readings.miss.push_back(median(miss[i]));
      readings.least.push_back(*std::min_element(miss[i].begin(), miss[i].end()));
      readings.hit.push_back(median(hit[i]));
    }
    if (!off.empty()) readings.scatter = (quantile(off, 0.9) - quantile(off, 0.1)) / 2.56;
    return readings;
  }
  static void add_test(TestList& tests, const Gathered& gathered) {
    tests.begin_test();
    const auto lanes = tests.add(gathered.lanes);
    const auto opened = tests.add(gathered.opened);
    const auto lane_count = static_cast<std::uint32_t>(gathered.lanes.size());
    const auto open_count = static_cast<std::uint32_t>(gathered.opened.size());
    tests.step(StepKind::drop, opened, open_count);
    tests.step(StepKind::walk, opened, open_count);
    tests.step(StepKind::drop, lanes, lane_count);
    tests.step(StepKind::gather, lanes, lane_count);
    tests.step(StepKind::gather, lanes, lane_count);
  }

  /// Lines that take as long as one of them, so that two of them reach DRAM at one time: pairs with that one.
  Result<void> pairs() {
    const auto pool = m_bench.random_lines(k_pool_lines, 20);
    std::vector<Gathered> alone;
    for (const auto line : pool) alone.push_back({{line}, {line}});
    const auto latency = gather(alone, k_alone_turns);
    if (!latency) return tl::unexpected(latency.error());
    // The most frequent latency has the most lines to choose from.
    std::vector<double> sorted = latency->miss;
    std::sort(sorted.begin(), sorted.end());
    const double reference = sorted[sorted.size() / 2];
    const auto x = static_cast<std::size_t>(
        std::min_element(latency->miss.begin(), latency->miss.end(),
                         [&](double a, double b) { return std::abs(a - reference) < std::abs(b - reference); }) -
        latency->miss.begin());
    m_x = pool[x];
    std::vector<std::pair<double, std::uint64_t>> near;
    for (std::size_t i = 0; i < pool.size(); ++i)
      if (i != x) near.emplace_back(std::abs(latency->miss[i] - latency->miss[x]), pool[i]);
    std::sort(near.begin(), near.end());
    near.resize(std::min(near.size(), k_most_pairs));
    while (!near.empty() && near.back().first > 2.5) near.pop_back();
    std::vector<Gathered> list;
    for (const auto& [difference, line] : near) {
      auto lanes = sectors_of(m_x);
      const auto others = sectors_of(line);
      lanes.insert(lanes.end(), others.begin(), others.end());
      list.push_back({{m_x, line}, lanes});
    }
    const auto together = gather(list, latency->scatter < 1 ? k_pair_turns : k_noisy_pair_turns);
    if (!together) return tl::unexpected(together.error());
    auto& table = m_bench.table("dram.pairs");
    for (std::size_t i = 0; i < near.size(); ++i) {
      table.make<std::uint64_t>("place_bytes").push_back(m_x);
      table.make<std::uint64_t>("other_bytes").push_back(near[i].second);
      table.make<double>("memory_cycles").push_back(together->miss[i]);
      table.make<double>("l2_cycles").push_back(together->hit[i]);
    }
    return {};
  }

  /// Lines of the first one's channel, each against each.
  Result<void> banks() {
    const auto kinds = pairs_of(m_bench.context().measurements).kinds;
    const auto* others = m_bench.table("dram.pairs").column<std::uint64_t>("other_bytes");
    std::vector<std::uint64_t> lines{m_x};
    for (std::size_t i = 0; i < kinds.size() && lines.size() < k_most_mates; ++i)
      if (kinds[i] != PairKind::apart) lines.push_back((*others)[i]);
    // Without channels there are still lines of one bank, for the cost of its rows.
    if (kinds.empty() && others != nullptr) add_waiting(lines, *others);
    const auto waits = waits_of(lines);
    if (!waits) return tl::unexpected(waits.error());
    if (waits->empty()) return {};
    m_waits = *waits;
    m_lines = lines;
    auto& table = m_bench.table("dram.waits");
    for (std::size_t a = 0; a < lines.size(); ++a)
      for (std::size_t b = 0; b < a; ++b) {
        if (!m_waits[a][b]) continue;
        table.make<std::uint64_t>("place_bytes").push_back(lines[b]);
        table.make<std::uint64_t>("other_bytes").push_back(lines[a]);
      }
    auto& list_table = m_bench.table("dram.channel_lines");
    list_table.make<std::uint64_t>("place_bytes") = lines;
    return {};
  }
  /// Who waits for whom, each against each; empty where nothing can be held against it.
  Result<std::vector<std::vector<bool>>> waits_of(const std::vector<std::uint64_t>& lines) {
    std::vector<Gathered> list;
    for (std::size_t a = 0; a < lines.size(); ++a)
      for (std::size_t b = 0; b < a; ++b) list.push_back({{lines[a], lines[b]}, {lines[a], lines[b]}});
    const auto pair_count = list.size();
    for (const auto line : cheapest(m_bench.table("dram.pairs").column<std::uint64_t>("other_bytes")))
      list.push_back({{m_x, line}, {m_x, line}});
    if (list.size() == pair_count) return std::vector<std::vector<bool>>{};
    const auto together = gather(list, k_wait_turns);
    if (!together) return tl::unexpected(together.error());
    const double plain = median(std::span(together->least).subspan(pair_count));
    std::vector<std::vector<bool>> waits(lines.size(), std::vector<bool>(lines.size()));
    std::size_t i = 0;
    for (std::size_t a = 0; a < lines.size(); ++a)
      for (std::size_t b = 0; b < a; ++b, ++i)
        waits[a][b] = waits[b][a] = together->least[i] > plain + 0.75 * m_rows.contrast.value;
    return waits;
  }

  /// Those that wait least for the first one, which are not of its bank.
  [[nodiscard]] std::vector<std::uint64_t> cheapest(const std::vector<std::uint64_t>* others) {
    const auto* miss = m_bench.table("dram.pairs").column<double>("memory_cycles");
    if (others == nullptr || miss == nullptr || miss->empty()) return {};
    const double limit = quantile(*miss, 0.25);
    std::vector<std::uint64_t> lines;
    for (std::size_t i = 0; i < others->size() && lines.size() < k_controls; ++i)
      if ((*miss)[i] <= limit) lines.push_back((*others)[i]);
    return lines;
  }
  void add_waiting(std::vector<std::uint64_t>& lines, const std::vector<std::uint64_t>& others) {
    const auto* miss = m_bench.table("dram.pairs").column<double>("memory_cycles");
    if (miss == nullptr || miss->empty()) return;
    const double plain = quantile(*miss, 0.25);
    for (std::size_t i = 0; i < others.size() && lines.size() < 2 * k_most_steps; ++i)
      if ((*miss)[i] > plain + 0.75 * m_rows.contrast.value) lines.push_back(others[i]);
  }

  /// Lines that wait each for each other, so all of different rows of one bank.
  [[nodiscard]] static std::vector<std::uint64_t> rows_of_bank(const std::vector<std::uint64_t>& lines,
                                                               const std::vector<std::vector<bool>>& waits,
                                                               std::size_t first) {
    std::vector<std::size_t> chosen{first};
    for (std::size_t i = 0; i < lines.size() && chosen.size() < k_most_steps + 1; ++i)
      if (std::all_of(chosen.begin(), chosen.end(), [&](auto other) { return waits[i][other]; })) chosen.push_back(i);
    std::vector<std::uint64_t> places;
    for (const auto line : chosen) places.push_back(lines[line]);
    return places;
  }

  /// Rows of several banks: of those of the channel, and where these have too few, of the rows' own banks.
  Result<std::vector<std::vector<std::uint64_t>>> banks_rows() {
    std::vector<std::vector<std::uint64_t>> found;
    std::vector<std::uint64_t> seen;
    for (std::size_t first = 0; first < m_lines.size() && found.size() < k_most_series; ++first) {
      auto rows = rows_of_bank(m_lines, m_waits, first);
      if (rows.size() < k_least_rows || std::find(seen.begin(), seen.end(), rows[1]) != seen.end()) continue;
      seen.insert(seen.end(), rows.begin(), rows.end());
      found.push_back(std::move(rows));
    }
    for (std::size_t i = 0; i < m_rows.members.size() && found.size() < k_most_series / 2; ++i) {
      auto lines = mates_of(m_bench.context().measurements, m_rows.members[i].front());
      lines.resize(std::min(lines.size(), 2 * k_most_steps));
      const auto waits = waits_of(lines);
      if (!waits) return tl::unexpected(waits.error());
      if (waits->empty()) continue;
      auto rows = rows_of_bank(lines, *waits, 0);
      if (rows.size() >= k_least_rows) found.push_back(std::move(rows));
    }
    return found;
  }

  struct Series {
    const char* kind;
    std::uint64_t number;
    std::uint64_t count;
  };
  Result<void> costs() {
    std::vector<Gathered> list;
    std::vector<Series> series;
    for (std::uint64_t i = 0; i < std::min<std::uint64_t>(k_most_series, m_rows.members.size()); ++i) {
      const auto& members = m_rows.members[i];
      for (std::uint64_t count = 1; count <= k_sectors; ++count) {
        list.push_back({{members.front()}, sectors_of(members.front(), count)});
        series.push_back({"columns of a line", i, count});
      }
      for (std::uint64_t count = 1; count <= std::min<std::uint64_t>(k_most_steps, members.size()); ++count) {
        list.push_back({{members.front()}, {members.begin(), members.begin() + static_cast<std::ptrdiff_t>(count)}});
        series.push_back({"lines of a row", i, count});
      }
    }
    const auto banks = banks_rows();
    if (!banks) return tl::unexpected(banks.error());
    std::uint64_t number = 0;
    for (auto rows : *banks) {
      // One more row is opened before, so that the first of them is closed.
      const auto before = rows.back();
      rows.pop_back();
      for (std::uint64_t count = 1; count <= rows.size(); ++count) {
        list.push_back({{before}, {rows.begin(), rows.begin() + static_cast<std::ptrdiff_t>(count)}});
        series.push_back({"rows of a bank", number, count});
      }
      ++number;
    }
    const auto readings = gather(list, k_cost_turns);
    if (!readings) return tl::unexpected(readings.error());
    auto& table = m_bench.table("dram.costs");
    for (std::size_t i = 0; i < list.size(); ++i) {
      table.make<std::string>("of").emplace_back(series[i].kind);
      table.make<std::uint64_t>("series").push_back(series[i].number);
      table.make<std::uint64_t>("count").push_back(series[i].count);
      table.make<double>("memory_cycles").push_back(readings->miss[i]);
      table.make<double>("l2_cycles").push_back(readings->hit[i]);
    }
    return {};
  }

  DramBench& m_bench;
  const DramRows& m_rows;
  Random m_random;
  std::uint64_t m_x = 0;
  std::vector<std::uint64_t> m_lines;
  std::vector<std::vector<bool>> m_waits;
};

}  // namespace

Result<void> measure_dram_banks(DramBench& bench, const DramRows& rows) { return BankMeasurement(bench, rows).run(); }

}  // namespace gpusonde
