// Refresh, by loads that come late; and latency by what translation finds.
#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>

#include "inference/statistics.hpp"
#include "probe/dram_probe.hpp"
#include "probe/run_one.hpp"

namespace gpusonde {
namespace {

constexpr std::uint64_t k_lines = 4096;
constexpr std::uint64_t k_refresh_turns = 24;
constexpr std::uint64_t k_turns_a_run = 8;
constexpr std::uint64_t k_other_turns = 7;
constexpr std::uint64_t k_closed_lines = 1024;
constexpr std::size_t k_round = 128;  // so few that hardly two are of one row
constexpr std::uint64_t k_single_lines = 2;
constexpr std::uint64_t k_single_loads = 12288;
constexpr std::uint64_t k_sampled = 24;
constexpr std::uint64_t k_most_waiting_loads = 15;
constexpr double k_bin_cycles = 2;
constexpr double k_latency_bin_cycles = 4;
constexpr std::uint64_t k_overhead_lines = 256;
constexpr std::uint32_t k_overhead_turns = 49;
constexpr std::uint64_t k_alias_lines = 2048;
constexpr std::uint64_t k_most_warm_pages = 1024;
constexpr std::uint64_t k_alias_stride_bytes = 64ULL << 20;
constexpr std::uint64_t k_alias_turns = 3;

using Bins = std::map<std::int64_t, std::uint64_t>;

void add_to(Bins& bins, double value, double width) { ++bins[static_cast<std::int64_t>(std::floor(value / width))]; }

/// Rows of `dram.latency`: how many loads of a state took about how long.
void store_bins(DramBench& bench, const char* state, const Bins& bins) {
  auto& table = bench.table("dram.latency");
  for (const auto& [bin, count] : bins) {
    table.make<std::string>("state").emplace_back(state);
    table.make<double>("latency_cycles").push_back((static_cast<double>(bin) + 0.5) * k_latency_bin_cycles);
    table.make<std::uint64_t>("loads").push_back(count);
  }
}

/// Readings of each line right after a load of its row, many times over.
class RefreshMeasurement {
 public:
  explicit RefreshMeasurement(DramBench& bench) : m_bench(bench), m_random(bench.random(3)) {}

  Result<void> run() {
    m_bench.say("refresh", 0.7);
    m_lines = m_bench.random_lines(k_lines, 30);
    m_readings.resize(m_lines.size());
    for (std::uint64_t turn = 0; turn < k_refresh_turns; turn += k_turns_a_run)
      if (auto r = read(); !r) return r;
    store();
    for (std::uint64_t number = 0; number < k_single_lines; ++number)
      if (auto r = single_line(number); !r) return r;
    return {};
  }

 private:
  Result<void> read() {
    TestList tests;
    const auto at = tests.add(m_lines);
    const auto other = tests.add(std::span(m_lines).first(1));
    std::vector<std::uint32_t> order;
    std::vector<bool> wanted;
    for (std::uint64_t turn = 0; turn < k_turns_a_run; ++turn) {
      tests.begin_test();
      const Permutation permutation(m_lines.size(), m_random.next());
      for (std::uint64_t i = 0; i < m_lines.size(); ++i) {
        const auto line = static_cast<std::uint32_t>(permutation(i));
        order.push_back(line);
        for (const auto kind : {StepKind::drop, StepKind::walk, StepKind::drop, StepKind::time})
          tests.step(kind, at + line, 1);
        wanted.push_back(true);
        keep_out_of_step(tests, other, wanted);
      }
    }
    const auto samples = m_bench.run(tests);
    if (!samples) return tl::unexpected(samples.error());
    std::size_t next = 0;
    for (std::size_t i = 0; i < wanted.size(); ++i)
      if (wanted[i]) m_readings[order[next++]].push_back(samples->cycles[i]);
    return {};
  }

  /// Loads that hit, a number at random: loads as long as each other keep step with a refresh, which they then never
  /// meet, or always.
  void keep_out_of_step(TestList& tests, std::uint32_t place, std::vector<bool>& wanted) {
    for (auto more = m_random.below(k_most_waiting_loads + 1); more > 0; --more) {
      tests.step(StepKind::time, place, 1);
      wanted.push_back(false);
    }
  }

