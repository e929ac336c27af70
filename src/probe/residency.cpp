#include "probe/residency.hpp"

#include <algorithm>
#include <cmath>

#include "inference/capacity.hpp"
#include "probe/curve.hpp"

namespace gpusonde {
namespace {

constexpr std::uint64_t k_laps = 8;
// A replacement that protects lines hit again can leave lines of an earlier ring in place for a while; that
// all lines were seen to hit once is proof, that some missed is none.
constexpr int k_attempts = 3;
constexpr std::uint64_t k_calibration_hops = 16384;

}  // namespace

Result<ChaseSamples> ResidencyProbe::chase(std::uint64_t nodes, HopTiming timing, std::uint64_t hops,
                                           std::uint32_t repetitions) {
  ChaseExperiment experiment;
  experiment.ring.order.node_count = nodes;
  experiment.ring.order.seed = m_context.options.seed;
  experiment.warmup = Warmup::serial;
  experiment.warmup_laps = 3;
  experiment.timing = timing;
  experiment.hops = (hops + 7) / 8 * 8;
  experiment.repetitions = repetitions;
  experiment.split = m_split;
  const Experiment one = experiment;
  auto samples = m_context.target.run({&one, 1}, {m_context.cancel, {}});
  if (!samples) return tl::unexpected(samples.error());
  return std::get<ChaseSamples>(std::move(samples->front()));
}

Result<Residency> ResidencyProbe::ask(std::uint64_t nodes) {
  const auto& capabilities = m_context.target.capabilities();
  const bool by_hop = !capabilities.unified_storage && nodes * k_laps <= capabilities.max_per_hop_hops;
  Result<Residency> answer;
  for (int attempt = 0; attempt < k_attempts; ++attempt) {
    answer = by_hop ? ask_by_hop(nodes) : ask_in_total(nodes);
    if (!answer || answer->resident()) break;
  }
  return answer;
}

Result<Residency> ResidencyProbe::ask_in_total(std::uint64_t nodes) {
  if (m_base_cycles == 0) {
    const auto base =
        chase(m_resident_nodes, HopTiming::aggregate, std::max(k_calibration_hops, k_laps * m_resident_nodes), 3);
    if (!base) return tl::unexpected(base.error());
    m_base_cycles = hop_latency(*base).low;
  }
  const auto samples = chase(nodes, HopTiming::aggregate, k_laps * nodes, 3);
  if (!samples) return tl::unexpected(samples.error());
  const auto latency = hop_latency(*samples);
  const double cycles = latency.low;
  Residency answer;
  answer.nodes = nodes;
  answer.misses_per_lap = (cycles - m_base_cycles) * static_cast<double>(nodes) / (m_miss_cycles - m_hit_cycles);
  answer.uncertain_misses =
      (latency.cycles - latency.low) * static_cast<double>(nodes) / (m_miss_cycles - m_hit_cycles);
  // A real overflow misses at least once a lap; timing overhead spread over the laps stays well below.
  answer.tolerated_misses = 0.75;
  answer.shared_config_bytes = samples->shared_config_bytes;
  // A larger resident ring spreads the overhead of timing further: the better base for what follows.
  if (answer.resident()) m_base_cycles = std::min(m_base_cycles, cycles);
  return answer;
}

Result<Residency> ResidencyProbe::ask_by_hop(std::uint64_t nodes) {
  if (m_threshold_cycles == 0)
    if (auto calibrated = calibrate_hops(); !calibrated) return tl::unexpected(calibrated.error());
  const auto samples = chase(nodes, HopTiming::per_hop, k_laps * nodes, 1);
  if (!samples) return tl::unexpected(samples.error());
  const auto misses = count_lap_misses(samples->hop_cycles, nodes, m_threshold_cycles);
  Residency answer;
  answer.nodes = nodes;
  answer.misses_per_lap = misses.miss_fraction * static_cast<double>(nodes);
  const double stray = m_stray_fraction * static_cast<double>(samples->hop_cycles.size());
  answer.tolerated_misses = misses.consistent > 0 ? 0 : (stray + 3 * std::sqrt(stray)) / k_laps;
  answer.shared_config_bytes = samples->shared_config_bytes;
  return answer;
}

Result<void> ResidencyProbe::calibrate_hops() {
  const auto hops = std::min<std::uint64_t>(4096, m_context.target.capabilities().max_per_hop_hops) / 8 * 8;
  const auto hits = chase(m_resident_nodes, HopTiming::per_hop, hops, 1);
  if (!hits) return tl::unexpected(hits.error());
  const double overhead = static_cast<double>(hits->cycles.front()) / static_cast<double>(hits->hops) - m_hit_cycles;
  const double middle = (m_hit_cycles + m_miss_cycles) / 2 + std::max(0.0, overhead);
  m_threshold_cycles = middle;
  const auto strays = std::count_if(hits->hop_cycles.begin(), hits->hop_cycles.end(),
                                    [&](std::uint32_t cycles) { return cycles > middle; });
  m_stray_fraction =
      static_cast<double>(strays) / static_cast<double>(std::max<std::size_t>(1, hits->hop_cycles.size()));
  return {};
}

}  // namespace gpusonde
