#include "target/cuda/chase_runner.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <vector>

#include "target/cuda/chase_plan.hpp"
#include "target/cuda/kernel_parameters.hpp"
#include "target/cuda/storage_split.hpp"

namespace gpusonde::cuda {
namespace {

constexpr unsigned k_link_threads = 256;
constexpr std::uint64_t k_most_link_blocks = 8192;
constexpr std::uint64_t k_always_linked_nodes = 1 << 14;  // 2 MiB of lines: may be warmed again launch by launch
constexpr std::size_t k_results_offset = 64;              // behind the ChaseState in the scratch memory
constexpr std::size_t k_scratch_limit_bytes = std::size_t{1} << 30;

struct RepetitionResult {
  std::uint64_t cycles;
  std::uint64_t ns;
};

class ChaseRun {
 public:
  ChaseRun(const ChaseExperiment& experiment, const ChaseResources& resources)
      : m_e(experiment),
        m_r(resources),
        m_order(experiment.ring.order),
        m_module(experiment.timing == HopTiming::per_hop ? ModuleId::chase_timed : ModuleId::chase),
        m_kernel(chase_kernel_name(experiment.path, experiment.chain, experiment.timing)),
        m_in_shared(experiment.path == LoadPath::shared),
        m_per_hop(experiment.timing == HopTiming::per_hop) {}

  Result<ChaseSamples> run() {
    if (auto r = check_shape(); !r) return tl::unexpected(r.error());
    if (auto r = prepare(); !r) return tl::unexpected(r.error());
    if (auto r = link(); !r) return tl::unexpected(r.error());
    m_samples.hops = m_e.hops;
    m_start = m_e.ring.first_byte + m_order.offset(start_position());
    m_sm = m_e.sm.value_or(k_any_sm);
    bool first = true;
    for (const auto& launch : plan_chase(m_e, resident_bound_nodes())) {
      if (m_r.cancel != nullptr && m_r.cancel->requested()) return fail(ErrorKind::interrupted, "interrupted");
      if (!first) {
        if (auto r = clear(sizeof(ChaseState)); !r) return tl::unexpected(r.error());
      }
      if (auto r = launch_on_sm(launch); !r) return tl::unexpected(r.error());
      first = false;
    }
    if (auto r = collect(); !r) return tl::unexpected(r.error());
    return std::move(m_samples);
  }

 private:
  Result<void> check_shape() {
    const auto& split = m_e.split;
    if (split.block_threads == 0 || split.block_threads > 1024)
      return fail(ErrorKind::usage, fmt::format("a block of {} threads: give 1 to 1024", split.block_threads));
    if (split.carveout_percent < -1 || split.carveout_percent > 100)
      return fail(ErrorKind::usage, fmt::format("a carve-out of {} %: give 0 to 100, or -1 for the driver's choice",
                                                split.carveout_percent));
    if (m_e.sm && *m_e.sm >= m_r.device.sm_count)
      return fail(ErrorKind::usage,
                  fmt::format("there is no SM {}: this GPU has {}, counted from 0", *m_e.sm, m_r.device.sm_count));
    m_shape.threads = split.block_threads;
    std::uint64_t shared = m_in_shared ? m_e.ring.first_byte + m_e.ring.footprint_bytes() : 0;
    if (m_per_hop) shared += 2 * m_e.hops * m_e.repetitions;
    if (shared > m_r.device.nominal.shared_per_block_bytes)
      return fail(ErrorKind::usage,
                  fmt::format("{} B of shared memory for ring and samples: a block has {} at most; time fewer hops",
                              shared, m_r.device.nominal.shared_per_block_bytes));
    m_shape.dynamic_shared_bytes = static_cast<unsigned>((shared + 7) / 8 * 8);
    return {};
  }

  Result<void> prepare() {
    // How many blocks could be resident if shared memory were no limit: what the driver provides for.
    const int carveout = m_e.split.carveout_percent;
    if (auto r = m_r.launcher.prefer_carveout(m_module, m_kernel, 100); !r) return r;
    const auto resident = m_r.launcher.resident_blocks(m_module, m_kernel, m_shape);
    // The link kernel gets the same split, else the SM is set up anew between link and chase.
    if (auto r = m_r.launcher.prefer_carveout(m_module, m_kernel, carveout); !r) return r;
    if (auto r = m_r.launcher.prefer_carveout(ModuleId::base, "link", carveout); !r) return r;
    if (!resident) return tl::unexpected(resident.error());
    const auto& nominal = m_r.device.nominal;
    m_samples.shared_config_bytes = shared_config_bytes(
        {.compute_capability = m_r.device.compute_capability_major * 10 + m_r.device.compute_capability_minor,
         .shared_per_sm_bytes = nominal.shared_per_sm_bytes,
         .reserved_per_block_bytes = nominal.reserved_shared_per_block_bytes,
         .shared_per_block_bytes = m_shape.dynamic_shared_bytes,
         .resident_blocks = *resident,
         .carveout_percent = carveout});
    m_results_bytes = sizeof(RepetitionResult) * m_e.repetitions;
    m_samples_offset = k_results_offset + m_results_bytes;
    m_samples_bytes = m_per_hop ? 2 * m_e.hops * m_e.repetitions : 0;
    const auto scratch = m_r.scratch.at_least(m_samples_offset + m_samples_bytes, k_scratch_limit_bytes);
    if (!scratch) return tl::unexpected(scratch.error());
    m_scratch = *scratch;
    return clear(m_samples_offset);
  }