  void store() {
    Bins late;
    Bins latency;
    for (auto& readings : m_readings) {
      const double usual = median(readings);
      for (const double reading : readings) {
        add_to(late, reading - usual, k_bin_cycles);
        add_to(latency, reading, k_latency_bin_cycles);
      }
    }
    auto& table = m_bench.table("dram.late_loads");
    for (const auto& [bin, count] : late) {
      table.make<double>("late_cycles").push_back((static_cast<double>(bin) + 0.5) * k_bin_cycles);
      table.make<std::uint64_t>("loads").push_back(count);
    }
    store_bins(m_bench, "row open", latency);
  }

  /// Lines by themselves, each of which has one channel and so one refresh, with the times. Some loads that hit keep
  /// them out of step.
  Result<void> single_line(std::uint64_t number) {
    m_bench.say("refresh of one line", 0.8);
    TestList tests;
    tests.begin_test();
    const auto at = tests.add(std::span(m_lines).subspan(2 * number, 2));
    std::vector<bool> wanted;
    for (std::uint64_t i = 0; i < k_single_loads; ++i) {
      for (const auto kind : {StepKind::drop, StepKind::time}) tests.step(kind, at, 1);
      wanted.push_back(true);
      keep_out_of_step(tests, at + 1, wanted);
    }
    const auto samples = m_bench.run(tests, true);
    if (!samples) return tl::unexpected(samples.error());
    if (samples->starts.size() == wanted.size()) store_single(*samples, wanted, number);
    return {};
  }

  /// The late loads, and some of the others.
  void store_single(const SequenceSamples& samples, const std::vector<bool>& wanted, std::uint64_t number) {
    std::vector<double> starts, readings;
    double now = 0;
    for (std::size_t i = 0; i < wanted.size(); ++i) {
      // The clock's low word may pass 0.
      if (i > 0) now += static_cast<double>(samples.starts[i] - samples.starts[i - 1]);
      if (!wanted[i]) continue;
      starts.push_back(now);
      readings.push_back(samples.cycles[i]);
    }
    const double usual = median(readings);
    const double cut = std::max(5.0, 4 * mad_sigma(readings));
    auto& table = m_bench.table("dram.line_loads");
    for (std::size_t i = 0; i < starts.size(); ++i) {
      const bool sampled = i % k_sampled == 0;
      if (readings[i] - usual <= cut && !sampled) continue;
      table.make<std::uint64_t>("line").push_back(number);
      table.make<double>("begin_cycles").push_back(starts[i]);
      table.make<double>("late_cycles").push_back(readings[i] - usual);
      table.make<std::uint64_t>("sampled").push_back(sampled ? 1 : 0);
    }
  }

  DramBench& m_bench;
  Random m_random;
  std::vector<std::uint64_t> m_lines;
  std::vector<std::vector<double>> m_readings;
};

/// Latency of lines that leave L2 before: with their translation there, and through aliases without.
class LatencyMeasurement {
 public:
  explicit LatencyMeasurement(DramBench& bench) : m_bench(bench), m_random(bench.random(4)) {}

  Result<void> run() {
    m_bench.say("latency", 0.85);
    if (auto r = overhead(); !r) return r;
    if (auto r = translated(); !r) return r;
    m_space = m_bench.context().target.alias_space();
    if (m_space.page_bytes == 0) return {};
    m_bench.say("latency without translation", 0.9);
    // Pages that are unmapped leave no translation behind.
    m_bench.context().target.release_aliases();
    auto result = aliases();
    m_bench.context().target.release_aliases();
    return result;
  }

