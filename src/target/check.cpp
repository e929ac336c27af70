#include <fmt/format.h>

#include <algorithm>
#include <functional>

#include "core/units.hpp"
#include "target/target.hpp"

namespace gpusonde {
namespace {

Result<void> check_path(LoadPath path, const Capabilities& capabilities) {
  if (std::find(capabilities.paths.begin(), capabilities.paths.end(), path) == capabilities.paths.end())
    return fail(ErrorKind::unsupported, fmt::format("this device has no '{}' loads", to_string(path)));
  return {};
}

}  // namespace

Result<void> check(const ChaseExperiment& experiment, const Capabilities& capabilities) {
  const auto& order = experiment.ring.order;
  const auto wrong = [](std::string message) { return fail(ErrorKind::usage, std::move(message)); };
  if (experiment.hops == 0 || experiment.hops % 8 != 0)
    return wrong(fmt::format("{} hops: give a multiple of 8 that is not 0", experiment.hops));
  if (experiment.repetitions == 0) return wrong("0 repetitions: give at least 1");
  if (order.node_count == 0 || order.stride_bytes == 0)
    return wrong("a ring needs at least one node and a stride above 0");
  if (experiment.start_back > order.node_count)
    return wrong(fmt::format("a start {} nodes back in a ring of {}; begin inside the ring", experiment.start_back,
                             order.node_count));
  if (experiment.start_back != 0 && experiment.warmup != Warmup::parallel)
    return wrong("a start inside the lap needs a parallel warm-up: a serial one ends where it began");
  const std::uint64_t unit = experiment.chain == ChainKind::pointer ? 8 : 4;
  if (order.stride_bytes % unit != 0 || experiment.ring.first_byte % unit != 0)
    return wrong(fmt::format("a stride of {} B: a {} chain needs a multiple of {}", order.stride_bytes,
                             to_string(experiment.chain), unit));
  if (order.jitter_lines * 128 > order.stride_bytes && order.jitter_lines > 1)
    return wrong("jitter reaches past the stride; use fewer lines or a larger stride");
  const std::uint64_t limit =
      experiment.path == LoadPath::shared ? capabilities.max_shared_ring_bytes : capabilities.max_ring_bytes;
  if (order.node_count > limit / order.stride_bytes ||
      experiment.ring.first_byte > limit - order.node_count * order.stride_bytes)
    return wrong(
        fmt::format("a working set of {} nodes every {} does not fit the {} this device can give; choose a smaller one",
                    order.node_count, format_bytes(order.stride_bytes), format_bytes(limit)));
  if (experiment.chain == ChainKind::index &&
      (experiment.ring.first_byte + experiment.ring.footprint_bytes()) / 4 > 0xFFFFFFFFULL)
    return wrong("an index chain reaches 16 GiB with its 32-bit indices; use --chain pointer or a smaller working set");
  if (experiment.timing == HopTiming::per_hop &&
      experiment.hops * experiment.repetitions > capabilities.max_per_hop_hops)
    return wrong(fmt::format("{} hops timed one by one: at most {}", experiment.hops * experiment.repetitions,
                             capabilities.max_per_hop_hops));
  return check_path(experiment.path, capabilities);
}

Result<void> check(const ListChaseExperiment& experiment, const Capabilities& capabilities, const AliasSpace& aliases) {
  const auto wrong = [](std::string message) { return fail(ErrorKind::usage, std::move(message)); };
  if (experiment.hops == 0 || experiment.hops % 8 != 0 || experiment.warmup_hops % 8 != 0)
    return wrong(fmt::format("{} hops after {}: give multiples of 8, and at least 8 timed ones", experiment.hops,
                             experiment.warmup_hops));
  if (experiment.repetitions == 0) return wrong("0 repetitions: give at least 1");
  if (experiment.places.size() < 2) return wrong("a list of fewer than two places: give at least two");
  if (experiment.path == LoadPath::shared) return wrong("a list of places in shared memory; choose a global load");
  if (auto possible = check_path(experiment.path, capabilities); !possible) return possible;
  if (experiment.warmup_sm && !experiment.sm) return wrong("a warm-up on an SM of its own needs an SM for the chase");
  if (experiment.timing == HopTiming::per_hop &&
      (experiment.hops > capabilities.max_per_hop_hops ||
       experiment.repetitions > capabilities.max_per_hop_hops / experiment.hops))
    return wrong(fmt::format("{} times {} hops timed one by one: at most {}", experiment.repetitions, experiment.hops,
                             capabilities.max_per_hop_hops));
  const bool aliased = experiment.region == Region::aliases;
  if (aliased && aliases.page_bytes == 0) return fail(ErrorKind::unsupported, aliases.why_not);
  const std::uint64_t limit = aliased ? aliases.span_bytes : capabilities.max_ring_bytes;
  std::vector<std::uint64_t> slots;
  std::vector<std::uint64_t> pages;
  for (const auto place : experiment.places) {
    if (place % 8 != 0) return wrong(fmt::format("place {} is no multiple of 8", place));
    if (place > limit - 8)
      return wrong(fmt::format("place {} lies beyond the {} this device can give; choose a smaller one", place,
                               format_bytes(limit)));
    slots.push_back(aliased ? place % aliases.page_bytes : place);
    if (aliased) pages.push_back(place / aliases.page_bytes);
  }
  std::sort(slots.begin(), slots.end());
  if (const auto same = std::adjacent_find(slots.begin(), slots.end()); same != slots.end())
    return wrong(fmt::format("two places share the 8 bytes at {}; a node needs its own", *same));
  std::sort(pages.begin(), pages.end());
  const auto distinct = static_cast<std::uint64_t>(std::unique(pages.begin(), pages.end()) - pages.begin());
  if (distinct > aliases.max_pages && aliased)
    return wrong(fmt::format("{} pages mapped at a time: at most {}", distinct, aliases.max_pages));
  return {};
}

namespace {

constexpr std::size_t k_most_throughput_places = 8192;
constexpr std::uint32_t k_most_map_hops = 1 << 12;
constexpr std::uint32_t k_most_loads_a_lane = 1 << 12;

tl::unexpected<Error> wrong(std::string message) { return fail(ErrorKind::usage, std::move(message)); }

/// Each a multiple of a unit, and inside a region with a word of 8 bytes from it on.
Result<void> check_places(const std::vector<std::uint64_t>& places, std::uint64_t limit_bytes,
                          std::uint64_t unit_bytes = 8) {
  if (places.empty()) return wrong("an empty list of places: give at least one");
  for (const auto place : places) {
    if (place % unit_bytes != 0) return wrong(fmt::format("place {} is no multiple of {}", place, unit_bytes));
    if (place > limit_bytes - 8)
      return wrong(fmt::format("place {} lies beyond the {} this device can give; choose a smaller one", place,
                               format_bytes(limit_bytes)));
  }
  return {};
}

Result<void> check_size(std::uint32_t bytes, const std::vector<std::uint32_t>& there_are, std::string_view what) {
  if (bytes == 0 || std::find(there_are.begin(), there_are.end(), bytes) != there_are.end()) return {};
  return fail(ErrorKind::unsupported, fmt::format("this device has no {} of {} B", what, bytes));
}

constexpr std::uint32_t k_warp_lanes = 32;

/// A gather's places are multiples of its lanes' bytes, those of all other loads of 8.
Result<void> check_gathers(const SequenceExperiment& e) {
  if (e.lane_bytes != 4 && e.lane_bytes != 8 && e.lane_bytes != 16)
    return wrong(fmt::format("lanes of {} B: give 4, 8 or 16", e.lane_bytes));
  for (const auto& step : e.steps) {
    const bool gather = step.kind == StepKind::gather;
    if (gather && step.count > k_warp_lanes)
      return wrong(fmt::format("a gather of {} places: a warp has {} lanes", step.count, k_warp_lanes));
    if (gather && e.split.block_threads < k_warp_lanes)
      return wrong(
          fmt::format("a gather by a block of {} threads: give a warp, {}", e.split.block_threads, k_warp_lanes));
    const std::uint64_t unit = gather ? e.lane_bytes : 8;
    if (unit == 8 && e.lane_bytes != 4) continue;  // all places are
    for (std::uint64_t i = step.first; i < std::uint64_t{step.first} + step.count; ++i)
      if (e.places[i] % unit != 0)
        return wrong(fmt::format("place {} is no multiple of {}, which its load takes", e.places[i], unit));
  }
  return {};
}

Result<void> check_steps(const SequenceExperiment& e, const Capabilities& capabilities) {
  for (const auto& step : e.steps) {
    if (step.kind == StepKind::drop && e.path != LoadPath::global_cg)
      return wrong("lines are dropped from L2 in a sequence of loads past L1; choose cg");
    if (step.kind == StepKind::drop && !capabilities.drops_lines)
      return fail(ErrorKind::unsupported, "this device has no instruction that drops a line from L2");
    if (step.count == 0 || step.times == 0) return wrong("a step of no loads: give at least one place, once");
    if (step.first >= e.places.size() || step.count > e.places.size() - step.first)
      return wrong(fmt::format("a step over places {} to {} of a list of {}", step.first,
                               std::uint64_t{step.first} + step.count - 1, e.places.size()));
  }
  if (e.tests.empty() || e.tests.front() != 0 || e.tests.back() >= e.steps.size() ||
      std::adjacent_find(e.tests.begin(), e.tests.end(), std::greater_equal<>()) != e.tests.end())
    return wrong("tests must begin at step 0 and ascend, each with at least one step");
  return {};
}

}  // namespace

Result<void> check(const SequenceExperiment& experiment, const Capabilities& capabilities, const AliasSpace& aliases) {
  if (experiment.path == LoadPath::shared) return wrong("a sequence in shared memory; choose a global load");
  if (auto r = check_path(experiment.path, capabilities); !r) return r;
  if (experiment.prefetch_bytes != 0 && experiment.path != LoadPath::global_cg)
    return wrong("a prefetch size goes with loads past L1; choose cg");
  if (auto r = check_size(experiment.prefetch_bytes, capabilities.prefetch_sizes_bytes, "L2 prefetch size"); !r)
    return r;
  if (auto r = check_size(experiment.fetch_limit_bytes, capabilities.fetch_limits_bytes, "limit of L2 fetches"); !r)
    return r;
  const bool aliased = experiment.region == Region::aliases;
  if (aliased && aliases.page_bytes == 0) return fail(ErrorKind::unsupported, aliases.why_not);
  if (auto r = check_places(experiment.places, aliased ? aliases.span_bytes : capabilities.max_ring_bytes,
                            experiment.lane_bytes == 4 ? 4 : 8);
      !r)
    return r;
  if (aliased) {
    std::vector<std::uint64_t> pages;
    for (const auto place : experiment.places) pages.push_back(place / aliases.page_bytes);
    std::sort(pages.begin(), pages.end());
    const auto distinct = static_cast<std::uint64_t>(std::unique(pages.begin(), pages.end()) - pages.begin());
    if (distinct > aliases.max_pages)
      return wrong(fmt::format("{} pages mapped at a time: at most {}", distinct, aliases.max_pages));
  }
  if (auto r = check_steps(experiment, capabilities); !r) return r;
  return check_gathers(experiment);
}

Result<void> check(const LineMapExperiment& experiment, const Capabilities& capabilities, std::uint32_t sm_count) {
  if (experiment.hops == 0 || experiment.hops % 8 != 0 || experiment.repetitions == 0 || experiment.sms_at_once == 0)
    return wrong(fmt::format("{} hops, {} repetitions, {} SMs at once: give a multiple of 8, and at least one of each",
                             experiment.hops, experiment.repetitions, experiment.sms_at_once));
  if (experiment.hops > k_most_map_hops || experiment.repetitions > k_most_map_hops / experiment.hops)
    return wrong(
        fmt::format("{} hops, {} times: at most {} in all", experiment.hops, experiment.repetitions, k_most_map_hops));
  if (auto r = check_places(experiment.places, capabilities.max_ring_bytes); !r) return r;
  if (experiment.places.size() > capabilities.max_map_places)
    return wrong(fmt::format("a map of {} lines: at most {}", experiment.places.size(), capabilities.max_map_places));
  auto sms = experiment.sms;
  std::sort(sms.begin(), sms.end());
  if (std::adjacent_find(sms.begin(), sms.end()) != sms.end()) return wrong("an SM is named twice; name each once");
  if (!sms.empty() && sms.back() >= sm_count)
    return wrong(fmt::format("there is no SM {}: this device has {}, counted from 0", sms.back(), sm_count));
  auto slots = experiment.places;
  std::sort(slots.begin(), slots.end());
  if (const auto same = std::adjacent_find(slots.begin(), slots.end()); same != slots.end())
    return wrong(fmt::format("two places share the 8 bytes at {}; a node needs its own", *same));
  return {};
}

Result<void> check(const ThroughputExperiment& experiment, const Capabilities& capabilities, std::uint32_t sm_count) {
  if (experiment.sms > sm_count) return wrong(fmt::format("{} SMs: this device has {}", experiment.sms, sm_count));
  if (auto r = check_places(experiment.places, capabilities.max_ring_bytes); !r) return r;
  if (experiment.places.size() > k_most_throughput_places)
    return wrong(fmt::format("throughput of {} lines: at most {}", experiment.places.size(), k_most_throughput_places));
  if (experiment.threads_per_sm == 0 || experiment.threads_per_sm % 32 != 0 || experiment.threads_per_sm > 1024 ||
      experiment.loads_a_lane == 0 || experiment.loads_a_lane > k_most_loads_a_lane)
    return wrong(
        fmt::format("{} threads that load {} lines each: give 32 to 1024 in whole warps, and at least one line",
                    experiment.threads_per_sm, experiment.loads_a_lane));
  return {};
}

Result<std::vector<std::uint64_t>> Target::physical_addresses(std::span<const std::uint64_t>) {
  return fail(ErrorKind::unsupported, "this device does not tell physical addresses");
}

}  // namespace gpusonde
