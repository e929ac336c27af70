// The table of a class function, filled from samples, and the masks it can do without.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "inference/address_windows.hpp"
#include "inference/class_function.hpp"

namespace gpusonde {

/// The class that most samples of each key have, or ClassFunction::k_never_seen. `keys[i]` is that of sample i.
struct MajorityTable {
  std::vector<std::int32_t> class_by_key;
  std::vector<std::size_t> seen;     ///< keys, ascending
  std::vector<std::uint32_t> votes;  ///< samples of each key seen, by key
  std::size_t outvoted = 0;          ///< samples of another class than the majority of their key
};
[[nodiscard]] MajorityTable majority_table(std::span<const ClassSample> samples, std::span<const std::size_t> keys,
                                           std::size_t key_count);

/// The masks, less every sum of parities that the table never depends on, as the canonical basis. Samples of different
/// sheets are never compared. Precondition: sheets * key.size() <= k_most_keys.
[[nodiscard]] std::vector<std::uint64_t> needed_masks(std::span<const ClassSample> samples, const ClassKey& key,
                                                      std::uint32_t sheets, double label_error_rate);

inline constexpr std::size_t k_most_keys = std::size_t{1} << 22;

}  // namespace gpusonde