 private:
  /// What a reading has on top of a hop of a chain.
  Result<void> overhead() {
    const auto lines = m_bench.random_lines(k_overhead_lines, 40);
    ListChaseExperiment chase;
    chase.places = lines;
    chase.warmup_hops = 2 * lines.size() / 8 * 8;
    chase.hops = lines.size() / 8 * 8;
    if (chase.hops == 0) return {};
    chase.repetitions = k_overhead_turns;
    if (m_bench.context().target.capabilities().sm_choice) chase.sm = 0;
    const auto walked = run_one<ChaseSamples>(m_bench.context().target, m_bench.context().cancel, chase);
    if (!walked) return tl::unexpected(walked.error());
    TestList tests;
    tests.begin_test();
    const auto at = tests.add(lines);
    const auto count = static_cast<std::uint32_t>(chase.hops);
    tests.step(StepKind::walk, at, count);
    for (std::uint32_t turn = 0; turn < k_overhead_turns; ++turn) tests.step(StepKind::time, at, count);
    const auto timed = m_bench.run(tests);
    if (!timed) return tl::unexpected(timed.error());
    std::vector<double> chased(walked->cycles.begin(), walked->cycles.end());
    std::vector<double> by_turn;
    for (std::size_t first = 0; first < timed->cycles.size(); first += count)
      by_turn.push_back(std::accumulate(timed->cycles.begin() + static_cast<std::ptrdiff_t>(first),
                                        timed->cycles.begin() + static_cast<std::ptrdiff_t>(first + count), 0.0) /
                        count);
    auto& table = m_bench.table("dram.reading");
    table.make<double>("hop_cycles").push_back(median(chased) / static_cast<double>(chase.hops));
    table.make<double>("reading_cycles").push_back(median(by_turn));
    table.make<double>("hop_scatter_cycles").push_back(mad_sigma(chased) / static_cast<double>(chase.hops));
    table.make<std::uint64_t>("turns").push_back(k_overhead_turns);
    return {};
  }

  /// After rows were closed, a few of each page at a time: hardly any row is open.
  Result<void> translated() {
    const auto lines = m_bench.random_lines(k_closed_lines, 41);
    std::vector<std::vector<double>> readings(lines.size());
    for (std::uint64_t turn = 0; turn < k_other_turns; ++turn) {
      const Permutation order(lines.size(), m_random.next());
      std::vector<std::uint64_t> places(lines.size());
      for (std::size_t i = 0; i < lines.size(); ++i) places[i] = lines[order(i)];
      TestList tests;
      tests.begin_test();
      const auto closers = m_bench.add_closers(tests);
      const auto pages = tests.add(m_bench.pages());
      const auto at = tests.add(places);
      for (std::size_t first = 0; first < places.size(); first += k_round) {
        const auto count = static_cast<std::uint32_t>(std::min(k_round, places.size() - first));
        DramBench::close_rows(tests, closers);
        tests.step(StepKind::walk, pages, static_cast<std::uint32_t>(m_bench.pages().size()));
        tests.step(StepKind::drop, at + static_cast<std::uint32_t>(first), count);
        tests.step(StepKind::time, at + static_cast<std::uint32_t>(first), count);
      }
      const auto samples = m_bench.run(tests);
      if (!samples) return tl::unexpected(samples.error());
      for (std::size_t i = 0; i < places.size(); ++i) readings[order(i)].push_back(samples->cycles[i]);
    }
    Bins bins;
    double sum = 0;
    double squares = 0;
    const auto contrast = contrast_of(m_bench.context().measurements);
    for (const auto& of_line : readings) {
      const double usual = closed(of_line, contrast);
      sum += usual;
      squares += usual * usual;
      for (const double reading : of_line) add_to(bins, reading, k_latency_bin_cycles);
    }
    store_bins(m_bench, "row to be opened", bins);
    const auto count = static_cast<double>(readings.size());
    auto& table = m_bench.table("dram.translated");
    table.make<std::uint64_t>("lines").push_back(readings.size());
    table.make<double>("mean_cycles").push_back(sum / count);
    table.make<double>("scatter_cycles")
        .push_back(std::sqrt(std::max(0.0, squares / count - sum * sum / count / count)));
    return {};
  }

