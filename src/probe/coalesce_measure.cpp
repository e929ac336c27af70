#include <algorithm>

#include "inference/statistics.hpp"
#include "probe/coalesce_probe.hpp"
#include "probe/run_one.hpp"

namespace gpusonde {
namespace {

constexpr int k_turns = 15;
constexpr std::uint32_t k_loads_of_turn = 4;  // the first one misses
constexpr std::uint64_t k_sector_lines = 24;  // asked at each distance
constexpr std::uint64_t k_apart_bytes = 4096;
constexpr std::size_t k_counted_patterns = 4;

class CoalesceMeasurement {
 public:
  explicit CoalesceMeasurement(ProbeContext& context) : m_context(context) {}

  Result<void> run() {
    auto patterns = standard_patterns(m_context.options.seed);
    m_usual = patterns.size();
    const auto& own = m_context.options.coalesce;
    if (!own.lanes.empty()) patterns.push_back({own.pattern, own.width, own.lanes});
    if (auto r = patterns_table(patterns); !r) return r;
    if (auto r = sector(); !r) return r;
    return counters(patterns);
  }

 private:
  /// The fastest of the loads that follow the first one, over some turns.
  Result<double> latency(const LanePattern& pattern, LoadPath path) {
    SequenceExperiment e;
    e.path = path;
    e.places = pattern.lanes;
    e.lane_bytes = pattern.width;
    e.tests.clear();
    for (int turn = 0; turn < k_turns; ++turn) {
      e.tests.push_back(static_cast<std::uint32_t>(e.steps.size()));
      e.steps.push_back({StepKind::gather, 0, static_cast<std::uint32_t>(pattern.lanes.size()), k_loads_of_turn});
    }
    if (m_context.target.capabilities().sm_choice) e.sm = 0;
    const auto samples = run_one<SequenceSamples>(m_context.target, m_context.cancel, std::move(e));
    if (!samples) return tl::unexpected(samples.error());
    std::vector<double> hits;
    for (std::size_t i = 0; i < samples->cycles.size(); ++i)
      if (i % k_loads_of_turn != 0) hits.push_back(samples->cycles[i]);
    return median(hits);
  }

  Result<void> patterns_table(const std::vector<LanePattern>& patterns) {
    auto& lanes = m_context.measurements.table("coalesce.lanes");
    auto& table = m_context.measurements.table("coalesce.latency");
    std::uint64_t number = 0;
    for (const auto& pattern : patterns) {
      if (m_context.progress)
        m_context.progress(
            {"coalesce", "loads of a warp", static_cast<double>(number) / static_cast<double>(patterns.size())});
      const auto l1 = latency(pattern, LoadPath::global_ca);
      if (!l1) return tl::unexpected(l1.error());
      const auto l2 = latency(pattern, LoadPath::global_cg);
      if (!l2) return tl::unexpected(l2.error());
      table.make<std::string>("pattern").push_back(pattern.name);
      table.make<std::uint64_t>("width_bytes").push_back(pattern.width);
      table.make<std::uint64_t>("asked_for").push_back(number >= m_usual ? 1 : 0);
      table.make<double>("l1_cycles").push_back(*l1);
      table.make<double>("l2_cycles").push_back(*l2);
      for (const auto lane : pattern.lanes) {
        lanes.make<std::uint64_t>("pattern").push_back(number);
        lanes.make<std::uint64_t>("offset_bytes").push_back(lane);
      }
      ++number;
    }
    return {};
  }

  /// A word some way on from one that was just loaded, and missed.
  Result<void> sector() {
    auto& table = m_context.measurements.table("coalesce.sector");
    for (const std::uint64_t distance : {8U, 16U, 32U, 64U, 128U, 256U}) {
      SequenceExperiment e;
      e.path = LoadPath::global_ca;
      e.tests.clear();
      for (std::uint64_t i = 0; i < k_sector_lines; ++i) {
        const auto first = static_cast<std::uint32_t>(e.places.size());
        e.places.insert(e.places.end(), {i * k_apart_bytes, i * k_apart_bytes + distance});
        e.tests.push_back(static_cast<std::uint32_t>(e.steps.size()));
        // Both are in L2 before, so that L1 alone decides.
        e.steps.push_back({StepKind::time, first, 2, 1});
      }
      const auto e_again = e;
      const auto warm = run_one<SequenceSamples>(m_context.target, m_context.cancel, with_second_turn(e_again));
      if (!warm) return tl::unexpected(warm.error());
      std::vector<double> second;
      const auto half = warm->cycles.size() / 2;
      for (std::size_t i = half; i < warm->cycles.size(); ++i)
        if (i % 2 == 1) second.push_back(warm->cycles[i]);
      table.make<std::uint64_t>("distance_bytes").push_back(distance);
      table.make<double>("latency_cycles").push_back(median(second));
    }
    return {};
  }
  /// All tests once more: L1 is empty again, L2 is not.
  [[nodiscard]] SequenceExperiment with_second_turn(SequenceExperiment e) const {
    const auto steps = e.steps;
    for (const auto& step : steps) {
      e.tests.push_back(static_cast<std::uint32_t>(e.steps.size()));
      e.steps.push_back(step);
    }
    if (m_context.target.capabilities().sm_choice) e.sm = 0;
    return e;
  }

  /// What cannot be read is a reason, not an error: everything else stands without.
  Result<void> counters(const std::vector<LanePattern>& patterns) {
    const auto& read = m_context.options.coalesce.read_counters;
    if (!read) return {};
    auto& table = m_context.measurements.table("coalesce.counters");
    for (const auto number : counted(patterns)) {
      const auto& pattern = patterns[number];
      const auto readings = read(pattern.lanes, pattern.width);
      if (!readings && readings.error().kind == ErrorKind::interrupted) return tl::unexpected(readings.error());
      const std::vector<CounterReading> none{{"", 0}};
      for (const auto& [counter, per_load] : readings ? *readings : none) {
        table.make<std::uint64_t>("pattern").push_back(number);
        table.make<std::string>("counter").push_back(counter);
        table.make<double>("per_load").push_back(per_load);
        table.make<std::string>("trouble").push_back(readings ? std::string() : readings.error().message);
      }
      if (!readings) return {};
    }
    return {};
  }
  /// A few that differ in lines and sectors; the user's own one alone.
  [[nodiscard]] std::vector<std::size_t> counted(const std::vector<LanePattern>& patterns) const {
    if (!m_context.options.coalesce.lanes.empty()) return {patterns.size() - 1};
    std::vector<std::size_t> chosen;
    for (std::size_t i = 0; i < patterns.size() && chosen.size() < k_counted_patterns; ++i)
      if (patterns[i].width == 4 && (patterns[i].name == "stride 1" || patterns[i].name == "stride 2" ||
                                     patterns[i].name == "stride 8" || patterns[i].name == "stride 32"))
        chosen.push_back(i);
    return chosen;
  }

  ProbeContext& m_context;
  std::size_t m_usual = 0;  ///< patterns that are always measured, the first ones
};

}  // namespace

Result<void> measure_coalesce(ProbeContext& context) { return CoalesceMeasurement(context).run(); }

}  // namespace gpusonde
