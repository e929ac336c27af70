#include "probe/load_sets.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "core/units.hpp"

namespace gpusonde {
namespace {

constexpr std::uint64_t k_unit_bytes = 32 * 1024;
constexpr std::uint64_t k_beyond_l2 = 8;

}  // namespace

LoadSet l2_set(const Target& target, std::uint64_t most) {
  const auto l2 = target.device().nominal.l2_bytes;
  if (l2 == 0) return {0, "the device does not state the size of its L2"};
  const auto bytes = std::min({l2 / 4, most, target.capabilities().max_ring_bytes}) / k_unit_bytes * k_unit_bytes;
  if (bytes == 0) return {0, fmt::format("an L2 of {} is too small for streams of 32 KiB", format_bytes(l2))};
  return {bytes, {}};
}

LoadSet dram_set(const Target& target, std::uint64_t most) {
  const auto l2 = target.device().nominal.l2_bytes;
  const auto bytes = std::min(most, target.capabilities().max_ring_bytes / 2) / k_unit_bytes * k_unit_bytes;
  if (bytes == 0 || bytes < k_beyond_l2 * l2)
    return {0, fmt::format("{} of memory can be had, and L2 holds {}: less than eight times as much",
                           format_bytes(bytes), format_bytes(l2))};
  return {bytes, {}};
}

}  // namespace gpusonde
