// What the loads of a warp's lanes become: requests for lines, each for some of its sectors. Arithmetic; and what one
// more of something costs.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "gpusonde/error.hpp"
#include "inference/estimate.hpp"

namespace gpusonde {

struct CoalescedLoad {
  std::uint32_t lines = 0;
  std::uint32_t sectors = 0;

  bool operator==(const CoalescedLoad&) const = default;
};

/// `lanes`: an address each, `width` bytes from there. Errors: usage, where a lane's address is no multiple of the
/// width, which the hardware refuses; it names the lane.
[[nodiscard]] Result<CoalescedLoad> coalesce(std::span<const std::uint64_t> lanes, std::uint32_t width,
                                             std::uint32_t line_bytes = 128, std::uint32_t sector_bytes = 32);

/// Most distinct words of 4 bytes that lie in one of the 32 banks of L1's data: so many times the data are read.
[[nodiscard]] std::uint32_t wavefronts(std::span<const std::uint64_t> lanes, std::uint32_t width);

/// The pattern of a warp by name, with lane addresses from 0.
struct LanePattern {
  std::string name;  ///< `stride 2`, `random`, `same address`
  std::uint32_t width = 4;
  std::vector<std::uint64_t> lanes;
};
/// Lane i at i * stride * width bytes; stride 0: all at one address.
[[nodiscard]] LanePattern stride_pattern(std::uint32_t stride, std::uint32_t width);
/// Each lane in a line of its own, at random within 1 MiB.
[[nodiscard]] LanePattern random_pattern(std::uint32_t width, std::uint64_t seed);
/// Those that a survey measures: strides of 1 to 64 elements of 4 bytes, one address, random; 8 and 16 bytes.
[[nodiscard]] std::vector<LanePattern> standard_patterns(std::uint64_t seed);

/// A pattern and how long it takes when all its lines are in L1.
struct PatternLatency {
  LanePattern pattern;
  double l1_cycles = 0;
  double l2_cycles = 0;
};

/// What one more of something costs a load that hits L1, where latency is a line in their number. `noise_cycles`: what
/// equal loads may differ by. Inconclusive where it is not, with how far it is off.
[[nodiscard]] Estimate cycles_of_each(std::span<const std::pair<double, double>> latency_by_number,
                                      double noise_cycles);

/// Of strided lanes lines and wavefronts are as many. Lanes at random have a line each and few wavefronts: whichever
/// foretells their latency far better is what hits pay for.
enum class HitCost : std::uint8_t { unclear, lines, wavefronts };
[[nodiscard]] HitCost what_hits_pay_for(double measured_cycles, double by_lines_cycles, double by_wavefronts_cycles);

/// The smallest distance at which a word is not there after a load that missed: `hit_cycles` and `miss_cycles` are what
/// loads take that find it and that do not. `readings`: distance in bytes, ascending, and cycles.
[[nodiscard]] Estimate sector_size(std::span<const std::pair<std::uint64_t, double>> readings, double hit_cycles,
                                   double miss_cycles);

}  // namespace gpusonde
