// The sweep over memory of the VIVT document: how far, in which order.
#pragma once

#include <cstdint>
#include <vector>

#include "probe/probe.hpp"

namespace gpusonde {

/// What the options' share of memory comes to.
[[nodiscard]] std::uint64_t allowed_bytes(const SweepOptions& options, std::uint64_t available_bytes);

/// The options' strides; of the default ones, which nobody asked for one by one, those that memory has room for.
[[nodiscard]] std::vector<std::uint64_t> strides_that_fit(const SweepOptions& options, std::uint64_t available_bytes);

/// Everything that the options ask and this device cannot give. `available_bytes`: what a ring can have. Of the default
/// strides those count that it has room for, one at least. Errors: usage.
[[nodiscard]] Result<void> check_sweep(const SweepOptions& options, std::uint64_t available_bytes);

/// Numbers of nodes at a stride, four a doubling, ascending, at least 2; the largest that fits is among them.
[[nodiscard]] std::vector<std::uint64_t> sweep_nodes(const SweepOptions& options, std::uint64_t stride_bytes,
                                                     std::uint64_t available_bytes);

/// The ring: node i on a line of its stride that differs from node to node, so that no set of a cache gets them all.
/// With a step, the smallest one from `step` on that leads through all nodes.
[[nodiscard]] std::vector<std::uint64_t> sweep_places(std::uint64_t stride_bytes, std::uint64_t nodes,
                                                      std::uint64_t step, std::uint64_t seed);

[[nodiscard]] ListChaseExperiment sweep_chase(std::vector<std::uint64_t> places, LoadPath path, std::uint32_t laps);

}  // namespace gpusonde
