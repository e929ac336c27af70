#include "target/cuda/chase_runner.hpp"

#include <algorithm>

namespace gpusonde::cuda {
namespace {

constexpr std::uint64_t k_always_linked_nodes = 1 << 14;  // 2 MiB of lines: may be warmed again launch by launch

ChaseRequest request_of(const ChaseExperiment& e) {
  return {.path = e.path,
          .chain = e.chain,
          .timing = e.timing,
          .hops = e.hops,
          .repetitions = e.repetitions,
          .split = e.split,
          .shared_ring_bytes = e.path == LoadPath::shared ? e.ring.first_byte + e.ring.footprint_bytes() : 0};
}

class ChaseRun {
 public:
  ChaseRun(const ChaseExperiment& experiment, const ChaseResources& resources)
      : m_e(experiment),
        m_r(resources),
        m_order(experiment.ring.order),
        m_session(request_of(experiment), {m_order, resources.buffer, experiment.ring.first_byte}, resources) {}

  Result<ChaseSamples> run() {
    if (auto r = m_session.choose_sm(m_e.sm); !r) return tl::unexpected(r.error());
    if (auto r = m_session.prepare("link"); !r) return tl::unexpected(r.error());
    if (auto r = link(); !r) return tl::unexpected(r.error());
    m_session.start_at(m_e.ring.first_byte + m_order.offset(start_position()));
    for (const auto& launch : plan_chase(m_e, resident_bound_nodes())) {
      if (auto r = m_session.launch(launch); !r) return tl::unexpected(r.error());
    }
    return m_session.collect();
  }

 private:
  [[nodiscard]] std::uint64_t start_position() const {
    const std::uint64_t nodes = m_e.ring.order.node_count;
    return (nodes - m_e.start_back) % nodes;
  }

  // Lines that can still be resident at the end of a lap: twice what the L2 is said to hold (on an H200 none
  // is left after 1.6 times). 0: not known.
  [[nodiscard]] std::uint64_t resident_bound_nodes() const { return 2 * m_r.device.nominal.l2_bytes / 128; }

  // A serial walk needs the whole ring; after a parallel warm-up only the positions that are walked are read
  // as links.
  Result<void> link() {
    if (m_e.path == LoadPath::shared) return {};  // the chase links it itself
    const std::uint64_t nodes = m_e.ring.order.node_count;
    const std::uint64_t walked = m_e.hops * m_e.repetitions + k_lead_hops;
    if (m_e.warmup == Warmup::serial || nodes <= k_always_linked_nodes || walked >= nodes) return link(0, nodes);
    const std::uint64_t first = start_position();
    const std::uint64_t before_end = std::min(walked, nodes - first);
    if (auto r = link(first, before_end); !r || before_end == walked) return r;
    return link(0, walked - before_end);
  }

  Result<void> link(std::uint64_t from, std::uint64_t total) {
    for (std::uint64_t done = 0; done < total; done += k_positions_a_link_launch) {
      const auto count = std::min(k_positions_a_link_launch, total - done);
      const LinkParameters parameters{
          m_order, m_r.buffer, m_e.ring.first_byte, from + done, count, m_e.chain == ChainKind::index ? 1U : 0U, 0};
      if (auto r = m_r.launcher.launch(ModuleId::base, "link", link_shape(count), parameters); !r) return r;
    }
    return {};
  }

  const ChaseExperiment& m_e;
  const ChaseResources& m_r;
  RingOrder m_order;
  ChaseSession m_session;
};

}  // namespace

Result<ChaseSamples> run_chase(const ChaseExperiment& experiment, const ChaseResources& resources) {
  return ChaseRun(experiment, resources).run();
}

}  // namespace gpusonde::cuda
