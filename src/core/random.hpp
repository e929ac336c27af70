// Seeded random numbers that are the same on every platform and standard library.
#pragma once

#include <cmath>
#include <cstdint>
#include <numbers>

namespace gpusonde {

__extension__ typedef unsigned __int128 uint128;

/// SplitMix64's finaliser: a good 64-bit mix. Source: Steele, Lea, Flood 2014.
[[nodiscard]] constexpr std::uint64_t mix64(std::uint64_t x) noexcept {
  x += 0x9E3779B97F4A7C15ULL;
  x = (x ^ (x >> 30)) * 0xBF58476D1CE4E5B9ULL;
  x = (x ^ (x >> 27)) * 0x94D049BB133111EBULL;
  return x ^ (x >> 31);
}

/// SplitMix64 as a generator: fast, seedable, splittable by `fork`.
class Random {
 public:
  explicit constexpr Random(std::uint64_t seed) noexcept : m_state(seed) {}

  constexpr std::uint64_t next() noexcept {
    const auto value = mix64(m_state);
    m_state += 0x9E3779B97F4A7C15ULL;
    return value;
  }
  /// Uniform in [0, bound). Precondition: bound > 0. Bias is below bound / 2^64.
  constexpr std::uint64_t below(std::uint64_t bound) noexcept {
    return static_cast<std::uint64_t>((static_cast<uint128>(next()) * bound) >> 64);
  }
  /// Uniform in [low, high], both ends included.
  constexpr std::uint64_t between(std::uint64_t low, std::uint64_t high) noexcept {
    return low + below(high - low + 1);
  }
  /// Uniform in [0, 1).
  constexpr double uniform() noexcept { return static_cast<double>(next() >> 11) * 0x1.0p-53; }
  /// Standard normal (Box-Muller, one value a call).
  double normal() noexcept {
    const double radius = std::sqrt(-2.0 * std::log(1.0 - uniform()));
    return radius * std::cos(2.0 * std::numbers::pi * uniform());
  }
  /// An independent generator for a named part of the work.
  [[nodiscard]] constexpr Random fork(std::uint64_t stream) const noexcept {
    return Random(mix64(m_state ^ mix64(stream)));
  }

 private:
  std::uint64_t m_state;
};

}  // namespace gpusonde
