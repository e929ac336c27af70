#include "target/cuda/loads_runner.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace gpusonde::cuda {
namespace {

constexpr std::size_t k_scratch_limit_bytes = std::size_t{1} << 30;
constexpr std::size_t k_starts_offset = 256;  // behind the LoadsResult
constexpr unsigned k_block_threads = 1024;
constexpr unsigned k_touch_threads = 256;
constexpr std::uint64_t k_most_touch_blocks = 8192;
constexpr std::uint64_t k_quad_bytes = 16;

/// One launch of blocks that begin together, and the times that they leave.
class Together {
 public:
  explicit Together(const ChaseResources& r) : m_r(r) {}

  /// Errors: measurement (no memory).
  [[nodiscard]] Result<DevicePointer> result(std::size_t further_bytes = 0) {
    const auto scratch = m_r.scratch.at_least(k_starts_offset + further_bytes, k_scratch_limit_bytes);
    if (scratch) m_result = *scratch;
    return scratch;
  }

  template <class Parameters>
  [[nodiscard]] Result<LoadsResult> launch(const std::string& kernel, const LaunchShape& shape,
                                           const Parameters& parameters) {
    if (m_r.cancelled()) return fail(ErrorKind::interrupted, "interrupted");
    LoadsResult result{};
    result.first_ns = ~0ULL;
    if (auto done = driver_done(m_r.driver, m_r.driver.memcpy_htod(m_result, &result, sizeof result),
                                "cannot clear the results of many loads");
        !done)
      return tl::unexpected(done.error());
    if (auto done = m_r.launcher.launch(ModuleId::loads, kernel, shape, parameters); !done)
      return tl::unexpected(done.error());
    if (auto done = m_r.launcher.wait(kernel); !done) return tl::unexpected(done.error());
    if (auto done = driver_done(m_r.driver, m_r.driver.memcpy_dtoh(&result, m_result, sizeof result),
                                "cannot read the times of many loads");
        !done)
      return tl::unexpected(done.error());
    if (result.gave_up != 0 || result.arrived != shape.blocks)
      return fail(ErrorKind::measurement, "not all SMs came to load at once; other work on the device holds some");
    return result;
  }

 private:
  const ChaseResources& m_r;
  DevicePointer m_result = 0;
};

/// Shared memory of a block of which an SM holds so many and no more.
unsigned shared_bytes(const DeviceInfo& device, unsigned blocks_per_sm, std::uint64_t least) {
  const auto part = device.nominal.shared_per_sm_bytes / (blocks_per_sm + 1) + 1024;
  return static_cast<unsigned>(std::max(least, part));
}

std::string chase_name(const LoadedChaseExperiment& e) {
  return fmt::format("loaded_{}_{}_{}", to_string(e.path), e.whole_lines ? "line" : "word", e.chains);
}

std::string_view name_of(Transfer transfer) {
  switch (transfer) {
    case Transfer::read: return "read";
    case Transfer::write: return "write";
    case Transfer::copy: break;
  }
  return "copy";
}

Result<void> link(const LoadedChaseExperiment& e, const LoadedChaseParameters& p, const ChaseResources& r) {
  const std::uint64_t nodes = e.ring.order.node_count;
  if (e.whole_lines) {
    auto shape = link_shape(32 * nodes);  // a warp a node
    return r.launcher.launch(ModuleId::loads, "link_lines", shape, p);
  }
  for (std::uint64_t done = 0; done < nodes; done += k_positions_a_link_launch) {
    const auto count = std::min(k_positions_a_link_launch, nodes - done);
    const LinkParameters parameters{p.order, p.buffer, p.first_byte, done, count, 0, 0};
    if (auto linked = r.launcher.launch(ModuleId::base, "link", link_shape(count), parameters); !linked) return linked;
  }
  return {};
}

/// How often all threads of a set go on by `at_once` places each, to go round it once or more.
std::uint64_t turns_for(std::uint64_t quads, std::uint64_t passes, std::uint64_t threads, std::uint64_t at_once) {
  const auto a_turn = threads * at_once;
  return std::max<std::uint64_t>(1, (quads * passes + a_turn - 1) / a_turn);
}

}  // namespace

