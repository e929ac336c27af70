#include "target/sim/warmup.hpp"
#include "target/sim/interruption.hpp"

#include <algorithm>
#include <cmath>

namespace gpusonde::sim {
namespace {

constexpr std::uint64_t k_loads_between_cancel_checks = 1 << 16;
constexpr std::uint64_t k_most_doublings = 4;

/// New lines a set must see until it holds nothing older.
std::uint32_t lines_to_settle(const CacheModel& cache) {
  switch (cache.replacement) {
    case Replacement::random: return 8 * cache.ways;
    case Replacement::nru: return 2 * cache.ways;
    case Replacement::lru:
    case Replacement::fifo:
    case Replacement::tree_plru:
    case Replacement::srrip: break;
  }
  return cache.ways;
}

/// Probability that a Poisson distribution of this mean stays below `count`.
double poisson_below(std::uint32_t count, double mean) {
  double term = std::exp(-mean);
  double sum = 0;
  for (std::uint32_t k = 0; k < count; ++k) {
    sum += term;
    term *= mean / (k + 1);
  }
  return sum;
}

/// Mean of a Poisson distribution that stays below `count` with a probability of 10^-5.
double mean_that_reaches(std::uint32_t count) {
  // Beyond a few hundred the terms would underflow, and 6 standard deviations are ample.
  if (count > 400) return count + 6 * std::sqrt(count) + 20;
  double low = count;
  double high = count + 6 * std::sqrt(count) + 20;
  for (int i = 0; i < 40; ++i) {
    const double middle = (low + high) / 2;
    (poisson_below(count, middle) > 1e-5 ? low : high) = middle;
  }
  return high;
}

struct Replay {
  Machine& machine;
  Trace& trace;
  const CancelToken* cancel;
  std::uint64_t loads_with_rows;

  /// The last `count` of `total` loads that begin at position 0.
  bool last(std::uint64_t total, std::uint64_t count) {
    std::uint64_t unchecked = 0;
    for (std::uint64_t done = total - count; done < total;) {
      const LoadBlock block = trace.at(done % trace.nodes(), total - done);
      const bool rows = total - done <= loads_with_rows;
      for (std::size_t i = 0; i < block.count; ++i) machine.touch(block, i, rows);
      done += block.count;
      unchecked += block.count;
      if (unchecked < k_loads_between_cancel_checks) continue;
      unchecked = 0;
      if (cancelled(cancel)) return false;
    }
    return true;
  }
};

/// One access to each of the ring's last pages, as many as the TLBs can hold, in address order: the order
/// in which a ring visits them when it goes group by group. In a random order the replay visits each again.
void touch_pages(Machine& machine, const Ring& ring) {
  const std::uint64_t span = machine.tlbs().smallest_span_bytes();
  if (span == 0) return;
  const std::uint64_t step = std::max<std::uint64_t>(span, ring.order.stride_bytes);
  const std::uint64_t length = ring.footprint_bytes();
  const std::uint64_t reach = 2 * machine.tlbs().reach_bytes() / span * step;
  std::uint64_t offset = length > reach ? (length - reach) / step * step : 0;
  for (; offset < length; offset += step) machine.tlbs().translate(k_buffer_address + ring.first_byte + offset);
}

bool settled(const Machine& machine) {
  for (const auto* level : machine.path())
    if (level->store().unfilled_sets() * 10'000 > level->store().touched_sets()) return false;
  return true;
}

}  // namespace

std::uint64_t settling_loads(const DeviceModel& model, LoadPath path, std::uint64_t stride_bytes) {
  const bool near = path == LoadPath::global_ca || path == LoadPath::global_nc;
  double loads = 0;
  for (const auto& cache : model.caches) {
    if (!near && !cache.allocates_cg) continue;
    const double sets = static_cast<double>(cache.sets) * cache.slices;
    const double loads_per_line =
        std::max(1.0, static_cast<double>(cache.line_bytes) / static_cast<double>(stride_bytes));
    loads = std::max(loads, sets * mean_that_reaches(lines_to_settle(cache)) * loads_per_line);
  }
  return static_cast<std::uint64_t>(std::ceil(loads));
}

bool warm_up(Machine& machine, Trace& trace, const DeviceModel& model, const ChaseExperiment& experiment, bool full,
             const CancelToken* cancel) {
  if (experiment.warmup == Warmup::none || experiment.warmup_laps == 0) return true;
  const std::uint64_t total = trace.nodes() * experiment.warmup_laps;
  std::uint64_t wanted = settling_loads(model, experiment.path, experiment.ring.order.stride_bytes);
  // A bank that none of the last 16 loads per bank went to is rare (exp(-16)), and so is a hit in its row.
  Replay replay{machine, trace, cancel, 16 * machine.dram().banks()};
  for (std::uint64_t doubling = 0; !full && wanted < trace.nodes(); ++doubling, wanted *= 2) {
    touch_pages(machine, experiment.ring);
    if (!replay.last(total, wanted)) return false;
    if (doubling == k_most_doublings || settled(machine)) return true;
    machine.reset();
  }
  return replay.last(total, total);
}

}  // namespace gpusonde::sim
