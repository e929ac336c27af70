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

std::uint64_t round_up_to_8(std::uint64_t hops) { return (hops + 7) / 8 * 8; }

std::uint64_t most_bytes(const SweepOptions& options, std::uint64_t available_bytes) {
  const auto allowed = static_cast<std::uint64_t>(options.max_mem_fraction * static_cast<double>(available_bytes));
  return options.max_bytes == 0 ? allowed : std::min(options.max_bytes, allowed);
}

}  // namespace

Result<void> check_sweep(const SweepOptions& options, std::uint64_t available_bytes) {
  const auto wrong = [](std::string message) { return fail(ErrorKind::usage, std::move(message)); };
  if (options.strides_bytes.empty()) return wrong("no stride; give at least one, such as --strides 2MiB");
  for (const auto stride : options.strides_bytes)
    if (stride < k_line_bytes || stride % k_line_bytes != 0)
      return wrong(fmt::format("a stride of {}: give a multiple of a line, 128 B", format_bytes(stride)));
  if (!(options.max_mem_fraction > 0 && options.max_mem_fraction <= 1))
    return wrong(fmt::format("--max-mem-frac {}: give more than 0, at most 1", options.max_mem_fraction));
  if (options.laps == 0 || options.laps > 1000) return wrong(fmt::format("--laps {}: give 1 to 1000", options.laps));
  const auto allowed = static_cast<std::uint64_t>(options.max_mem_fraction * static_cast<double>(available_bytes));
  if (options.max_bytes > allowed)
    return wrong(fmt::format("--max-bytes {}: only {} can be had here; give at most that, or raise --max-mem-frac",
                             format_bytes(options.max_bytes), format_bytes(allowed)));
  const auto most = most_bytes(options, available_bytes);
  if (options.min_bytes > most)
    return wrong(fmt::format("--min-bytes {} lies above the largest working set, {}", format_bytes(options.min_bytes),
                             format_bytes(most)));
  for (const auto stride : options.strides_bytes) {
    if (most / 2 < stride)
      return wrong(fmt::format("a stride of {} in at most {} leaves no two nodes; give a smaller one",
                               format_bytes(stride), format_bytes(most)));
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
