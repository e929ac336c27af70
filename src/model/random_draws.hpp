// Draws that the makers of random models share.
#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>

#include "core/random.hpp"

namespace gpusonde {

/// Log-uniform in [low, high].
[[nodiscard]] inline std::uint64_t random_size(Random& random, std::uint64_t low, std::uint64_t high) {
  const double ratio = static_cast<double>(high) / static_cast<double>(low);
  return static_cast<std::uint64_t>(static_cast<double>(low) * std::pow(ratio, random.uniform()));
}

/// One of a list's values. Precondition: the list is not empty.
template <class List>
[[nodiscard]] auto random_of(Random& random, const List& list) {
  return list[static_cast<std::size_t>(random.below(list.size()))];
}

}  // namespace gpusonde
