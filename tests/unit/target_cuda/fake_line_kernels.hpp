// The kernels of sequences, line maps and throughput in plain C++, for the fake driver. Each leaves numbers that tell
// which place, SM and launch they are of.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "target/cuda/kernel_parameters.hpp"

namespace gpusonde::cuda::test {

struct FakeDriver;

/// A step of a sequence as it was carried out: its loads, or drops, in order.
struct SequenceAction {
  unsigned kind;
  std::vector<std::uint64_t> places;

  bool operator==(const SequenceAction&) const = default;
};

struct SequenceLaunch {
  SequenceParameters parameters;
  std::size_t fetch_limit_bytes = 0;  ///< in force while it ran
  unsigned tests = 0;                 ///< that were carried out
};

/// A timed load at a place reads this.
[[nodiscard]] constexpr std::uint32_t fake_reading(std::uint64_t place) {
  return static_cast<std::uint32_t>(place / 8 + 1);
}
/// A gather reads this.
[[nodiscard]] inline std::uint32_t fake_gather(const std::vector<std::uint64_t>& places, unsigned lane_bytes) {
  std::uint32_t reading = 1000 * lane_bytes;
  for (const auto place : places) reading += static_cast<std::uint32_t>(place / 4 + 1);
  return reading;
}
/// When the reading of a number began.
[[nodiscard]] constexpr std::uint32_t fake_start(unsigned reading) { return 0xFFFFFF00U + 64 * reading; }
/// 1/8 cycles of an access to a place from an SM.
[[nodiscard]] constexpr std::uint16_t fake_eighths(unsigned sm, std::uint64_t place, bool atomic) {
  return static_cast<std::uint16_t>(8 * (200 + sm + (atomic ? 100 : 0)) + place / 128 % 8);
}
/// Cycles of launch i, from 0, of `throughput`.
[[nodiscard]] constexpr std::uint64_t fake_throughput_cycles(std::size_t launch) {
  return launch % 2 == 0 ? 5000 : 700;
}

void run_sequence_kernel(FakeDriver& fake, const SequenceParameters& p, unsigned blocks);
void run_link_self(FakeDriver& fake, const LinkSelfParameters& p);
void run_line_map_kernel(FakeDriver& fake, const std::string& name, const LineMapParameters& p, unsigned blocks);
/// A round of every warp takes 100 cycles, a turn of every block too, and the last one 10 more in all; 5 us by the
/// timer.
void run_loaded_kernel(FakeDriver& fake, const std::string& name, const LoadedChaseParameters& p, unsigned blocks,
                       unsigned threads);
void run_stream_kernel(FakeDriver& fake, const StreamParameters& p, unsigned blocks);
void run_throughput_kernel(FakeDriver& fake, const ThroughputParameters& p, unsigned blocks);

}  // namespace gpusonde::cuda::test
