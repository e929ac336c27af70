// Checks of experiments on operations, memories with instructions of their own, and clusters.
#include <fmt/format.h>

#include <algorithm>

#include "core/units.hpp"
#include "target/target.hpp"

namespace gpusonde {
namespace {

constexpr std::uint32_t k_most_chains = 16;
constexpr std::uint32_t k_most_instruction_repetitions = 1024;
// Launches stay below half a second even where every hop goes to memory.
constexpr std::uint64_t k_most_nodes = 1 << 18;
constexpr std::uint64_t k_most_hops = 1 << 19;
constexpr std::uint64_t k_most_memory_bytes = 256ULL << 20;
constexpr std::uint64_t k_most_sharing_bytes = 1ULL << 20;
constexpr std::uint32_t k_most_sharing_repetitions = 64;
constexpr std::uint32_t k_most_cluster_hops = 4096;

tl::unexpected<Error> wrong(std::string message) { return fail(ErrorKind::usage, std::move(message)); }

bool multiple(std::uint64_t value, std::uint64_t unit) { return value != 0 && value % unit == 0; }

Result<void> check_memory(MemoryKind kind, const Capabilities& capabilities) {
  const auto& memories = capabilities.memories;
  if (std::find(memories.begin(), memories.end(), kind) != memories.end()) return {};
  return fail(ErrorKind::unsupported, fmt::format("this device has no loads of {} memory", to_string(kind)));
}

Result<void> check_bytes(MemoryKind kind, std::uint64_t bytes, const Capabilities& capabilities) {
  const std::uint64_t most = kind == MemoryKind::constant ? capabilities.max_constant_bytes
                             : kind == MemoryKind::shared ? capabilities.max_shared_ring_bytes
                                                          : std::min(capabilities.max_ring_bytes, k_most_memory_bytes);
  if (bytes <= most) return {};
  return wrong(fmt::format("{} of {} memory: this device has {}; choose less", format_bytes(bytes), to_string(kind),
                           format_bytes(most)));
}

}  // namespace

Result<void> check(const InstructionExperiment& experiment, const Capabilities& capabilities) {
  const auto& known = capabilities.operations;
  if (std::find(known.begin(), known.end(), experiment.operation) == known.end())
    return fail(ErrorKind::unsupported,
                fmt::format("the operation {} cannot be timed on this device", to_string(experiment.operation)));
  const bool predicate =
      experiment.operation == Operation::shared_immediate || experiment.operation == Operation::shared_predicate;
  const std::uint32_t most = predicate ? 1 : k_most_chains;
  if (experiment.chains == 0 || experiment.chains > most)
    return wrong(fmt::format("{} chains of {}: give 1{}", experiment.chains, to_string(experiment.operation),
                             predicate ? "" : fmt::format(" to {}", most)));
  if (experiment.repetitions == 0 || experiment.repetitions > k_most_instruction_repetitions)
    return wrong(fmt::format("{} repetitions: give 1 to {}", experiment.repetitions, k_most_instruction_repetitions));
  return {};
}

Result<void> check(const MemoryChaseExperiment& experiment, const Capabilities& capabilities) {
  if (auto known = check_memory(experiment.kind, capabilities); !known) return known;
  if (!multiple(experiment.stride_bytes, 8) || !multiple(experiment.bytes, experiment.stride_bytes))
    return wrong(fmt::format("{} bytes, a node every {}: give a stride that is a multiple of 8, and a multiple of it",
                             experiment.bytes, experiment.stride_bytes));
  if (experiment.bytes / experiment.stride_bytes > k_most_nodes)
    return wrong(fmt::format("{} nodes: at most {}", experiment.bytes / experiment.stride_bytes, k_most_nodes));
  if (!multiple(experiment.hops, 8) || experiment.repetitions == 0)
    return wrong(fmt::format("{} hops, {} repetitions: give a multiple of 8, and at least one repetition",
                             experiment.hops, experiment.repetitions));
  if (experiment.repetitions > k_most_hops / experiment.hops)
    return wrong(
        fmt::format("{} hops, {} times: at most {} in all", experiment.hops, experiment.repetitions, k_most_hops));
  return check_bytes(experiment.kind, experiment.bytes, capabilities);
}

Result<void> check(const StorageSharingExperiment& experiment, const Capabilities& capabilities) {
  if (experiment.kind == MemoryKind::shared)
    return wrong("how L1 and shared memory share is set at each launch; compare L1's capacity over storage splits");
  if (auto known = check_memory(experiment.kind, capabilities); !known) return known;
  if (!multiple(experiment.l1_bytes, 1024) || !multiple(experiment.other_bytes, 1024))
    return wrong(fmt::format("{} bytes in L1 and {} others: give multiples of 1024", experiment.l1_bytes,
                             experiment.other_bytes));
  if (experiment.l1_bytes > k_most_sharing_bytes || experiment.other_bytes > k_most_sharing_bytes)
    return wrong(fmt::format("{} in L1 and {} others: at most {} of either", format_bytes(experiment.l1_bytes),
                             format_bytes(experiment.other_bytes), format_bytes(k_most_sharing_bytes)));
  if (experiment.repetitions == 0 || experiment.repetitions > k_most_sharing_repetitions)
    return wrong(fmt::format("{} repetitions: give 1 to {}", experiment.repetitions, k_most_sharing_repetitions));
  if (experiment.kind == MemoryKind::constant)
    return check_bytes(experiment.kind, experiment.other_bytes, capabilities);
  return check_bytes(experiment.kind, experiment.l1_bytes + experiment.other_bytes, capabilities);
}

Result<void> check(const ClusterExperiment& experiment, const Capabilities& capabilities) {
  if (capabilities.max_cluster_blocks == 0)
    return fail(ErrorKind::unsupported, capabilities.why_no_clusters.empty() ? "this device has no clusters of blocks"
                                                                             : capabilities.why_no_clusters);
  if (experiment.blocks < 2 || experiment.blocks > capabilities.max_cluster_blocks)
    return wrong(
        fmt::format("a cluster of {} blocks: give 2 to {}", experiment.blocks, capabilities.max_cluster_blocks));
  if (!multiple(experiment.hops, 8) || experiment.hops > k_most_cluster_hops)
    return wrong(fmt::format("{} hops: give a multiple of 8, up to {}", experiment.hops, k_most_cluster_hops));
  return {};
}

}  // namespace gpusonde
