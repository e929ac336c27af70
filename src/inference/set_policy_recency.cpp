// Policies that keep an order of age: LRU, FIFO, segmented LRU (Karedla, Love, Wherry 1994), in which a line that was
// hit is protected from lines that were touched once, LRU with lines put in elsewhere than as the newest (Qureshi et
// al. 2007), and LRU with lines put in behind those of the last few hits. SLRU and insertion are one and the same for
// as long as all protected places are taken.
#include <algorithm>
#include <iterator>
#include <set>
#include <utility>

#include "inference/set_policy.hpp"

namespace gpusonde {
namespace {

/// The victim is the oldest way that is not protected, or the oldest of all where every way is.
class AgePolicy : public SetPolicy {
 public:
  /// `most_protected`: ways that a hit may protect at a time; the oldest of more becomes the newest of the others.
  AgePolicy(std::uint32_t ways, bool hit_renews, std::uint32_t most_protected)
      : m_last_use(ways, 0), m_protected(ways, false), m_hit_renews(hit_renews), m_most_protected(most_protected) {}

  void hit(std::uint32_t way) override {
    if (m_hit_renews) m_last_use[way] = ++m_clock;
    if (m_most_protected == 0 || m_protected[way]) return;
    m_protected[way] = true;
    if (++m_protected_count <= m_most_protected) return;
    const std::uint32_t demoted = oldest(true);
    m_protected[demoted] = false;
    --m_protected_count;
    m_last_use[demoted] = ++m_clock;
  }
  void filled(std::uint32_t way) override {
    m_last_use[way] = ++m_clock;
    if (!m_protected[way]) return;
    m_protected[way] = false;
    --m_protected_count;
  }
  std::uint32_t victim() override { return oldest(m_protected_count == m_last_use.size()); }

 private:
  [[nodiscard]] std::uint32_t oldest(bool of_protected) const {
    std::uint32_t best = 0;
    std::uint64_t earliest = ~0ULL;
    for (std::uint32_t way = 0; way < m_last_use.size(); ++way) {
      if (m_protected[way] != of_protected || m_last_use[way] >= earliest) continue;
      earliest = m_last_use[way];
      best = way;
    }
    return best;
  }

  std::vector<std::uint64_t> m_last_use;
  std::vector<bool> m_protected;
  bool m_hit_renews;
  std::uint32_t m_most_protected;
  std::uint32_t m_protected_count = 0;
  std::uint64_t m_clock = 0;
};

/// LRU, but a line comes in with so many others older than it.
class InsertionPolicy : public SetPolicy {
 public:
  explicit InsertionPolicy(std::uint32_t older) : m_older(older) {}

  void hit(std::uint32_t way) override {
    const auto found = std::find(m_oldest_first.begin(), m_oldest_first.end(), way);
    std::rotate(found, found + 1, m_oldest_first.end());
  }
  void filled(std::uint32_t way) override {
    m_oldest_first.insert(m_oldest_first.begin() + std::min<std::ptrdiff_t>(m_older, std::ssize(m_oldest_first)), way);
  }
  std::uint32_t victim() override {
    const std::uint32_t way = m_oldest_first.front();
    m_oldest_first.erase(m_oldest_first.begin());
    return way;
  }

 private:
  std::uint32_t m_older;
  std::vector<std::uint32_t> m_oldest_first;
};

/// LRU, but a line comes in as older than the lines of the last so many hits of the set, and as newer than all others.
/// Hits are counted, not lines: two on one line leave room for one other less. That sets it apart from SLRU; with one
/// hit it is SLRU that protects one way. Behind two hits is what an L1 set of an NVIDIA H200 did, of four ways, at each
/// of 6350 places; walks over one set do not tell whether hits in other sets count as well.
class BehindHitsPolicy : public SetPolicy {
 public:
  BehindHitsPolicy(std::uint32_t ways, std::uint32_t hits) : m_uses(ways), m_behind(hits) {}

  void hit(std::uint32_t way) override { m_uses[way] = {++m_hit_count, ++m_clock}; }
  void filled(std::uint32_t way) override { m_uses[way] = {m_hit_count - m_behind, ++m_clock}; }
  std::uint32_t victim() override {
    const auto oldest = std::min_element(m_uses.begin(), m_uses.end());
    return static_cast<std::uint32_t>(oldest - m_uses.begin());
  }

 private:
  /// As of which hit, by number, and as what use after it. Without the second, lines put in between two hits were
  /// equal.
  using Use = std::pair<std::int64_t, std::uint64_t>;

  std::vector<Use> m_uses;
  std::int64_t m_behind;
  std::int64_t m_hit_count = 0;
  std::uint64_t m_clock = 0;
};

SetCandidate by_age(std::string family, std::string variant, bool hit_renews, std::uint32_t most_protected) {
  return {std::move(family), std::move(variant), false, false, false, [=](std::uint32_t ways, Random) {
            return std::make_unique<AgePolicy>(ways, hit_renews, most_protected);
          }};
}

}  // namespace

void add_recency_policies(std::uint32_t ways, std::vector<SetCandidate>& list) {
  list.push_back(by_age("lru", "", true, 0));
  list.push_back(by_age("fifo", "", false, 0));
  const std::set<std::uint32_t> limits{(ways + 3) / 4, ways / 2, ways * 3 / 4, ways - 1, ways};
  for (const std::uint32_t limit : limits)
    list.push_back(by_age("slru", "at most " + std::to_string(limit) + " ways protected", true, limit));
  for (const std::uint32_t limit : limits) {
    if (limit == ways) continue;  // as with one less: all others are protected, and the line that comes in is not
    const std::uint32_t older = ways - 1 - limit;
    list.push_back({"lru-insertion", "comes in with " + std::to_string(older) + " ways older", false, false, false,
                    [older](std::uint32_t, Random) { return std::make_unique<InsertionPolicy>(older); }});
  }
  if (ways == 2) return;  // behind two hits is as slru
  for (const std::uint32_t hits : std::set<std::uint32_t>{2, ways / 4, ways / 2, ways * 3 / 4, ways}) {
    if (hits < 2) continue;
    list.push_back({"lru-behind-hits", "comes in behind the last " + std::to_string(hits) + " hits", false, false,
                    false,
                    [hits](std::uint32_t count, Random) { return std::make_unique<BehindHitsPolicy>(count, hits); }});
  }
}

}  // namespace gpusonde
