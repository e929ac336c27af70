// Which sequences tell policies apart. Walks in order show what never hits; lines used twice among lines used once show
// protection; lines just used show what is spared; and at random everything else happens sooner or later.
#include <algorithm>
#include <functional>

#include "core/random.hpp"
#include "inference/replacement.hpp"
#include "inference/set_policy.hpp"

namespace gpusonde {
namespace {

constexpr std::uint32_t k_repetitions = 3;
// Every sequence begins with laps that never hit: after them, of what was there before, a policy that ages its lines
// has forgotten all but how far round it had come.
constexpr std::uint32_t k_washing_laps = 4;

using Lines = std::vector<std::uint16_t>;

class Writer {
 public:
  Writer(std::uint32_t ways, std::uint32_t available, Random random)
      : m_ways(ways), m_most(std::min(available, ways * 5 / 2)), m_random(random) {}

  /// Round and round.
  Lines laps(std::uint32_t count, std::uint32_t laps) {
    Lines lines;
    for (std::uint32_t i = 0; i < laps * limit(count); ++i) put(lines, i % limit(count));
    return lines;
  }
  Lines uniform(std::uint32_t count, std::uint32_t accesses) {
    Lines lines;
    for (std::uint32_t i = 0; i < accesses; ++i) put(lines, draw(limit(count)));
    return lines;
  }
  /// Half of the uses are of one of the `recent` lines used last.
  Lines recency(std::uint32_t count, std::uint32_t recent, std::uint32_t accesses) {
    Lines lines;
    for (std::uint32_t i = 0; i < accesses; ++i) {
      const bool again = !lines.empty() && m_random.below(2) == 0;
      const auto back = 1 + m_random.below(std::min<std::uint64_t>(recent, std::max<std::size_t>(lines.size(), 1)));
      put(lines, again ? lines[lines.size() - back] : draw(limit(count)));
    }
    return lines;
  }
  /// a b a c d c ...: a line again after one other.
  Lines once_again(std::uint32_t count, std::uint32_t accesses) {
    Lines lines;
    for (std::uint32_t i = 0; 3 * i < accesses; ++i)
      for (const std::uint32_t line : {2 * i, 2 * i + 1, 2 * i}) put(lines, line % limit(count));
    return lines;
  }
  /// A set is filled, some of it used again, some lines put in, and all asked for in a random order.
  Lines fill_touch_insert(std::uint32_t rounds) {
    Lines lines;
    for (std::uint32_t round = 0; round < rounds; ++round) {
      const auto order = shuffled(m_most);
      lines.insert(lines.end(), order.begin(), order.begin() + m_ways);
      for (auto touches = m_random.between(1, m_ways); touches > 0; --touches) lines.push_back(order[draw(m_ways)]);
      const std::uint32_t inserted = 1 + draw(m_most - m_ways);
      lines.insert(lines.end(), order.begin() + m_ways, order.begin() + m_ways + inserted);
      const auto asked = shuffled(m_ways);
      for (const auto i : asked) lines.push_back(order[i]);
    }
    return lines;
  }
  /// Few lines again and again while many others pass by.
  Lines few_among_many(std::uint32_t few, std::uint32_t accesses) {
    Lines lines;
    for (std::uint32_t i = 0; i < accesses; ++i)
      put(lines, m_random.below(3) == 0 ? draw(few) : few + i % (m_most - few));
    return lines;
  }

 private:
  static void put(Lines& lines, std::uint32_t line) { lines.push_back(static_cast<std::uint16_t>(line)); }
  [[nodiscard]] std::uint32_t limit(std::uint32_t count) const { return std::min(count, m_most); }
  std::uint32_t draw(std::uint32_t bound) { return static_cast<std::uint32_t>(m_random.below(bound)); }
  Lines shuffled(std::uint32_t count) {
    Lines lines;
    for (std::uint32_t i = 0; i < count; ++i) {
      put(lines, i);
      std::swap(lines.back(), lines[draw(i + 1)]);
    }
    return lines;
  }

  std::uint32_t m_ways;
  std::uint32_t m_most;
  Random m_random;
};

}  // namespace

std::vector<SetSequence> plan_replacement_sequences(std::uint32_t ways, std::uint32_t lines_available,
                                                    std::uint64_t seed) {
  if (ways < 2 || ways > k_most_set_ways || lines_available <= ways) return {};
  Writer writer(ways, std::max(lines_available, ways + 1), Random(seed));
  const std::uint32_t length = std::max(30 * ways, 480U);
  std::vector<Lines> distinct{
      writer.laps(ways + 1, 12),
      writer.laps(ways, 3),
      writer.once_again(ways + 1, length),
      writer.once_again(2 * ways + 1, length),
      writer.fill_touch_insert(8),
      writer.fill_touch_insert(8),
      writer.few_among_many(std::max(1U, ways / 4), length),
      writer.few_among_many(std::max(1U, ways / 2), length),
      writer.recency(ways + 1, ways, length),
      writer.recency(2 * ways, ways / 2, length),
      writer.recency(2 * ways, 2, length),
      writer.uniform(ways + 1, 2 * length),
      writer.uniform(ways + 1 + ways / 4, length),
      writer.uniform(ways + 1 + ways / 2, length),
      writer.uniform(2 * ways, length),
  };
  std::vector<SetSequence> plan;
  const Lines washed = writer.laps(ways + 1, k_washing_laps);
  for (auto& lines : distinct) lines.insert(lines.begin(), washed.begin(), washed.end());
  for (std::uint32_t repetition = 0; repetition < k_repetitions; ++repetition)
    for (const auto& lines : distinct) plan.push_back({lines, {}});
  return plan;
}

}  // namespace gpusonde
