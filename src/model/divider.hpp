// Division by a number that is known beforehand, without the machine's slow divide instruction.
#pragma once

#include <cstdint>
#include <limits>

#include "core/random.hpp"

namespace gpusonde {

/// x / d as the high half of x * floor(2^64 / d), which is right or one too small for every x.
class Divider {
 public:
  /// Precondition: divisor > 0.
  explicit constexpr Divider(std::uint64_t divisor) noexcept
      : m_divisor(divisor), m_reciprocal(std::numeric_limits<std::uint64_t>::max() / divisor) {}

  [[nodiscard]] constexpr std::uint64_t quotient(std::uint64_t x) const noexcept {
    const auto estimate = high_product(x);
    return estimate + (x - estimate * m_divisor >= m_divisor ? 1 : 0);
  }
  [[nodiscard]] constexpr std::uint64_t remainder(std::uint64_t x) const noexcept {
    const auto rest = x - high_product(x) * m_divisor;
    return rest >= m_divisor ? rest - m_divisor : rest;
  }
  [[nodiscard]] constexpr std::uint64_t divisor() const noexcept { return m_divisor; }

 private:
  [[nodiscard]] constexpr std::uint64_t high_product(std::uint64_t x) const noexcept {
    return static_cast<std::uint64_t>((static_cast<uint128>(x) * m_reciprocal) >> 64);
  }

  std::uint64_t m_divisor;
  std::uint64_t m_reciprocal;
};

}  // namespace gpusonde
