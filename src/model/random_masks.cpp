#include "model/random_masks.hpp"

#include <utility>

namespace gpusonde {
namespace {

/// Row operations keep the span and thereby the evenness.
void combine_rows(Random& random, std::vector<std::uint64_t>& masks) {
  const auto count = masks.size();
  for (std::size_t step = 0; step < 8 * count; ++step) {
    const auto to = random.below(count);
    const auto from = random.below(count);
    if (to != from) masks[to] ^= masks[from];
  }
  for (std::size_t i = count; i > 1; --i) std::swap(masks[i - 1], masks[random.below(i)]);
}

}  // namespace

std::vector<std::uint64_t> random_even_masks(Random& random, std::uint64_t window_bits, std::uint64_t other_bits) {
  const bool is_sparse = random.below(2) == 0;
  std::vector<std::uint64_t> masks;
  for (auto rest = window_bits; rest != 0; rest &= rest - 1) {
    auto others = random.next();
    if (is_sparse) {
      others &= random.next();
      others &= random.next();
    }
    masks.push_back((rest & (0 - rest)) | (others & other_bits));
  }
  if (random.below(2) == 0) combine_rows(random, masks);
  return masks;
}

void add_random_sums(Random& random, std::vector<std::uint64_t>& masks, const std::vector<std::uint64_t>& others) {
  for (auto& mask : masks)
    for (const auto other : others)
      if (random.below(2) == 0) mask ^= other;
}

}  // namespace gpusonde
