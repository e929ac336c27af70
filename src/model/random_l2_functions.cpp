#include "model/random_l2_functions.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <string>
#include <string_view>
#include <vector>

#include "model/random_masks.hpp"

namespace gpusonde {
namespace {

constexpr std::uint64_t k_most_unit_lines = 32;

/// For programs made here, which are right.
AddressFunction own_program(const std::string& text) { return *AddressFunction::parse(text, {"random model"}); }

/// ` | parity(NAME & 0x80) << 0 | ...`
std::string parity_terms(std::string_view word, const std::vector<std::uint64_t>& masks) {
  std::string text;
  for (std::size_t i = 0; i < masks.size(); ++i) text += fmt::format(" | parity({} & {:#x}) << {}", word, masks[i], i);
  return text;
}

class L2Functions {
 public:
  L2Functions(Random& random, CacheModel& cache, std::uint64_t hashed_bits)
      : m_random(random), m_cache(cache), m_hashed_bits(hashed_bits) {}

  void give() {
    // A unit's lines belong to different sets, so there are no more of them than the sets' powers of two.
    const auto most_lines = std::min<std::uint64_t>(k_most_unit_lines, m_cache.sets & (0 - m_cache.sets));
    m_unit_lines = m_random.below(2) == 0 ? 1
                                          : std::uint64_t{1} << m_random.between(
                                                0, static_cast<std::uint64_t>(std::bit_width(most_lines)) - 1);
    m_unit_bytes = m_unit_lines * m_cache.line_bytes;
    m_parity_bits = static_cast<unsigned>(std::countr_zero(m_cache.slices));
    const bool is_plain = m_parity_bits == 0 || m_random.below(3) == 0;
    if (is_plain)
      m_cache.slice_function = AddressFunction::modulo(m_unit_bytes, m_cache.slices);
    else
      hashed_slices();
    if (std::has_single_bit(m_cache.sets) && m_cache.sets > 1 && m_random.below(2) == 0)
      hashed_sets();
    else
      plain_sets();
  }

 private:
  /// The lowest bits of the unit's number choose by parities, the rest of it by an odd remainder.
  void hashed_slices() {
    const auto odd = m_cache.slices >> m_parity_bits;
    const auto window = ((std::uint64_t{1} << m_parity_bits) - 1) * m_unit_bytes;
    const auto masks = random_even_masks(m_random, window, m_hashed_bits & ~window);
    if (odd == 1) {
      m_cache.slice_function = AddressFunction::parities(masks);
      m_slice_masks = masks;
      return;
    }
    const auto shift = static_cast<unsigned>(std::countr_zero(m_unit_bytes)) + m_parity_bits;
    m_cache.slice_function = own_program(
        fmt::format("r = (a >> {}) % {}\nreturn (r << {}){}", shift, odd, m_parity_bits, parity_terms("a", masks)));
  }

  /// The slice's own lines in turn.
  void plain_sets() {
    if (m_unit_lines == 1) {
      m_cache.set_function = AddressFunction::modulo(m_unit_bytes * m_cache.slices, m_cache.sets);
      return;
    }
    m_cache.set_function =
        own_program(fmt::format("u = a / {} % {}\nreturn a / {} % {} * {} + u", m_cache.line_bytes, m_unit_lines,
                                m_unit_bytes * m_cache.slices, m_cache.sets / m_unit_lines, m_unit_lines));
  }

  /// Parities of the period's number and of the line within its unit. With a power of two of slices both are bits of
  /// the address, and the slice's own parities may take part.
  void hashed_sets() {
    const auto line_bits = (m_unit_lines - 1) * m_cache.line_bytes;
    const auto period_window = m_cache.sets / m_unit_lines - 1;
    const auto period_bytes = m_unit_bytes * m_cache.slices;
    if (std::has_single_bit(m_cache.slices)) {
      const auto window = line_bits | period_window * period_bytes;
      auto masks = random_even_masks(m_random, window, m_hashed_bits & ~window & (0 - period_bytes));
      if (m_random.below(2) == 0) add_random_sums(m_random, masks, m_slice_masks);
      m_cache.set_function = AddressFunction::parities(masks);
      return;
    }
    // One number of both: the line within its unit below the period's number.
    const auto window = m_cache.sets - 1;
    const auto most_lines = m_hashed_bits / m_cache.line_bytes / m_cache.slices;  // of a slice
    const auto masks = random_even_masks(m_random, window, (std::bit_floor(most_lines) - 1) & ~std::uint64_t{window});
    const auto number = m_unit_lines == 1 ? fmt::format("a / {}", period_bytes)
                                          : fmt::format("a / {} * {} + a / {} % {}", period_bytes, m_unit_lines,
                                                        m_cache.line_bytes, m_unit_lines);
    m_cache.set_function = own_program(fmt::format("n = {}\nreturn 0{}", number, parity_terms("n", masks)));
  }

  Random& m_random;
  CacheModel& m_cache;
  std::uint64_t m_hashed_bits;
  std::uint64_t m_unit_lines = 1;
  std::uint64_t m_unit_bytes = 0;
  unsigned m_parity_bits = 0;                ///< of the slice
  std::vector<std::uint64_t> m_slice_masks;  ///< where parities are all of the slice
};

}  // namespace

void give_l2_functions(Random& random, CacheModel& cache, std::uint64_t hashed_bits) {
  L2Functions(random, cache, hashed_bits).give();
}

}  // namespace gpusonde
