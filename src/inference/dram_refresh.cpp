#include "inference/dram_refresh.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numbers>
#include <numeric>
#include <optional>

namespace gpusonde {
namespace {

constexpr std::uint64_t k_least_loads = 1000;
constexpr std::uint64_t k_least_late = 20;
constexpr double k_most_between = 0.15;  ///< of the late ones
constexpr double k_sigmas = 3.5;
constexpr double k_dependence = 0.05;
constexpr std::size_t k_least_events = 40;
constexpr std::size_t k_first_events = 64;
constexpr double k_least_concentration = 0.55;  // of 64 events by chance: once in 10^8 tries
constexpr double k_most_of_all = 0.4;

/// Value below which a share of the weight lies. Precondition: sorted, not empty.
double weighted_quantile(const LateHistogram& sorted, double share) {
  const auto total = std::accumulate(sorted.begin(), sorted.end(), std::uint64_t{0},
                                     [](std::uint64_t sum, const auto& bin) { return sum + bin.second; });
  const double wanted = share * static_cast<double>(total);
  double seen = 0;
  for (const auto& [value, count] : sorted) {
    seen += static_cast<double>(count);
    if (seen >= wanted) return value;
  }
  return sorted.back().first;
}

LateHistogram above(const LateHistogram& sorted, double cut) {
  LateHistogram part;
  std::copy_if(sorted.begin(), sorted.end(), std::back_inserter(part),
               [&](const auto& bin) { return bin.first > cut; });
  return part;
}

std::uint64_t weight(const LateHistogram& bins) {
  return std::accumulate(bins.begin(), bins.end(), std::uint64_t{0},
                         [](std::uint64_t sum, const auto& bin) { return sum + bin.second; });
}

LateLoads none(const std::string& reason) { return {LateKind::none, inconclusive(reason), inconclusive(reason), 0}; }

Estimate share_of(double count, std::uint64_t total) {
  const double share = count / static_cast<double>(total);
  // Loads are not quite independent of each other: a refresh that one waits for moves all that follow.
  const double error = k_sigmas * std::sqrt(share * (1 - share) / static_cast<double>(total)) + k_dependence * share;
  return {Outcome::ok, share, {std::max(0.0, share - error), share + error}, {}};
}

/// Waits spread evenly from nothing up to a length; nothing where they are not.
std::optional<LateLoads> rest_of_refresh(const LateHistogram& sorted, double centre, double sigma) {
  constexpr int k_parts = 8;
  const double cut = centre + 5 * sigma;
  auto late = above(sorted, cut);
  if (weight(late) < 8 * k_least_late) return {};
  // The edge: nearly all are below it, and what lies far beyond is something else.
  constexpr double k_edge = 0.985;
  double length = (weighted_quantile(late, 0.85) - cut) / 0.85;
  LateHistogram in;
  for (int turn = 0; turn < 4; ++turn) {
    in.clear();
    std::copy_if(late.begin(), late.end(), std::back_inserter(in),
                 [&](const auto& bin) { return bin.first <= cut + 1.03 * length; });
    if (in.empty()) return {};
    length = (weighted_quantile(in, k_edge) - cut) / k_edge;
  }
  if (length < 20 * sigma) return {};
  const auto inside = weight(in);
  const double expected = static_cast<double>(inside) / k_parts;
  if (static_cast<double>(weight(late) - inside) > 0.1 * static_cast<double>(inside)) return {};
  // Bins have a width of their own: an eighth of few bins is not quite even.
  for (int part = 0; part < k_parts; ++part) {
    const double low = cut + length * part / k_parts;
    const auto count = weight(above(late, low)) - weight(above(late, low + length / k_parts));
    const double slack = 0.4 * expected + 3 * std::sqrt(expected);
    // Loads that keep step with the refresh come in a crowd where it begins, and wait longest.
    const double most = (part == k_parts - 1 ? 2.5 : 1) * expected + slack;
    if (static_cast<double>(count) < expected - slack || static_cast<double>(count) > most) return {};
  }
  const double longest = length + cut - centre;
  LateLoads result;
  result.kind = LateKind::rest;
  result.cut_cycles = cut - centre;
  // Those that had little left are among the loads that did not wait.
  result.fraction = share_of(static_cast<double>(inside) * longest / length, weight(sorted));
  const double error = std::max(3.0, longest * (0.02 + k_sigmas / std::sqrt(static_cast<double>(inside)) / 2)) + sigma;
  result.stall_cycles = {Outcome::ok, longest, {longest - error, longest + error}, {}};
  return result;
}

/// Length of the mean of unit vectors, one an event, and their direction in turns.
std::pair<double, double> concentration(std::span<const double> times, double frequency) {
  double x = 0;
  double y = 0;
  for (const double time : times) {
    const double turns = (time - times.front()) * frequency;
    const double angle = 2 * std::numbers::pi * (turns - std::floor(turns));
    x += std::cos(angle);
    y += std::sin(angle);
  }
  const auto count = static_cast<double>(times.size());
  return {std::sqrt(x * x + y * y) / count, std::atan2(y, x) / (2 * std::numbers::pi)};
}

/// The lowest frequency at which nearly all events have one phase: a short window has all multiples of its own.
double lowest_frequency(std::span<const double> events, double low, double high) {
  const double span = events.back() - events.front();
  const double step = 1 / (4 * span);
  std::vector<double> values;
  for (double f = low; f <= high; f += step) values.push_back(concentration(events, f).first);
  if (values.empty()) return 0;
  const double best = *std::max_element(values.begin(), values.end());
  if (best < k_least_concentration) return 0;
  const double enough = std::max(k_least_concentration, 0.9 * best);
  auto at = static_cast<std::size_t>(
      std::find_if(values.begin(), values.end(), [&](double value) { return value >= enough; }) - values.begin());
  while (at + 1 < values.size() && values[at + 1] > values[at]) ++at;
  return low + static_cast<double>(at) * step;
}

struct Refined {
  double frequency = 0;
  std::size_t events = 0;  ///< of the first ones, over which they keep in step
};

/// Nearer and nearer, over more and more of the events, as long as they keep in step.
Refined refine(std::span<const double> events, double frequency, std::size_t first) {
  Refined best{frequency, first};
  for (std::size_t count = first;; count = std::min(events.size(), 2 * count)) {
    const auto part = events.first(count);
    const double step = 1 / (16 * (part.back() - part.front()));
    double highest = 0;
    double at = best.frequency;
    for (int k = -24; k <= 24; ++k) {
      const double value = concentration(part, best.frequency + k * step).first;
      if (value <= highest) continue;
      highest = value;
      at = best.frequency + k * step;
    }
    if (highest < k_least_concentration) return best;
    best = {at, count};
    if (count == events.size()) return best;
  }
}

}  // namespace

LateLoads late_loads(const LateHistogram& loads) {
  auto sorted = loads;
  std::sort(sorted.begin(), sorted.end());
  const auto total = weight(sorted);
  if (total < k_least_loads) return none(fmt::format("{} loads: too few to see refresh", total));
  // What most loads scatter by.
  const double centre = weighted_quantile(sorted, 0.5);
  const double sigma = std::max(1.0, (weighted_quantile(sorted, 0.75) - weighted_quantile(sorted, 0.25)) / 1.349);
  double cut = centre + 8 * sigma;
  auto late = above(sorted, cut);
  if (weight(late) < k_least_late)
    return none(fmt::format("no loads stand out: of {}, {} come more than {:.0f} cycles late", total, weight(late),
                            cut - centre));
  for (int turn = 0; turn < 4; ++turn) {
    cut = std::max(centre + 6 * sigma, centre + 0.5 * (weighted_quantile(late, 0.5) - centre));
    late = above(sorted, cut);
  }
  const auto count = weight(late);
  if (count < k_least_late) return none("the loads that come late do so by no common amount");
  const double stall = weighted_quantile(late, 0.5) - centre;
  const auto between = weight(above(sorted, centre + 0.25 * stall)) - weight(above(sorted, centre + 0.65 * stall));
  if (static_cast<double>(between) > k_most_between * static_cast<double>(count)) {
    if (auto rest = rest_of_refresh(sorted, centre, sigma)) return *rest;
    return none(fmt::format("of {} loads {} come late, but by anything from little to {:.0f} cycles", total, count,
                            weighted_quantile(late, 0.9) - centre));
  }
  LateLoads result;
  result.kind = LateKind::fixed;
  result.cut_cycles = cut - centre;
  result.fraction = share_of(static_cast<double>(count), total);
  const double half = std::max({3.0, (weighted_quantile(late, 0.75) - weighted_quantile(late, 0.25)) / 2,
                                k_sigmas * sigma / std::sqrt(static_cast<double>(count))});
  result.stall_cycles = {Outcome::ok, stall, {stall - half, stall + half}, {}};
  return result;
}

Estimate event_period(std::span<const double> events, std::span<const double> all, double shortest, double longest) {
  if (events.size() < k_least_events)
    return inconclusive(fmt::format("{} late loads of one line: too few to find a period", events.size()));
  const auto first = std::min(events.size(), k_first_events);
  const double high = 1 / shortest;
  // At least four periods lie in what is looked at first.
  const double low = std::max(1 / longest, 4 / (events[first - 1] - events.front()));
  const double coarse = low < high ? lowest_frequency(events.first(first), low, high) : 0;
  if (coarse == 0) return inconclusive("late loads of one line come at no common distance");
  const auto [frequency, count] = refine(events, coarse, first);
  const auto part = events.first(count);
  const double kept = concentration(part, frequency).first;
  if (kept < k_least_concentration)
    return inconclusive(fmt::format("late loads keep no period: {:.0f} % of them are in step", 100 * kept));
  // Loads that follow each other evenly would have a period of their own, and so would any few of them.
  const auto end = std::upper_bound(all.begin(), all.end(), part.back());
  const double of_all = concentration(all.first(static_cast<std::size_t>(end - all.begin())), frequency).first;
  if (of_all > k_most_of_all)
    return inconclusive("all loads of the line come at this distance, so that the late ones say nothing");
  const double period = 1 / frequency;
  // The width of the window that they fall into, over the time that they were seen for.
  const double width = std::sqrt(std::max(1e-6, -2 * std::log(kept))) / (2 * std::numbers::pi);
  const double error = period * std::max(1e-6, 2 * width * period / (part.back() - part.front()));
  return {Outcome::ok, period, {period - error, period + error}, {}};
}

}  // namespace gpusonde
