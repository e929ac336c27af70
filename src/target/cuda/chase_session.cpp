#include "target/cuda/chase_session.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "target/cuda/storage_split.hpp"

namespace gpusonde::cuda {
namespace {

constexpr std::size_t k_results_offset = 64;  // behind the ChaseState in the scratch memory
constexpr std::size_t k_scratch_limit_bytes = std::size_t{1} << 30;

constexpr unsigned k_link_threads = 256;
constexpr std::uint64_t k_most_link_blocks = 8192;

struct RepetitionResult {
  std::uint64_t cycles;
  std::uint64_t ns;
};

}  // namespace

ChaseSession::ChaseSession(const ChaseRequest& request, const ChaseGround& ground, const ChaseResources& resources)
    : m_request(request),
      m_ground(ground),
      m_r(resources),
      m_module(request.timing == HopTiming::per_hop ? ModuleId::chase_timed : ModuleId::chase),
      m_kernel(chase_kernel_name(request.path, request.chain, request.timing)),
      m_per_hop(request.timing == HopTiming::per_hop) {
  m_samples.hops = request.hops;
}

Result<void> ChaseSession::prepare(const char* link_kernel) {
  if (auto r = check_shape(); !r) return r;
  if (auto r = set_split(link_kernel); !r) return r;
  m_results_bytes = sizeof(RepetitionResult) * m_request.repetitions;
  m_samples_offset = k_results_offset + m_results_bytes;
  m_samples_bytes = m_per_hop ? 2 * m_request.hops * m_request.repetitions : 0;
  const auto scratch = m_r.scratch.at_least(m_samples_offset + m_samples_bytes, k_scratch_limit_bytes);
  if (!scratch) return tl::unexpected(scratch.error());
  m_scratch = *scratch;
  m_state_is_clear = true;
  return clear(m_samples_offset);
}

Result<void> check_split(const StorageSplit& split) {
  if (split.block_threads == 0 || split.block_threads > 1024)
    return fail(ErrorKind::usage, fmt::format("a block of {} threads: give 1 to 1024", split.block_threads));
  if (split.carveout_percent < -1 || split.carveout_percent > 100)
    return fail(ErrorKind::usage, fmt::format("a carve-out of {} %: give 0 to 100, or -1 for the driver's choice",
                                              split.carveout_percent));
  return {};
}

Result<void> ChaseSession::check_shape() {
  const auto& split = m_request.split;
  if (auto r = check_split(split); !r) return r;
  m_shape.threads = split.block_threads;
  std::uint64_t shared = m_request.shared_ring_bytes;
  if (m_per_hop) shared += 2 * m_request.hops * m_request.repetitions;
  if (shared > m_r.device.nominal.shared_per_block_bytes)
    return fail(ErrorKind::usage,
                fmt::format("{} B of shared memory for ring and samples: a block has {} at most; time fewer hops",
                            shared, m_r.device.nominal.shared_per_block_bytes));
  m_shape.dynamic_shared_bytes = static_cast<unsigned>((shared + 7) / 8 * 8);
  return {};
}

Result<void> ChaseSession::set_split(const char* link_kernel) {
  // The link kernel gets the same split, else the SM is set up anew between link and chase.
  const int carveout = m_request.split.carveout_percent;
  if (auto r = m_r.launcher.prefer_carveout(ModuleId::base, link_kernel, carveout); !r) return r;
  const auto shared = apply_split(m_module, m_kernel, m_shape, carveout, m_r);
  if (!shared) return tl::unexpected(shared.error());
  m_samples.shared_config_bytes = *shared;
  return {};
}

Result<void> ChaseSession::choose_sm(std::optional<std::uint32_t> sm) {
  if (sm && *sm >= m_r.device.sm_count)
    return fail(ErrorKind::usage,
                fmt::format("there is no SM {}: this GPU has {}, counted from 0", *sm, m_r.device.sm_count));
  m_sm = sm.value_or(k_any_sm);
  return {};
}

Result<void> ChaseSession::launch(const ChaseLaunch& launch) {
  if (m_r.cancelled()) return fail(ErrorKind::interrupted, "interrupted");
  if (!m_state_is_clear) {
    if (auto r = clear(sizeof(ChaseState)); !r) return r;
  }
  m_state_is_clear = false;
  return launch_on_sm(launch);
}

Result<void> ChaseSession::clear(std::size_t bytes) {
  if (const auto result = m_r.driver.memset_d8(m_scratch, 0, bytes); result != k_success)
    return tl::unexpected(driver_error(m_r.driver, result, "cannot clear device memory"));
  return {};
}

// Launches until a block of the wanted SM took the work: all blocks of one grid may be gone before
// one is put there.
Result<void> ChaseSession::launch_on_sm(const ChaseLaunch& launch) {
  const ChaseParameters parameters{m_ground.order,
                                   m_ground.base,
                                   m_ground.first_byte,
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

Result<ChaseSamples> ChaseSession::collect() {
  std::vector<RepetitionResult> results(m_request.repetitions);
  if (auto r = read(results.data(), k_results_offset, m_results_bytes); !r) return tl::unexpected(r.error());
  for (const auto& [cycles, ns] : results) {
    m_samples.cycles.push_back(cycles);
    m_samples.wall_ns.push_back(ns);
  }
  if (m_per_hop) {
    std::vector<std::uint16_t> hop_cycles(m_samples_bytes / 2);
    if (auto r = read(hop_cycles.data(), m_samples_offset, m_samples_bytes); !r) return tl::unexpected(r.error());
    m_samples.hop_cycles.assign(hop_cycles.begin(), hop_cycles.end());
  }
  return std::move(m_samples);
}

Result<void> ChaseSession::read(void* host, std::size_t offset, std::size_t bytes) {
  if (const auto result = m_r.driver.memcpy_dtoh(host, m_scratch + offset, bytes); result != k_success)
    return tl::unexpected(
        driver_error(m_r.driver, result, fmt::format("cannot read the results of kernel {}", m_kernel)));
  return {};
}

Result<std::uint64_t> apply_split(ModuleId module, const std::string& kernel, const LaunchShape& shape, int carveout,
                                  const ChaseResources& r) {
  // How many blocks could be resident if shared memory were no limit: what the driver provides for.
  if (auto set = r.launcher.prefer_carveout(module, kernel, 100); !set) return tl::unexpected(set.error());
  const auto resident = r.launcher.resident_blocks(module, kernel, shape);
  if (auto set = r.launcher.prefer_carveout(module, kernel, carveout); !set) return tl::unexpected(set.error());
  if (!resident) return tl::unexpected(resident.error());
  const auto& nominal = r.device.nominal;
  return shared_config_bytes(
      {.compute_capability = r.device.compute_capability_major * 10 + r.device.compute_capability_minor,
       .shared_per_sm_bytes = nominal.shared_per_sm_bytes,
       .reserved_per_block_bytes = nominal.reserved_shared_per_block_bytes,
       .shared_per_block_bytes = shape.dynamic_shared_bytes,
       .resident_blocks = *resident,
       .carveout_percent = carveout});
}

LaunchShape link_shape(std::uint64_t nodes) {
  const auto blocks = std::min((nodes + k_link_threads - 1) / k_link_threads, k_most_link_blocks);
  return {static_cast<unsigned>(blocks), k_link_threads, 0};
}

std::string chase_kernel_name(LoadPath path, ChainKind chain, HopTiming timing) {
  return fmt::format("chase_{}_{}{}", to_string(path), to_string(chain), timing == HopTiming::per_hop ? "_timed" : "");
}

}  // namespace gpusonde::cuda