  /// A line's usual reading, without those that found its row open by chance.
  static double closed(const std::vector<double>& readings, const Estimate& contrast) {
    const double middle = median(readings);
    if (!contrast.ok()) return middle;
    double sum = 0;
    double count = 0;
    for (const double reading : readings) {
      if (std::abs(reading - middle) > contrast.value / 2) continue;
      sum += reading;
      ++count;
    }
    return count > 0 ? sum / count : middle;
  }

  /// Lines of one physical page, each through a page of its own. They are dropped through the first page, which leaves
  /// the translations of the others alone.
  Result<void> aliases() {
    const auto in_page = m_space.page_bytes / k_dram_line_bytes;
    auto pages = std::min({k_alias_lines, in_page - 1, m_space.max_pages - 1});
    auto stride = std::max(m_space.page_bytes, k_alias_stride_bytes);
    while (stride > m_space.page_bytes && m_space.span_bytes / stride < pages + 1) stride /= 2;
    pages = std::min(pages, m_space.span_bytes / stride - 1);
    if (pages < 64) return {};
    const Permutation offsets(in_page, m_random.next());
    for (std::uint64_t i = 0; i < pages; ++i) {
      const auto offset = offsets(i) * k_dram_line_bytes;
      m_direct.push_back(offset);
      m_through.push_back((i + 1) * stride + offset);
    }
    if (auto r = at(pages, false); !r) return r;
    for (std::uint64_t count = 4; count <= std::min(pages, k_most_warm_pages); count *= 2)
      if (auto r = at(count, true); !r) return r;
    return {};
  }

  /// So many pages: used before in the same order, or for the first time.
  Result<void> at(std::uint64_t pages, bool warm) {
    const auto count = static_cast<std::uint32_t>(pages);
    std::vector<double> extra;
    Bins bins;
    const auto turns = warm ? std::max<std::uint64_t>(k_alias_turns, 256 / pages) : 1;
    TestList tests;
    tests.begin_test();
    const auto direct = tests.add(std::span(m_direct).first(count));
    const auto through = tests.add(std::span(m_through).first(count));
    // Rows are then as the same loads leave them, in both halves.
    tests.step(StepKind::walk, direct, count);
    if (warm) tests.step(StepKind::walk, through, count);
    for (const auto loaded : {through, direct})
      for (std::uint64_t i = 0; i < turns; ++i) {
        tests.step(StepKind::drop, direct, count);
        tests.step(StepKind::time, loaded, count);
      }
    const auto samples = run_aliases(tests);
    if (!samples) return tl::unexpected(samples.error());
    const std::size_t half = turns * count;
    for (std::size_t i = 0; i < half; ++i) {
      extra.push_back(static_cast<double>(samples->cycles[i]) - samples->cycles[half + i]);
      add_to(bins, samples->cycles[i], k_latency_bin_cycles);
    }
    auto& table = m_bench.table("dram.translation");
    table.make<std::string>("pages_are").emplace_back(warm ? "used again" : "new");
    table.make<std::uint64_t>("pages").push_back(pages);
    table.make<double>("more_cycles").push_back(median(extra));
    table.make<double>("low_cycles").push_back(median_interval(extra).low);
    table.make<double>("high_cycles").push_back(median_interval(extra).high);
    if (!warm) store_bins(m_bench, "no translation", bins);
    return {};
  }

  Result<SequenceSamples> run_aliases(TestList& tests) {
    auto e = tests.take();
    e.region = Region::aliases;
    e.fetch_limit_bytes = m_bench.fetch_limit_bytes();
    if (m_bench.context().target.capabilities().sm_choice) e.sm = 0;
    return run_one<SequenceSamples>(m_bench.context().target, m_bench.context().cancel, std::move(e));
  }

  DramBench& m_bench;
  Random m_random;
  AliasSpace m_space;
  std::vector<std::uint64_t> m_direct;   ///< in the first page
  std::vector<std::uint64_t> m_through;  ///< the same lines, each in a page of its own
};

}  // namespace

Result<void> measure_dram_refresh(DramBench& bench) { return RefreshMeasurement(bench).run(); }

Result<void> measure_dram_latency(DramBench& bench) { return LatencyMeasurement(bench).run(); }

}  // namespace gpusonde
