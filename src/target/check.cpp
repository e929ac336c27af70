#include <fmt/format.h>

#include <algorithm>

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

}  // namespace gpusonde
