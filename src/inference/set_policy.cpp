// The lines of one set, the list of all candidates, and the policies that leave the victim to chance.
#include "inference/set_policy.hpp"

#include <algorithm>
#include <utility>

namespace gpusonde {
namespace {

class RandomPolicy : public SetPolicy {
 public:
  /// `spares_last`: any way but the one used last.
  RandomPolicy(std::uint32_t ways, bool spares_last, Random random)
      : m_ways(ways), m_spares_last(spares_last), m_random(random) {}

  void hit(std::uint32_t way) override { m_last = way; }
  void filled(std::uint32_t way) override { m_last = way; }
  std::uint32_t victim() override {
    if (!m_spares_last) return static_cast<std::uint32_t>(m_random.below(m_ways));
    const auto way = static_cast<std::uint32_t>(m_random.below(m_ways - 1));
    return way < m_last ? way : way + 1;
  }

 private:
  std::uint32_t m_ways;
  bool m_spares_last;
  std::uint32_t m_last = 0;
  Random m_random;
};

}  // namespace

void add_random_policies(std::uint32_t ways, std::vector<SetCandidate>& list) {
  for (const bool spares_last : {false, true}) {
    if (spares_last && ways == 2) continue;  // that is LRU
    list.push_back({"random", spares_last ? "any way but the one used last" : "any way", true, false, false,
                    [spares_last](std::uint32_t count, Random random) {
                      return std::make_unique<RandomPolicy>(count, spares_last, random);
                    }});
  }
}

std::vector<SetCandidate> set_candidates(std::uint32_t ways) {
  std::vector<SetCandidate> list;
  add_recency_policies(ways, list);
  add_tree_policies(ways, list);
  add_nru_policies(list);
  add_rrip_policies(list);
  add_random_policies(ways, list);
  return list;
}

CacheSet::CacheSet(std::uint32_t ways, std::uint32_t line_count, std::unique_ptr<SetPolicy> policy)
    : m_way_of(line_count, -1),
      m_holder(ways, 0),
      m_all(ways == k_most_set_ways ? ~0ULL : (1ULL << ways) - 1),
      m_empty(m_all),
      m_policy(std::move(policy)) {}

bool CacheSet::access(std::uint32_t line) {
  if (const auto way = m_way_of[line]; way >= 0) {
    m_policy->hit(static_cast<std::uint32_t>(way));
    return true;
  }
  std::uint32_t way = 0;
  if (m_empty != 0) {
    way = m_policy->empty_way(m_empty);
    m_empty &= ~(1ULL << way);
  } else {
    way = m_policy->victim();
    m_way_of[m_holder[way]] = -1;
  }
  m_holder[way] = line;
  m_way_of[line] = static_cast<std::int8_t>(way);
  m_policy->filled(way);
  return false;
}

void CacheSet::invalidate() {
  std::fill(m_way_of.begin(), m_way_of.end(), std::int8_t{-1});
  m_empty = m_all;
}

}  // namespace gpusonde
