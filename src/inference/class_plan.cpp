// Windows low, in the middle, high and scattered, then random lines.
#include "inference/class_plan.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>

#include "core/random.hpp"

namespace gpusonde {
namespace {

constexpr unsigned k_step_between_windows = 4;
constexpr int k_most_tries_for_a_base = 1000;

class Planner {
 public:
  Planner(std::uint64_t memory_bytes, std::uint64_t line_bytes, std::uint64_t seed)
      : m_memory_bytes(memory_bytes),
        m_line_bytes(line_bytes),
        m_first_bit(static_cast<unsigned>(std::countr_zero(line_bytes))),
        m_end_bit(static_cast<unsigned>(std::bit_width(memory_bytes - 1))),
        m_random(seed) {}

  [[nodiscard]] unsigned first_bit() const { return m_first_bit; }
  [[nodiscard]] unsigned end_bit() const { return m_end_bit; }

  [[nodiscard]] std::uint64_t random_line() { return m_random.below(m_memory_bytes / m_line_bytes) * m_line_bytes; }

  void add_random_lines(std::uint64_t count) {
    for (std::uint64_t i = 0; i < count; ++i) m_lines.push_back(random_line());
  }

  /// Bits that cannot all be set in this memory are replaced, the second highest first, by lower ones.
  void add_window(std::uint64_t bits) {
    while (bits + m_line_bytes > m_memory_bytes) bits = lowered(bits);
    std::uint64_t base = 0;
    for (int i = 0; i < k_most_tries_for_a_base; ++i) {
      base = random_line() & ~bits;
      if ((base | bits) + m_line_bytes <= m_memory_bytes) break;
      base = 0;
    }
    std::uint64_t combination = 0;
    do {
      m_lines.push_back(base | combination);
      combination = (combination - bits) & bits;
    } while (combination != 0);
  }

  [[nodiscard]] std::uint64_t scattered_bits(unsigned count) {
    std::uint64_t bits = 0;
    while (static_cast<unsigned>(std::popcount(bits)) < std::min(count, m_end_bit - m_first_bit))
      bits |= std::uint64_t{1} << m_random.between(m_first_bit, m_end_bit - 1);
    return bits;
  }

  [[nodiscard]] std::vector<std::uint64_t> take() { return std::move(m_lines); }

 private:
  [[nodiscard]] std::uint64_t lowered(std::uint64_t bits) const {
    const auto highest = std::bit_floor(bits);
    bits ^= std::bit_floor(bits ^ highest);
    for (unsigned bit = m_first_bit; bit < m_end_bit; ++bit) {
      // The highest bit not in use below the highest one in use that may be set.
      const auto candidate = std::uint64_t{1} << (m_first_bit + m_end_bit - 1 - bit);
      if ((bits & candidate) == 0 && (bits | candidate) + m_line_bytes <= m_memory_bytes) return bits | candidate;
    }
    return bits;
  }

  std::uint64_t m_memory_bytes;
  std::uint64_t m_line_bytes;
  unsigned m_first_bit;
  unsigned m_end_bit;
  Random m_random;
  std::vector<std::uint64_t> m_lines;
};

std::uint64_t adjacent_bits(unsigned first, unsigned count) { return ((std::uint64_t{1} << count) - 1) << first; }

Result<void> check(std::uint64_t memory_bytes, std::uint64_t line_bytes) {
  if (!std::has_single_bit(line_bytes))
    return fail(ErrorKind::usage, fmt::format("a line of {} bytes is no power of two", line_bytes));
  if (memory_bytes < 64 * line_bytes || memory_bytes > std::uint64_t{1} << 48)
    return fail(ErrorKind::usage, fmt::format("{} bytes are too few or too many to find a function of the address "
                                              "in; give at least 64 lines and at most 2^48 bytes",
                                              memory_bytes));
  return {};
}

}  // namespace

Result<std::vector<std::uint64_t>> plan_class_addresses(std::uint64_t memory_bytes, const ClassPlanOptions& options) {
  if (auto checked = check(memory_bytes, options.line_bytes); !checked) return tl::unexpected(checked.error());
  if (options.window_bits < 6 || options.window_bits > 13)
    return fail(ErrorKind::usage, fmt::format("windows of {} bits; give 6 to 13", options.window_bits));
  Planner planner(memory_bytes, options.line_bytes, options.seed);
  const auto count = std::min(options.window_bits, planner.end_bit() - planner.first_bit());
  std::vector<std::uint64_t> windows;
  for (unsigned end = planner.end_bit(); end >= planner.first_bit() + count; end -= k_step_between_windows)
    windows.push_back(adjacent_bits(end - count, count));
  windows.push_back(adjacent_bits(planner.first_bit(), count));
  // The highest window lacks a bit where memory is no power of two; this one has it.
  if (!std::has_single_bit(memory_bytes) && planner.end_bit() > planner.first_bit() + count)
    windows.push_back(adjacent_bits(planner.end_bit() - 1 - count, count));
  for (unsigned i = 0; i < options.scattered_windows; ++i) windows.push_back(planner.scattered_bits(count));
  for (const auto bits : windows)
    for (unsigned i = 0; i < options.bases; ++i) planner.add_window(bits);
  planner.add_random_lines(options.random_lines);
  return planner.take();
}

Result<std::vector<std::uint64_t>> plan_page_offsets(std::uint64_t page_bytes, std::uint64_t seed,
                                                     std::uint64_t line_bytes) {
  if (auto checked = check(page_bytes, line_bytes); !checked) return tl::unexpected(checked.error());
  if (!std::has_single_bit(page_bytes))
    return fail(ErrorKind::usage, fmt::format("a page of {} bytes is no power of two", page_bytes));
  Planner planner(page_bytes, line_bytes, seed);
  const auto all = planner.end_bit() - planner.first_bit();
  const auto count = std::max(std::min(all, 6U), std::min(all - std::min(all, 3U), 11U));
  planner.add_window(adjacent_bits(planner.first_bit(), count));
  planner.add_window(adjacent_bits(planner.end_bit() - count, count));
  planner.add_window(planner.scattered_bits(count));
  planner.add_random_lines(page_bytes / line_bytes / 10);
  return planner.take();
}

}  // namespace gpusonde
