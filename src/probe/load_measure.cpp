#include <fmt/format.h>

#include <algorithm>

#include "probe/load_probe.hpp"
#include "probe/load_sets.hpp"

namespace gpusonde {
namespace {

constexpr std::uint64_t k_line_bytes = 128;
constexpr std::uint32_t k_repetitions = 8;
constexpr std::uint64_t k_l1_ring_bytes = 8 * 1024;
constexpr std::uint64_t k_l2_chain_ring_bytes = 512 * 1024;  // so small that one warp has soon walked it
constexpr std::uint64_t k_l2_ring_bytes = 8ULL << 20;
constexpr std::uint64_t k_dram_ring_bytes = 8ULL << 30;
constexpr std::uint64_t k_rounds = 1024;
constexpr std::uint64_t k_dram_rounds = 512;
constexpr std::uint64_t k_dram_first_rounds = 64;
constexpr std::uint64_t k_most_rounds = 1 << 17;
constexpr std::array<std::uint32_t, 4> k_chains{1, 2, 4, 8};

struct Concurrency {
  std::uint32_t warps;
  std::uint32_t chains;
};
constexpr std::array<Concurrency, 9> k_concurrencies{
    {{1, 1}, {2, 1}, {4, 1}, {8, 1}, {16, 1}, {32, 1}, {32, 2}, {32, 4}, {32, 8}}};

std::uint32_t rounds_up(std::uint64_t rounds) {
  return static_cast<std::uint32_t>(std::min(k_most_rounds, round_up_to_8(rounds)));
}

class LoadMeasurement {
 public:
  explicit LoadMeasurement(ProbeContext& context)
      : m_context(context),
        m_sm_count(context.target.device().sm_count),
        m_l2(l2_set(context.target, k_l2_ring_bytes)),
        m_dram(dram_set(context.target, k_dram_ring_bytes)) {}

  Result<void> run() {
    for (std::uint32_t repetition = 0; repetition < k_repetitions; ++repetition) {
      for (const auto level : k_load_levels)
        for (const auto chains : k_chains) plan("load.chains", level, {1, chains}, 1, repetition);
      for (const auto level : {"l2", "dram"}) {
        plan("load.curve", level, {1, 1}, 1, repetition);
        for (const auto& concurrency : k_concurrencies) plan("load.curve", level, concurrency, m_sm_count, repetition);
      }
    }
    for (const auto& [level, set] : {std::pair{"l2", &m_l2}, std::pair{"dram", &m_dram}}) {
      if (set->bytes != 0) continue;
      auto& table = m_context.measurements.table("load.skipped");
      table.make<std::string>("level").emplace_back(level);
      table.make<std::string>("reason").push_back(set->why_not);
    }
    return execute();
  }

 private:
  struct Planned {
    const char* table;
    std::string_view level;
    std::uint32_t repetition;
  };

  void plan(const char* table, std::string_view level, Concurrency concurrency, std::uint32_t sms,
            std::uint32_t repetition) {
    LoadedChaseExperiment e;
    e.chains = concurrency.chains;
    e.warps = concurrency.warps;
    e.sms = sms;
    e.whole_lines = std::string_view(table) == "load.curve";
    e.path = level == "l1" ? LoadPath::global_ca : LoadPath::global_cg;
    e.ring.order.stride_bytes = k_line_bytes;
    e.ring.order.seed = m_context.options.seed + repetition;  // other lines, so that they do not speak for all
    const std::uint64_t chains = std::uint64_t{e.chains} * e.warps * sms;
    if (!(level == "dram" ? of_memory(e, chains) : of_cache(e, level, chains))) return;
    m_experiments.emplace_back(e);
    m_planned.push_back({table, level, repetition});
  }

  /// A ring that one level holds, walked before by every chain until each has met the lines of others too.
  bool of_cache(LoadedChaseExperiment& e, std::string_view level, std::uint64_t chains) const {
    const auto bytes = level == "l1"   ? k_l1_ring_bytes
                       : e.whole_lines ? m_l2.bytes
                                       : std::min(m_l2.bytes, k_l2_chain_ring_bytes);
    const auto nodes = bytes / k_line_bytes;
    if (nodes < chains) return false;
    e.ring.order.node_count = nodes;
    e.warm_parallel = level != "l1";
    e.warmup_rounds = rounds_up((e.sms == 1 ? 1 : 4) * nodes / chains);
    e.rounds = k_rounds;
    return true;
  }

  /// A ring so long that no chain comes to lines that another has loaded before. All of it is read first, so that
  /// what linking has written leaves L2.
  bool of_memory(LoadedChaseExperiment& e, std::uint64_t chains) const {
    const auto nodes = m_dram.bytes / k_line_bytes;
    const auto most = nodes / chains / 8 * 8;
    if (nodes == 0 || most < 2 * k_dram_first_rounds) return false;
    e.ring.order.node_count = nodes;
    e.warm_parallel = true;
    e.warmup_rounds = k_dram_first_rounds;
    e.rounds = static_cast<std::uint32_t>(std::min(k_dram_rounds, most - k_dram_first_rounds));
    return true;
  }

  Result<void> execute() {
    const auto total = static_cast<double>(m_experiments.size());
    const auto samples = m_context.target.run(
        m_experiments, {m_context.cancel, [&](std::size_t done) {
                          if (m_context.progress)
                            m_context.progress({"load", "loads that overlap", static_cast<double>(done) / total});
                        }});
    if (!samples) return tl::unexpected(samples.error());
    for (std::size_t i = 0; i < m_planned.size(); ++i) {
      const auto& e = std::get<LoadedChaseExperiment>(m_experiments[i]);
      const auto& s = std::get<LoadedChaseSamples>((*samples)[i]);
      store(m_context.measurements.table(m_planned[i].table),
            {std::string(m_planned[i].level), e.chains, e.warps, s.sm_count, m_planned[i].repetition,
             e.ring.footprint_bytes(), e.rounds, s.round_cycles, s.elapsed_cycles, s.wall_ns, s.loads, s.bytes});
    }
    return {};
  }

  ProbeContext& m_context;
  std::uint32_t m_sm_count;
  LoadSet m_l2;
  LoadSet m_dram;
  std::vector<Experiment> m_experiments;
  std::vector<Planned> m_planned;
};

}  // namespace

Result<void> measure_load(ProbeContext& context) { return LoadMeasurement(context).run(); }

}  // namespace gpusonde
