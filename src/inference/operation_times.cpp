#include "inference/operation_times.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "inference/statistics.hpp"

namespace gpusonde {
namespace {

constexpr std::size_t k_least_repetitions = 6;  // fewer leave no interval of 95 % around a median
constexpr double k_widest = 0.1;                // of the value
constexpr double k_saturated = 0.02;
constexpr double k_wobble = 0.2;  // between numbers of chains that fill the pipeline as well as others
constexpr double k_widest_difference_cycles = 0.5;
constexpr double k_clock_cycles = 1;  // two differences of whole cycles

/// Whether fewer chains than the last two numbers were as fast.
bool reached_before(std::span<const ChainTimes> curve, double cycles) {
  for (const auto& point : curve.first(curve.size() - 2))
    if (const auto earlier = cycles_an_operation(point); earlier.ok() && earlier.value <= (1 + k_saturated) * cycles)
      return true;
  return false;
}

}  // namespace

Interval sure_median_interval(std::span<const double> values) {
  constexpr double errors = 4;
  constexpr double of_median = 1.2533;  // its standard error over that of a mean, for a normal distribution
  const double value = median(values);
  const double error = errors * of_median * mad_sigma(values) / std::sqrt(static_cast<double>(values.size()));
  const auto likely = median_interval(values);
  return {std::min(likely.low, value - error), std::max(likely.high, value + error)};
}

Estimate cycles_a_link(const ChainTimes& times) {
  if (times.short_cycles.size() < k_least_repetitions || times.long_cycles.size() < k_least_repetitions)
    return inconclusive(fmt::format("fewer than {} repetitions", k_least_repetitions));
  const double links = times.long_length - times.short_length;
  if (!(links > 0)) return inconclusive("both chains are of one length");
  const auto shorter = sure_median_interval(times.short_cycles);
  const auto longer = sure_median_interval(times.long_cycles);
  const double value = (median(times.long_cycles) - median(times.short_cycles)) / links;
  const Interval interval{(longer.low - shorter.high - k_clock_cycles) / links,
                          (longer.high - shorter.low + k_clock_cycles) / links};
  if (!(value > 0)) return inconclusive("a chain of three times the length took no longer");
  // A cycle more or less is the clock's; beyond it repetitions differ.
  const double spread = interval.high - interval.low - 2 * k_clock_cycles / links;
  if (spread > k_widest * value)
    return inconclusive(fmt::format("repetitions differ by {:.0f} %", 100 * spread / value));
  return {Outcome::ok, value, interval, {}};
}

Estimate cycles_an_operation(const ChainTimes& times) {
  auto estimate = cycles_a_link(times);
  if (!estimate.ok()) return estimate;
  const auto chains = static_cast<double>(times.chains);
  estimate.value /= chains;
  estimate.interval = {estimate.interval.low / chains, estimate.interval.high / chains};
  return estimate;
}

Estimate true_latency(std::span<const ChainTimes> curve) {
  if (curve.empty() || curve.front().chains != 1) return inconclusive("one chain alone was not timed");
  return cycles_a_link(curve.front());
}

Estimate completion_interval(std::span<const ChainTimes> curve) {
  if (curve.size() < 3) return inconclusive("fewer than three numbers of chains were timed");
  const auto alone = true_latency(curve);
  const auto before = cycles_an_operation(curve[curve.size() - 2]);
  const auto last = cycles_an_operation(curve.back());
  for (const auto* each : {&alone, &before, &last})
    if (!each->ok()) return *each;
  const auto& least = before.value < last.value ? before : last;
  const double change = std::abs(before.value - last.value);
  const double tolerance = std::max(k_saturated * last.value, (last.interval.high - last.interval.low) / 2);
  const auto chains = fmt::format("from {} chains to {}", curve[curve.size() - 2].chains, curve.back().chains);
  if (change > tolerance && last.value < before.value && !reached_before(curve, last.value))
    return inconclusive(
        fmt::format("{} it still falls from {:.2f} cycles to {:.2f}", chains, before.value, last.value));
  if (change > k_wobble * least.value)
    return inconclusive(fmt::format("{} it goes from {:.2f} cycles to {:.2f}", chains, before.value, last.value));
  if (last.interval.low > alone.interval.high)
    return inconclusive(fmt::format("{} chains take longer an operation than one does", curve.back().chains));
  if (change <= tolerance) return last;
  return {Outcome::ok,
          least.value,
          {std::min(before.interval.low, last.interval.low), std::max(before.interval.high, last.interval.high)},
          {}};
}

Estimate difference(const Estimate& more, const Estimate& less) {
  if (!more.ok()) return more;
  if (!less.ok()) return less;
  const Estimate result{Outcome::ok,
                        more.value - less.value,
                        {more.interval.low - less.interval.high, more.interval.high - less.interval.low},
                        {}};
  const double error = (result.interval.high - result.interval.low) / 2;
  if (error > k_widest_difference_cycles)
    return inconclusive(fmt::format("the two differ by {:.1f} cycles, give or take {:.1f}", result.value, error));
  return result;
}

}  // namespace gpusonde