  Result<void> clear(std::size_t bytes) {
    if (const auto result = m_r.driver.memset_d8(m_scratch, 0, bytes); result != k_success)
      return tl::unexpected(driver_error(m_r.driver, result, "cannot clear device memory"));
    return {};
  }

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
    if (m_in_shared) return {};  // the chase links it itself
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
      const auto blocks = std::min((count + k_link_threads - 1) / k_link_threads, k_most_link_blocks);
      const LinkParameters parameters{
          m_order, m_r.buffer, m_e.ring.first_byte, from + done, count, m_e.chain == ChainKind::index ? 1U : 0U, 0};
      if (auto r = m_r.launcher.launch(ModuleId::base, "link", {static_cast<unsigned>(blocks), k_link_threads, 0},
                                       parameters);
          !r)
        return r;
    }
    return {};
  }

  // Launches until a block of the wanted SM took the work: all blocks of one grid may be gone before
  // one is put there.
  Result<void> launch_on_sm(const ChaseLaunch& launch) {
    const ChaseParameters parameters{m_order,
                                     m_r.buffer,
                                     m_e.ring.first_byte,
                                     m_start,
                                     m_scratch,
                                     m_scratch + k_results_offset,
                                     m_scratch + m_samples_offset,
                                     launch.warm_first,
                                     launch.warm_count,
                                     launch.lead_hops,
                                     launch.hops,
                                     launch.repetitions,
                                     launch.first_repetition,
                                     m_sm,
                                     0};
    auto shape = m_shape;
    shape.blocks = m_sm == k_any_sm ? 1 : 4 * m_r.device.sm_count;
    for (int attempt = 0; attempt < 4; ++attempt, shape.blocks *= 4) {
      if (auto r = m_r.launcher.launch(m_module, m_kernel, shape, parameters); !r) return r;
      if (auto r = m_r.launcher.wait(m_kernel); !r) return r;
      ChaseState state{};
      if (auto r = read(&state, 0, sizeof state); !r) return r;
      if (state.claimed == 0) continue;
      m_start = state.position;
      m_sm = m_samples.sm = state.sm;  // what follows runs where the caches are warm
      return {};
    }
    return fail(ErrorKind::measurement, fmt::format("no block of kernel {} came to run on SM {}", m_kernel, m_sm));
  }

  Result<void> collect() {
    std::vector<RepetitionResult> results(m_e.repetitions);
    if (auto r = read(results.data(), k_results_offset, m_results_bytes); !r) return r;
    for (const auto& [cycles, ns] : results) {
      m_samples.cycles.push_back(cycles);
      m_samples.wall_ns.push_back(ns);
    }
    if (!m_per_hop) return {};
    std::vector<std::uint16_t> hop_cycles(m_samples_bytes / 2);
    if (auto r = read(hop_cycles.data(), m_samples_offset, m_samples_bytes); !r) return r;
    m_samples.hop_cycles.assign(hop_cycles.begin(), hop_cycles.end());
    return {};
  }

  Result<void> read(void* host, std::size_t offset, std::size_t bytes) {
    if (const auto result = m_r.driver.memcpy_dtoh(host, m_scratch + offset, bytes); result != k_success)
      return tl::unexpected(
          driver_error(m_r.driver, result, fmt::format("cannot read the results of kernel {}", m_kernel)));
    return {};
  }

  const ChaseExperiment& m_e;
  const ChaseResources& m_r;
  RingOrder m_order;
  ModuleId m_module;
  std::string m_kernel;
  bool m_in_shared;
  bool m_per_hop;
  LaunchShape m_shape;
  DevicePointer m_scratch = 0;
  std::size_t m_results_bytes = 0;
  std::size_t m_samples_offset = 0;
  std::size_t m_samples_bytes = 0;
  std::uint64_t m_start = 0;
  std::uint32_t m_sm = k_any_sm;
  ChaseSamples m_samples;
};

}  // namespace

Result<ChaseSamples> run_chase(const ChaseExperiment& experiment, const ChaseResources& resources) {
  return ChaseRun(experiment, resources).run();
}

std::string chase_kernel_name(LoadPath path, ChainKind chain, HopTiming timing) {
  return fmt::format("chase_{}_{}{}", to_string(path), to_string(chain), timing == HopTiming::per_hop ? "_timed" : "");
}

}  // namespace gpusonde::cuda
