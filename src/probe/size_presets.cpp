#include "probe/size_presets.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "core/units.hpp"

namespace gpusonde {
namespace {

constexpr std::uint64_t k_line_bytes = 128;

Result<void> check_bound(const char* option, std::uint64_t bytes, std::uint64_t largest_bytes) {
  if (bytes % 8 != 0)
    return fail(ErrorKind::usage,
                fmt::format("{} {} is not a multiple of 8; a node is a 64-bit pointer", option, bytes));
  if (bytes < k_line_bytes)
    return fail(ErrorKind::usage,
                fmt::format("{} {} is under one line; give at least {}", option, bytes, k_line_bytes));
  if (bytes > largest_bytes)
    return fail(ErrorKind::usage, fmt::format("{} {} is beyond the {} this device can give; choose a smaller one",
                                              option, format_bytes(bytes), format_bytes(largest_bytes)));
  return {};
}

}  // namespace

std::vector<std::uint64_t> dense_sizes() {
  std::vector<std::uint64_t> sizes;
  const auto add = [&](std::uint64_t from, std::uint64_t to, std::uint64_t step) {
    for (std::uint64_t bytes = from; bytes <= to; bytes += step) sizes.push_back(bytes);
  };
  add(4 * k_kib, 256 * k_kib, 4 * k_kib);
  add(320 * k_kib, 4 * k_mib, 64 * k_kib);
  add(5 * k_mib, 32 * k_mib, k_mib);
  add(36 * k_mib, 128 * k_mib, 4 * k_mib);
  add(160 * k_mib, 2048 * k_mib, 64 * k_mib);
  return sizes;
}

std::vector<std::uint64_t> log_sizes(std::uint64_t low, std::uint64_t high, std::uint32_t points) {
  std::vector<std::uint64_t> sizes;
  const double octaves = std::log2(static_cast<double>(high) / static_cast<double>(low));
  const auto count = static_cast<std::uint64_t>(std::floor(octaves * points + 1e-9));
  for (std::uint64_t i = 0; i <= count; ++i) {
    const double exact = static_cast<double>(low) * std::exp2(static_cast<double>(i) / points);
    sizes.push_back(std::min(high, static_cast<std::uint64_t>(std::llround(exact)) / k_line_bytes * k_line_bytes));
  }
  sizes.push_back(high / k_line_bytes * k_line_bytes);
  std::sort(sizes.begin(), sizes.end());
  sizes.erase(std::unique(sizes.begin(), sizes.end()), sizes.end());
  return sizes;
}

Result<std::vector<std::uint64_t>> sweep_sizes(const LatencyOptions& options, std::uint64_t largest_bytes,
                                               std::uint64_t nominal_l2_bytes) {
  if (options.min_bytes != 0)
    if (auto checked = check_bound("--min", options.min_bytes, largest_bytes); !checked)
      return tl::unexpected(checked.error());
  if (options.max_bytes != 0)
    if (auto checked = check_bound("--max", options.max_bytes, largest_bytes); !checked)
      return tl::unexpected(checked.error());
  // The last level is only known to be memory when the sweep goes well beyond the caches.
  // Far beyond, where only translation still changes, a few sizes an octave do.
  const std::uint64_t fine_high = std::max<std::uint64_t>(256 * k_mib, 4 * nominal_l2_bytes);
  const std::uint64_t preset_high =
      options.preset == SizePreset::dense ? 2 * k_gib : std::max<std::uint64_t>(2 * k_gib, 2 * fine_high);
  const std::uint64_t low = options.min_bytes != 0 ? options.min_bytes : 4 * k_kib;
  const std::uint64_t high = options.max_bytes != 0 ? options.max_bytes : std::min(preset_high, largest_bytes);
  if (low > high)
    return fail(ErrorKind::usage,
                fmt::format("--min {} is above --max {}; swap them", format_bytes(low), format_bytes(high)));
  if (options.points_per_octave == 0 || options.points_per_octave > 4096)
    return fail(ErrorKind::usage, fmt::format("--points-per-octave {}: give 1 to 4096", options.points_per_octave));
  if (options.preset == SizePreset::dense) {
    auto sizes = dense_sizes();
    std::erase_if(sizes, [&](std::uint64_t bytes) { return bytes < low || bytes > high; });
    if (sizes.empty())
      return fail(ErrorKind::usage, fmt::format("the dense preset has no size between {} and {}; use --preset log",
                                                format_bytes(low), format_bytes(high)));
    return sizes;
  }
  const auto points =
      options.preset == SizePreset::quick ? std::min(6U, options.points_per_octave) : options.points_per_octave;
  if (options.max_bytes != 0 || high <= fine_high || low >= fine_high) return log_sizes(low, high, points);
  auto sizes = log_sizes(low, fine_high, points);
  const auto coarse = log_sizes(fine_high, high, std::min(4U, points));
  sizes.insert(sizes.end(), coarse.begin() + 1, coarse.end());
  return sizes;
}

}  // namespace gpusonde
