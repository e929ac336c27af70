#include "probe/sweep_plan.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "core/units.hpp"

namespace gpusonde {
namespace {

constexpr std::uint64_t k_line_bytes = 128;
constexpr std::uint64_t k_most_lines = 16384;  // a page of 2 MiB
constexpr double k_points_an_octave = 4;
constexpr std::uint32_t k_parts = 32;
constexpr std::uint64_t k_least_part_hops = 512;
constexpr std::uint64_t k_most_nodes = 1ULL << 20;
constexpr std::uint64_t k_least_default_nodes = 64;
constexpr std::uint32_t k_most_laps = 1000;

std::uint64_t most_bytes(const SweepOptions& options, std::uint64_t available_bytes) {
  const auto allowed = allowed_bytes(options, available_bytes);
  return options.max_bytes == 0 ? allowed : std::min(options.max_bytes, allowed);
}

}  // namespace

std::uint64_t allowed_bytes(const SweepOptions& options, std::uint64_t available_bytes) {
  return static_cast<std::uint64_t>(options.max_mem_fraction * static_cast<double>(available_bytes));
}

std::vector<std::uint64_t> strides_that_fit(const SweepOptions& options, std::uint64_t available_bytes) {
  auto strides = options.strides_bytes;
  if (strides == SweepOptions{}.strides_bytes)
    std::erase_if(strides, [&](std::uint64_t stride) { return stride > available_bytes / k_least_default_nodes; });
  return strides;
}

Result<void> check_sweep(const SweepOptions& options, std::uint64_t available_bytes) {
  const auto wrong = [](std::string message) { return fail(ErrorKind::usage, std::move(message)); };
  // No stride at all, as the probe may be left with, is an empty sweep.
  const auto strides = strides_that_fit(options, available_bytes);
  if (strides.empty() && !options.strides_bytes.empty())
    return wrong(fmt::format("memory of {} has no room for the default strides; give smaller ones with --strides",
                             format_bytes(available_bytes)));
  for (const auto stride : strides)
    if (stride < k_line_bytes || stride % k_line_bytes != 0)
      return wrong(fmt::format("a stride of {}: give a multiple of a line, 128 B", format_bytes(stride)));
  if (!(options.max_mem_fraction > 0 && options.max_mem_fraction <= 1))
    return wrong(fmt::format("--max-mem-frac {}: give more than 0, at most 1", options.max_mem_fraction));
  if (options.laps == 0 || options.laps > k_most_laps)
    return wrong(fmt::format("--laps {}: give 1 to {}", options.laps, k_most_laps));
  if (options.step > k_most_nodes) return wrong(fmt::format("--step {}: give 1 to {}", options.step, k_most_nodes));
  if (options.max_bytes > available_bytes)
    return wrong(fmt::format("--max-bytes {}: only {} can be had here; give at most that",
                             format_bytes(options.max_bytes), format_bytes(available_bytes)));
  const auto allowed = allowed_bytes(options, available_bytes);
  if (options.max_bytes > allowed)
    return wrong(fmt::format("--max-bytes {}: --max-mem-frac {} allows {}; give at most that, or a larger share",
                             format_bytes(options.max_bytes), options.max_mem_fraction, format_bytes(allowed)));
  const auto most = most_bytes(options, available_bytes);
  if (options.min_bytes > most)
    return wrong(fmt::format("--min-bytes {} lies above the largest working set, {}", format_bytes(options.min_bytes),
                             format_bytes(most)));
  for (const auto stride : strides) {
    if (most / 2 < stride)
      return wrong(fmt::format("a stride of {} has no room for two nodes in at most {}; give a smaller one",
                               format_bytes(stride), format_bytes(most)));
    if ((options.min_bytes + stride - 1) / stride > most / stride)
      return wrong(fmt::format("no multiple of a stride of {} lies between {} and {}; give --min-bytes less",
                               format_bytes(stride), format_bytes(options.min_bytes), format_bytes(most)));
    if (most / stride > k_most_nodes)
      return wrong(fmt::format("a stride of {} over {} makes {} nodes, more than {}; give --max-bytes or a larger one",
                               format_bytes(stride), format_bytes(most), most / stride, k_most_nodes));
  }
  return {};
}

std::vector<std::uint64_t> sweep_nodes(const SweepOptions& options, std::uint64_t stride_bytes,
                                       std::uint64_t available_bytes) {
  const auto most = most_bytes(options, available_bytes) / stride_bytes;
  const auto least = std::max<std::uint64_t>(2, (options.min_bytes + stride_bytes - 1) / stride_bytes);
  std::vector<std::uint64_t> nodes;
  for (double octave = 1;; octave += 1 / k_points_an_octave) {
    const auto count = std::min(most, static_cast<std::uint64_t>(std::llround(std::exp2(octave))));
    if (count >= least && (nodes.empty() || nodes.back() != count)) nodes.push_back(count);
    if (count == most) return nodes;
  }
}

std::vector<std::uint64_t> sweep_places(std::uint64_t stride_bytes, std::uint64_t nodes, std::uint64_t step,
                                        std::uint64_t seed) {
  const std::uint64_t lines = std::min(stride_bytes / k_line_bytes, k_most_lines);
  const auto place = [&](std::uint64_t node) { return node * stride_bytes + node * 37 % lines * k_line_bytes; };
  std::vector<std::uint64_t> places;
  if (step == 0) {
    const Permutation order(nodes, seed ^ nodes);
    for (std::uint64_t i = 0; i < nodes; ++i) places.push_back(place(order(i)));
    return places;
  }
  while (std::gcd(step, nodes) != 1) ++step;
  for (std::uint64_t i = 0, node = 0; i < nodes; ++i, node = (node + step) % nodes) places.push_back(place(node));
  return places;
}

ListChaseExperiment sweep_chase(std::vector<std::uint64_t> places, LoadPath path, std::uint32_t laps) {
  const std::uint64_t nodes = places.size();
  const std::uint64_t total = nodes * laps;
  ListChaseExperiment chase;
  chase.region = Region::buffer;
  chase.path = path;
  chase.warmup_hops = round_up_to_8(nodes);
  chase.repetitions = k_parts;
  chase.hops = round_up_to_8(std::max((total + k_parts - 1) / k_parts, k_least_part_hops));
  chase.places = std::move(places);
  return chase;
}

}  // namespace gpusonde
