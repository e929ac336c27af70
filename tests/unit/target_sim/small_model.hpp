// A GPU so small that its cycles can be counted by hand: 1000 MHz, so a cycle is a nanosecond.
#pragma once

#include <gtest/gtest.h>

#include <cstdint>
#include <memory>
#include <numeric>
#include <utility>
#include <vector>

#include "core/units.hpp"
#include "target/sim/sim_target.hpp"

namespace gpusonde {

inline constexpr double k_timer_cycles = 2;

/// L1 of 4 sets x 2 ways (1 KiB, virtual), 30 cycles; L2 of 8 sets x 4 ways (4 KiB), 200 cycles; DRAM 500.
/// No TLB, one DRAM bank with rows of 2^40 bytes that cost nothing to open, no refresh, no noise.
inline DeviceModel small_model() {
  DeviceModel model;
  model.id = "small";
  model.name = "Small GPU";
  model.origin = "small";
  model.compute_capability_major = 7;
  model.sm_count = 4;
  model.memory_bytes = 64 * k_mib;
  model.bus_width_bits = 64;
  model.timing.sm_mhz = 1000;
  model.timing.memory_mhz = 1000;
  model.timing.timer_overhead_cycles = k_timer_cycles;
  CacheModel l1;
  l1.name = "l1";
  l1.sets = 4;
  l1.ways = 2;
  l1.set_function = AddressFunction::modulo(128, 4);
  l1.index = l1.tag = AddressSpace::virtual_address;
  l1.hit = {30, 0};
  l1.allocates_cg = false;
  CacheModel l2;
  l2.name = "l2";
  l2.scope = Scope::gpu;
  l2.sets = 8;
  l2.ways = 4;
  l2.set_function = AddressFunction::modulo(128, 8);
  l2.hit = {200, 0};
  model.caches = {l1, l2};
  model.paging.placement = Placement::contiguous;
  model.dram.controllers = 1;
  model.dram.channels_per_controller = 1;
  model.dram.banks = 1;
  model.dram.latency = {500, 0};
  return model;
}

inline std::unique_ptr<Target> make(const DeviceModel& model, const SimOptions& options = {}) {
  auto target = make_sim_target(model, options);
  EXPECT_TRUE(target.has_value()) << (target ? "" : target.error().message);
  return target ? std::move(*target) : nullptr;
}

inline ChaseExperiment chase_of(std::uint64_t nodes, LoadPath path = LoadPath::global_ca, std::uint64_t stride = 128) {
  ChaseExperiment chase;
  chase.ring.order.node_count = nodes;
  chase.ring.order.stride_bytes = stride;
  chase.path = path;
  chase.hops = 1024;
  chase.repetitions = 1;
  return chase;
}

inline ChaseSamples run_chase_on(Target& target, const ChaseExperiment& chase) {
  const std::vector<Experiment> experiments{chase};
  auto samples = target.run(experiments, {});
  EXPECT_TRUE(samples.has_value()) << (samples ? "" : samples.error().message);
  return samples ? std::get<ChaseSamples>(samples->front()) : ChaseSamples{};
}

/// Cycles of the hops of the first repetition, without the two clock reads.
inline double cycles_of(const DeviceModel& model, const ChaseExperiment& chase, const SimOptions& options = {}) {
  const auto samples = run_chase_on(*make(model, options), chase);
  return samples.cycles.empty() ? 0 : static_cast<double>(samples.cycles.front()) - k_timer_cycles;
}

}  // namespace gpusonde
