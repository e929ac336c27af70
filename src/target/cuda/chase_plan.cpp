#include "target/cuda/chase_plan.hpp"

#include <algorithm>

namespace gpusonde::cuda {
namespace {

constexpr std::uint64_t k_launch_budget_ns = 350'000'000;
constexpr std::uint64_t k_parallel_positions_a_thread = std::uint64_t{1} << 16;  // 0.1 to 0.3 s of DRAM loads
constexpr std::uint64_t k_l1_bound_bytes = std::uint64_t{1} << 20;               // no L1 is this large
constexpr std::uint64_t k_line_bytes = 128;

// Assumed, on the slow side: L2 at 300 ns, DRAM with every translation missing at 1200 ns.
std::uint64_t hop_estimate_ns(bool small) { return small ? 300 : 1200; }

bool is_small(const ChaseExperiment& e) {
  const auto& order = e.ring.order;
  return e.path == LoadPath::shared ||
         order.node_count <= k_l1_bound_bytes / std::min<std::uint64_t>(order.stride_bytes, k_line_bytes);
}

std::uint64_t most_hops_a_launch(bool small) { return k_launch_budget_ns / hop_estimate_ns(small) / 8 * 8; }

// Calls time(hops, first_repetition, repetitions) for one launch after the other.
template <class Experiment, class Time>
void cut_timing(const Experiment& e, std::uint64_t most_hops, const Time& time) {
  if (e.timing == HopTiming::per_hop) {
    time(e.hops, std::uint32_t{0}, e.repetitions);  // few, and their samples leave in one piece
  } else if (e.hops <= most_hops) {
    const auto batch = static_cast<std::uint32_t>(std::clamp<std::uint64_t>(most_hops / e.hops, 1, e.repetitions));
    for (std::uint32_t done = 0; done < e.repetitions; done += std::min(batch, e.repetitions - done))
      time(e.hops, done, std::min(batch, e.repetitions - done));
  } else {
    for (std::uint32_t repetition = 0; repetition < e.repetitions; ++repetition)
      for (std::uint64_t left = e.hops; left > 0; left -= std::min(left, most_hops))
        time(std::min(left, most_hops), repetition, std::uint32_t{1});
  }
}

class Planner {
 public:
  Planner(const ChaseExperiment& e, std::uint64_t resident_bound_nodes)
      : m_e(e),
        m_resident_bound_nodes(resident_bound_nodes),
        m_small(is_small(e)),
        m_lives_one_launch(
            m_small && (e.path == LoadPath::global_ca || e.path == LoadPath::global_nc || e.path == LoadPath::shared)),
        m_most_hops(most_hops_a_launch(m_small)) {}

  std::vector<ChaseLaunch> plan() {
    warm_up();
    cut_timing(m_e, m_most_hops,
               [this](std::uint64_t hops, std::uint32_t first, std::uint32_t count) { time(hops, first, count); });
    return std::move(m_launches);
  }

 private:
  // Leaves the last piece of the warm-up in m_next, to share the first timed launch where it may.
  void warm_up() {
    const std::uint64_t visits = m_e.ring.order.node_count * m_e.warmup_laps;
    if (m_e.warmup == Warmup::serial) {
      m_next.lead_hops = round_up_to_8(visits);
      if (m_lives_one_launch) return;
      for (; m_next.lead_hops > m_most_hops; m_next.lead_hops -= m_most_hops) {
        m_launches.push_back({.lead_hops = m_most_hops});
      }
      flush();
    } else if (m_e.warmup == Warmup::parallel) {
      const std::uint64_t nodes = m_e.ring.order.node_count;
      m_next.warm_count = visits;
      if (m_resident_bound_nodes != 0 && nodes > m_resident_bound_nodes && m_e.start_back <= m_resident_bound_nodes) {
        m_next.warm_count = m_resident_bound_nodes;
        m_next.warm_first = nodes - m_resident_bound_nodes;
      }
      m_next.lead_hops = k_lead_hops;  // fetches the loop's code
      if (m_lives_one_launch) return;
      const std::uint64_t most = k_parallel_positions_a_thread * m_e.split.block_threads;
      for (; m_next.warm_count > most; m_next.warm_count -= most) {
        m_launches.push_back({.warm_first = m_next.warm_first, .warm_count = most});
        m_next.warm_first = (m_next.warm_first + most) % m_e.ring.order.node_count;
      }
    }
  }

  // A serial warm-up and the timing that together exceed a launch are launched apart.
  void flush() {
    const std::uint64_t timed = m_e.hops * (m_e.timing == HopTiming::per_hop ? m_e.repetitions : 1);
    if (m_next.lead_hops + timed <= m_most_hops) return;
    m_launches.push_back(m_next);
    m_next = {.lead_hops = 0};
  }

  void time(std::uint64_t hops, std::uint32_t first, std::uint32_t count) {
    m_next.hops = hops;
    m_next.first_repetition = first;
    m_next.repetitions = count;
    m_launches.push_back(m_next);
    m_next = {};
    if (!m_lives_one_launch) return;
    if (m_e.warmup == Warmup::serial) m_next.lead_hops = round_up_to_8(m_e.ring.order.node_count);
    if (m_e.warmup == Warmup::parallel) m_next.warm_count = m_e.ring.order.node_count;
  }

  const ChaseExperiment& m_e;
  std::uint64_t m_resident_bound_nodes;
  bool m_small;
  bool m_lives_one_launch;
  std::uint64_t m_most_hops;
  ChaseLaunch m_next;
  std::vector<ChaseLaunch> m_launches;
};

}  // namespace

std::vector<ChaseLaunch> plan_chase(const ChaseExperiment& experiment, std::uint64_t resident_bound_nodes) {
  return Planner(experiment, resident_bound_nodes).plan();
}

ListChasePlan plan_chase(const ListChaseExperiment& e) {
  const auto most_hops = most_hops_a_launch(false);
  ListChasePlan plan;
  if (!e.warmup_sm && e.warmup_hops <= most_hops && e.repetitions <= (most_hops - e.warmup_hops) / e.hops) {
    plan.chase.push_back({.lead_hops = e.warmup_hops, .hops = e.hops, .repetitions = e.repetitions});
    return plan;
  }
  auto& warm_up = e.warmup_sm ? plan.warm_up : plan.chase;
  for (auto left = e.warmup_hops; left > 0; left -= std::min(left, most_hops))
    warm_up.push_back({.lead_hops = std::min(left, most_hops)});
  cut_timing(e, most_hops, [&plan](std::uint64_t hops, std::uint32_t first, std::uint32_t count) {
    plan.chase.push_back({.hops = hops, .repetitions = count, .first_repetition = first});
  });
  return plan;
}

}  // namespace gpusonde::cuda
