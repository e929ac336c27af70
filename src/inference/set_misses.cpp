#include "inference/set_misses.hpp"

#include <algorithm>
#include <vector>

#include "core/random.hpp"

namespace gpusonde {
namespace {

constexpr std::uint32_t k_empty = ~std::uint32_t{0};
constexpr std::uint32_t k_warm_laps = 12;
constexpr std::uint32_t k_measured_hops = 4000;

// A set that holds line numbers and picks a victim by its policy.
class Set {
 public:
  Set(SetPolicy policy, std::uint32_t ways, std::uint32_t lines)
      : m_policy(policy), m_way_of(lines, k_empty), m_line_in(ways, k_empty), m_used(ways, false) {}

  // True when the line was there; afterwards it is.
  bool access(std::uint32_t line) {
    const bool hit = m_way_of[line] != k_empty;
    if (!hit) {
      const auto way = m_filled < m_line_in.size() ? m_filled++ : victim();
      if (m_line_in[way] != k_empty) m_way_of[m_line_in[way]] = k_empty;
      m_line_in[way] = line;
      m_way_of[line] = way;
    }
    touch(m_way_of[line]);
    return hit;
  }

 private:
  [[nodiscard]] std::uint32_t ways() const { return static_cast<std::uint32_t>(m_line_in.size()); }

  std::uint32_t victim() {
    if (m_policy == SetPolicy::random) return static_cast<std::uint32_t>(m_random.below(ways()));
    return static_cast<std::uint32_t>(std::find(m_used.begin(), m_used.end(), false) - m_used.begin());
  }

  // nru: when all have been used lately, only the newest still counts as that.
  void touch(std::uint32_t way) {
    m_used[way] = true;
    if (std::find(m_used.begin(), m_used.end(), false) != m_used.end()) return;
    std::fill(m_used.begin(), m_used.end(), false);
    m_used[way] = true;
  }

  SetPolicy m_policy;
  std::uint32_t m_filled = 0;
  std::vector<std::uint32_t> m_way_of;   // by line
  std::vector<std::uint32_t> m_line_in;  // by way
  std::vector<bool> m_used;              // by way
  Random m_random{1};
};

}  // namespace

double set_miss_fraction(SetPolicy policy, std::uint32_t ways, std::uint32_t lines) {
  if (lines <= ways) return 0;
  if (policy == SetPolicy::lru_like || ways == 1) return 1;
  Set set(policy, ways, lines);
  for (std::uint32_t lap = 0; lap < k_warm_laps; ++lap)
    for (std::uint32_t line = 0; line < lines; ++line) set.access(line);
  const auto laps = (k_measured_hops + lines - 1) / lines;
  std::uint64_t misses = 0;
  for (std::uint32_t lap = 0; lap < laps; ++lap)
    for (std::uint32_t line = 0; line < lines; ++line) misses += set.access(line) ? 0U : 1U;
  return static_cast<double>(misses) / (static_cast<double>(laps) * lines);
}

}  // namespace gpusonde
