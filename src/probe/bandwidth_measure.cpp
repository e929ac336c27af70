#include <fmt/format.h>

#include <algorithm>

#include "probe/bandwidth_probe.hpp"
#include "probe/load_sets.hpp"
#include "probe/run_one.hpp"

namespace gpusonde {
namespace {

constexpr std::uint64_t k_own_set_bytes = 32 * 1024;       // of each SM, in L1 and in shared memory
constexpr std::uint64_t k_own_moved_bytes = 384ULL << 20;  // of each SM: over a millisecond
constexpr std::uint64_t k_l2_moved_bytes = 8ULL << 30;     // likewise
constexpr std::uint64_t k_most_l2_set_bytes = 64ULL << 20;
constexpr std::uint64_t k_most_dram_set_bytes = 4ULL << 30;
constexpr std::uint32_t k_repetitions = 8;
constexpr std::array<std::uint32_t, 2> k_threads{1024, 2048};

Transfer transfer_of(std::string_view name) {
  return name == "read" ? Transfer::read : name == "write" ? Transfer::write : Transfer::copy;
}

class BandwidthMeasurement {
 public:
  explicit BandwidthMeasurement(ProbeContext& context) : m_context(context) {}

  Result<void> run() {
    state("begin");
    for (const auto& kind : k_stream_kinds)
      if (const auto e = experiment_of(kind)) m_planned.push_back({kind, *e});
    if (auto r = past_l1(); !r) return r;
    for (const auto threads : k_threads)
      if (auto r = choose(threads); !r) return r;
    if (auto r = repeat(); !r) return r;
    state("end");
    return {};
  }

 private:
  struct Planned {
    StreamKind kind;
    BandwidthExperiment experiment;
  };

  void say(const char* doing, double fraction) {
    if (m_context.progress) m_context.progress({"bandwidth", doing, fraction});
  }

  /// Nothing where the device has no such level, or none that is known; a row in `bandwidth.skipped` says why.
  std::optional<BandwidthExperiment> experiment_of(const StreamKind& kind) {
    BandwidthExperiment e;
    e.transfer = transfer_of(kind.transfer);
    LoadSet set{k_own_set_bytes, {}};
    std::uint64_t moved = k_own_moved_bytes;
    if (kind.level == "l1" || kind.level == "shared") {
      e.path = kind.level == "l1" ? LoadPath::global_ca : LoadPath::shared;
      e.per_sm = true;
      const auto& capabilities = m_context.target.capabilities();
      if (e.path == LoadPath::shared && capabilities.max_shared_ring_bytes < k_own_set_bytes)
        set = {0, "the device has less than 32 KiB of shared memory for a block"};
    } else if (kind.level == "l2") {
      set = l2_set(m_context.target, k_most_l2_set_bytes);
      moved = k_l2_moved_bytes;
    } else {
      set = dram_set(m_context.target, k_most_dram_set_bytes);
      moved = set.bytes;
    }
    if (set.bytes == 0) {
      auto& table = m_context.measurements.table("bandwidth.skipped");
      table.make<std::string>("level").emplace_back(kind.level);
      table.make<std::string>("transfer").emplace_back(kind.transfer);
      table.make<std::string>("reason").push_back(set.why_not);
      return std::nullopt;
    }
    e.bytes = set.bytes;
    e.passes = static_cast<std::uint32_t>(std::max<std::uint64_t>(1, moved / set.bytes));
    return e;
  }

  /// What L1 is to give, asked past it, and less of it: a reading to hold L1's against.
  Result<void> past_l1() {
    const auto l1 = std::find_if(m_planned.begin(), m_planned.end(),
                                 [](const Planned& planned) { return planned.kind.level == "l1"; });
    if (l1 == m_planned.end()) return {};
    Planned past{k_past_l1, l1->experiment};
    past.experiment.path = LoadPath::global_cg;
    past.experiment.passes = std::max(1U, past.experiment.passes / 8);
    const auto samples = run_one<BandwidthSamples>(m_context.target, m_context.cancel, past.experiment);
    if (!samples) return tl::unexpected(samples.error());
    keep(past, past.experiment.threads_per_sm, 0, *samples);
    return {};
  }

  void keep(const Planned& planned, std::uint32_t threads, std::uint32_t repetition, const BandwidthSamples& samples) {
    StreamRow row{std::string(planned.kind.level),
                  std::string(planned.kind.transfer),
                  threads,
                  repetition,
                  planned.experiment.bytes,
                  samples.bytes,
                  samples.cycles,
                  samples.wall_ns,
                  samples.sm_count};
    store(m_context.measurements.table("bandwidth.stream"), row);
    m_rows.push_back(std::move(row));
  }

  /// Each once, to see which number of threads moves most. An SM that does not hold so many is no failure.
  Result<void> choose(std::uint32_t threads) {
    say("choosing the number of threads", threads == k_threads.front() ? 0 : 0.1);
    for (const auto& planned : m_planned) {
      auto e = planned.experiment;
      e.threads_per_sm = threads;
      const auto samples = run_one<BandwidthSamples>(m_context.target, m_context.cancel, e);
      if (!samples && samples.error().kind == ErrorKind::unsupported && threads != k_threads.front()) continue;
      if (!samples) return tl::unexpected(samples.error());
      keep(planned, threads, 0, *samples);
    }
    return {};
  }

  Result<void> repeat() {
    std::vector<Experiment> experiments;
    std::vector<std::pair<const Planned*, std::uint32_t>> of;
    // Round by round, so that what changes in time does not fall on one level.
    for (std::uint32_t repetition = 1; repetition <= k_repetitions; ++repetition)
      for (const auto& planned : m_planned) {
        auto e = planned.experiment;
        e.threads_per_sm = static_cast<std::uint32_t>(best_threads(m_rows, planned.kind));
        experiments.emplace_back(e);
        of.emplace_back(&planned, repetition);
      }
    const auto total = static_cast<double>(experiments.size());
    const auto samples = m_context.target.run(
        experiments,
        {m_context.cancel, [&](std::size_t done) { say("streams", 0.2 + 0.8 * static_cast<double>(done) / total); }});
    if (!samples) return tl::unexpected(samples.error());
    for (std::size_t i = 0; i < of.size(); ++i)
      keep(*of[i].first, std::get<BandwidthExperiment>(experiments[i]).threads_per_sm, of[i].second,
           std::get<BandwidthSamples>((*samples)[i]));
    return {};
  }

  void state(const char* when) {
    const auto environment = m_context.target.environment();
    std::string reasons;
    for (const auto& reason : environment.clocks.throttle_reasons) reasons += (reasons.empty() ? "" : ", ") + reason;
    auto& table = m_context.measurements.table("bandwidth.state");
    table.make<std::string>("when").emplace_back(when);
    table.make<std::uint64_t>("sm_mhz").push_back(environment.clocks.sm_mhz);
    table.make<std::uint64_t>("memory_mhz").push_back(environment.clocks.memory_mhz);
    table.make<std::string>("throttle_reasons").push_back(reasons);
    table.make<std::string>("ecc").push_back(environment.ecc);
  }

  ProbeContext& m_context;
  std::vector<Planned> m_planned;
  std::vector<StreamRow> m_rows;
};

}  // namespace

Result<void> measure_bandwidth(ProbeContext& context) { return BandwidthMeasurement(context).run(); }

}  // namespace gpusonde