Result<LoadedChaseSamples> run_loaded_chase(const LoadedChaseExperiment& e, const ChaseResources& r) {
  const unsigned sms = e.sms == 0 ? r.device.sm_count : e.sms;
  const std::uint64_t chains = std::uint64_t{e.chains} * e.warps * sms;
  Together together(r);
  const auto result = together.result(8 * chains);
  if (!result) return tl::unexpected(result.error());
  const LoadedChaseParameters parameters{RingOrder(e.ring.order),   r.buffer, e.ring.first_byte, *result,
                                         *result + k_starts_offset, chains,   e.warmup_rounds,   e.rounds,
                                         e.whole_lines ? 1U : 0U,   0};
  if (auto placed = r.launcher.launch(ModuleId::loads, "place_chains", link_shape(chains), parameters); !placed)
    return tl::unexpected(placed.error());
  if (auto linked = link(e, parameters, r); !linked) return tl::unexpected(linked.error());
  if (e.warm_parallel) {
    const auto blocks = std::clamp<std::uint64_t>(e.ring.order.node_count / k_touch_threads, 1, k_most_touch_blocks);
    const LaunchShape shape{static_cast<unsigned>(blocks), k_touch_threads, 0};
    if (auto touched = r.launcher.launch(ModuleId::loads, "touch_ring", shape, parameters); !touched)
      return tl::unexpected(touched.error());
    if (auto done = r.launcher.wait("touch_ring"); !done) return tl::unexpected(done.error());
  }
  const LaunchShape shape{sms, 32 * e.warps, shared_bytes(r.device, 1, 0)};
  const auto times = together.launch(chase_name(e), shape, parameters);
  if (!times) return tl::unexpected(times.error());
  LoadedChaseSamples samples;
  const double warps = static_cast<double>(sms) * e.warps;
  samples.round_cycles = static_cast<double>(times->sum_cycles) / (warps * e.rounds);
  samples.elapsed_cycles = static_cast<double>(times->most_cycles);
  samples.wall_ns = times->last_ns - times->first_ns;
  samples.loads = std::uint64_t{sms} * e.warps * e.chains * e.rounds;
  samples.bytes = samples.loads * (e.whole_lines ? 128 : 8);
  samples.sm_count = sms;
  return samples;
}

Result<BandwidthSamples> run_bandwidth(const BandwidthExperiment& e, const ChaseResources& r) {
  Together together(r);
  const auto result = together.result();
  if (!result) return tl::unexpected(result.error());
  const unsigned blocks_per_sm = e.threads_per_sm / k_block_threads;
  const auto kernel = fmt::format("stream_{}_{}_{}", to_string(e.path), name_of(e.transfer), blocks_per_sm);
  const auto resident = r.launcher.resident_blocks(ModuleId::loads, kernel, {1, k_block_threads, 0});
  if (!resident) return tl::unexpected(resident.error());
  if (*resident < blocks_per_sm)
    return fail(ErrorKind::unsupported,
                fmt::format("an SM of this device does not hold {} threads; give 1024", e.threads_per_sm));
  const unsigned sms = e.sms == 0 ? r.device.sm_count : e.sms;
  const unsigned blocks = sms * blocks_per_sm;
  const bool in_shared = e.path == LoadPath::shared;
  const bool own = e.per_sm || in_shared;
  const std::uint64_t set_bytes = own ? e.bytes / blocks_per_sm : e.bytes;
  const std::uint64_t quads = set_bytes / k_quad_bytes / (e.transfer == Transfer::copy ? 2 : 1);
  const std::uint64_t threads = own ? k_block_threads : std::uint64_t{blocks} * k_block_threads;
  const std::uint64_t at_once = blocks_per_sm == 1 ? 8 : 4;
  const auto turns = turns_for(quads, e.passes, threads, at_once);
  const StreamParameters parameters{r.buffer,
                                    *result,
                                    set_bytes / 2,
                                    static_cast<unsigned>(quads),
                                    own ? 1U : 0U,
                                    static_cast<unsigned>(set_bytes / k_quad_bytes),
                                    static_cast<unsigned>(turns_for(quads, 1, threads, at_once)),
                                    static_cast<unsigned>(turns),
                                    0};
  const LaunchShape shape{blocks, k_block_threads, shared_bytes(r.device, blocks_per_sm, in_shared ? set_bytes : 0)};
  const auto times = together.launch(kernel, shape, parameters);
  if (!times) return tl::unexpected(times.error());
  BandwidthSamples samples;
  samples.bytes = turns * at_once * k_quad_bytes * k_block_threads * blocks * (e.transfer == Transfer::copy ? 2 : 1);
  samples.cycles = static_cast<double>(times->most_cycles);
  samples.wall_ns = times->last_ns - times->first_ns;
  samples.sm_count = sms;
  return samples;
}

}  // namespace gpusonde::cuda
