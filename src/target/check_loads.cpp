// Checks of experiments in which many warps load at once.
#include <fmt/format.h>

#include <algorithm>
#include <limits>

#include "core/units.hpp"
#include "target/target.hpp"

namespace gpusonde {
namespace {

constexpr std::uint32_t k_most_rounds = 1 << 17;  // 0.1 to 0.3 s
constexpr std::uint64_t k_unit_bytes = 32 * 1024;
constexpr std::uint64_t k_quad_bytes = 16;
constexpr std::uint64_t k_most_moved_bytes = std::uint64_t{64} << 30;  // 0.3 s of 200 GB/s

tl::unexpected<Error> wrong(std::string message) { return fail(ErrorKind::usage, std::move(message)); }

Result<void> check_sms(std::uint32_t sms, std::uint32_t sm_count) {
  if (sms <= sm_count) return {};
  return wrong(fmt::format("{} SMs: this device has {}", sms, sm_count));
}

Result<void> check_has(LoadPath path, const Capabilities& capabilities) {
  if (std::find(capabilities.paths.begin(), capabilities.paths.end(), path) != capabilities.paths.end()) return {};
  return fail(ErrorKind::unsupported, fmt::format("this device has no '{}' loads", to_string(path)));
}

Result<void> check_ring(const LoadedChaseExperiment& e, const Capabilities& capabilities) {
  const auto& order = e.ring.order;
  const std::uint64_t unit = e.whole_lines ? 128 : 8;
  if (order.node_count == 0 || order.stride_bytes == 0)
    return wrong("a ring needs at least one node and a stride above 0");
  if (order.stride_bytes % unit != 0 || e.ring.first_byte % unit != 0)
    return wrong(fmt::format("a ring at {} with a stride of {} B: {} need multiples of {}", e.ring.first_byte,
                             order.stride_bytes, e.whole_lines ? "whole lines" : "pointers", unit));
  const auto limit = capabilities.max_ring_bytes;
  if (order.node_count > limit / order.stride_bytes ||
      e.ring.first_byte > limit - order.node_count * order.stride_bytes)
    return wrong(
        fmt::format("a working set of {} nodes every {} does not fit the {} this device can give; choose a smaller one",
                    order.node_count, format_bytes(order.stride_bytes), format_bytes(limit)));
  if (e.whole_lines && (e.ring.first_byte + e.ring.footprint_bytes()) / 128 > 0xFFFFFFFFULL)
    return wrong("whole lines are chased up to 512 GiB; choose a smaller working set");
  return {};
}

}  // namespace

Result<void> check(const LoadedChaseExperiment& e, const Capabilities& capabilities, std::uint32_t sm_count) {
  if (e.path != LoadPath::global_ca && e.path != LoadPath::global_cg)
    return wrong(fmt::format("a chase of many warps by '{}' loads; choose ca or cg", to_string(e.path)));
  if (e.path != LoadPath::global_cg && e.whole_lines) return wrong("a chase of whole lines goes past L1; choose cg");
  if (e.chains != 1 && e.chains != 2 && e.chains != 4 && e.chains != 8)
    return wrong(fmt::format("{} chains of a warp: give 1, 2, 4 or 8", e.chains));
  if (e.warps == 0 || e.warps > 32) return wrong(fmt::format("{} warps of an SM: give 1 to 32", e.warps));
  if (auto r = check_sms(e.sms, sm_count); !r) return r;
  if (e.rounds == 0 || e.rounds % 8 != 0 || e.warmup_rounds % 8 != 0 || e.rounds > k_most_rounds ||
      e.warmup_rounds > k_most_rounds)
    return wrong(fmt::format("{} rounds after {}: give multiples of 8 up to {}, and at least 8 timed ones", e.rounds,
                             e.warmup_rounds, k_most_rounds));
  if (auto r = check_ring(e, capabilities); !r) return r;
  const std::uint64_t chains = std::uint64_t{e.chains} * e.warps * (e.sms == 0 ? sm_count : e.sms);
  if (chains > e.ring.order.node_count)
    return wrong(
        fmt::format("{} chains in a ring of {} nodes; give at least a node a chain", chains, e.ring.order.node_count));
  return check_has(e.path, capabilities);
}

Result<void> check(const BandwidthExperiment& e, const Capabilities& capabilities, std::uint32_t sm_count) {
  if (e.path != LoadPath::global_ca && e.path != LoadPath::global_cg && e.path != LoadPath::shared)
    return wrong(fmt::format("a stream by '{}' loads; choose ca, cg or shared", to_string(e.path)));
  if (e.path == LoadPath::global_ca && e.transfer != Transfer::read)
    return wrong("a stream that writes through L1, which keeps nothing of it; choose cg");
  if (e.threads_per_sm != 1024 && e.threads_per_sm != 2048)
    return wrong(fmt::format("{} threads an SM: give 1024 or 2048", e.threads_per_sm));
  if (auto r = check_sms(e.sms, sm_count); !r) return r;
  if (e.sms != 0 && e.sms != sm_count && e.threads_per_sm != 1024)
    return wrong(
        fmt::format("{} threads on {} of {} SMs: more than 1024 only on all", e.threads_per_sm, e.sms, sm_count));
  if (e.bytes == 0 || e.bytes % k_unit_bytes != 0)
    return wrong(fmt::format("a stream over {} B: give a multiple of 32 KiB", e.bytes));
  if (auto r = check_has(e.path, capabilities); !r) return r;
  const bool in_shared = e.path == LoadPath::shared;
  const std::uint64_t sets = e.per_sm && !in_shared ? (e.sms == 0 ? sm_count : e.sms) : 1;
  const auto limit = in_shared ? capabilities.max_shared_ring_bytes : capabilities.max_ring_bytes;
  if (e.bytes > limit / sets)
    return wrong(fmt::format("a stream over {} times {} does not fit the {} this device can give; choose a smaller set",
                             sets, format_bytes(e.bytes), format_bytes(limit)));
  if (e.bytes / k_quad_bytes > std::numeric_limits<std::uint32_t>::max() / 2)
    return wrong(fmt::format("a stream over {}: at most 32 GiB", format_bytes(e.bytes)));
  const std::uint64_t most_passes = std::max<std::uint64_t>(1, k_most_moved_bytes / e.bytes);
  if (e.passes == 0 || e.passes > most_passes)
    return wrong(fmt::format("{} passes over {}: give 1 to {}", e.passes, format_bytes(e.bytes), most_passes));
  return {};
}

}  // namespace gpusonde
