#include "inference/page_constants.hpp"

#include <algorithm>
#include <map>
#include <optional>
#include <utility>

namespace gpusonde {
namespace {

constexpr int k_most_sweeps = 10;
constexpr std::size_t k_least_votes = 2;

// The value with most votes and how many it has; equal counts go to the smaller value.
struct Election {
  std::map<std::uint64_t, std::size_t> votes;

  [[nodiscard]] std::pair<std::uint64_t, std::size_t> winner() const {
    std::pair<std::uint64_t, std::size_t> best{0, 0};
    for (const auto& [value, count] : votes)
      if (count > best.second) best = {value, count};
    return best;
  }
};

class Consensus {
 public:
  explicit Consensus(std::span<const PageSighting> sightings) {
    for (const auto& sighting : sightings) {
      m_groups[sighting.group].push_back(sighting);
      m_pages[sighting.page].push_back(sighting);
    }
  }

  std::vector<PageConstant> run() {
    while (m_known.size() < m_pages.size()) add_page();
    bool changed = true;
    for (int sweep = 0; sweep < k_most_sweeps && changed; ++sweep) {
      changed = false;
      for (auto& [page, known] : m_known) {
        const auto [constant, votes] = votes_on(page).winner();
        if (votes == 0 || constant == known.constant) continue;
        known.constant = constant;
        changed = true;
      }
    }
    std::vector<PageConstant> result;
    for (const auto& [page, known] : m_known)
      if (is_told(page, known.constant)) result.push_back(known);
    return result;
  }

 private:
  // What the other pages say of the group's set.
  [[nodiscard]] std::optional<std::uint64_t> set_of(std::size_t group, std::uint64_t but_page) const {
    Election election;
    for (const auto& sighting : m_groups.at(group)) {
      const auto known = m_known.find(sighting.page);
      if (sighting.page != but_page && known != m_known.end())
        ++election.votes[sighting.value ^ known->second.constant];
    }
    if (election.votes.empty()) return std::nullopt;
    return election.winner().first;
  }

  [[nodiscard]] Election votes_on(std::uint64_t page) const {
    Election election;
    for (const auto& sighting : m_pages.at(page))
      if (const auto set = set_of(sighting.group, page)) ++election.votes[sighting.value ^ *set];
    return election;
  }

  // The page that most groups agree on comes next; where nothing is linked any more, a cluster begins with the page
  // that most groups saw.
  void add_page() {
    PageConstant next;
    std::size_t most_votes = 0;
    const std::pair<const std::uint64_t, std::vector<PageSighting>>* most_seen = nullptr;
    for (const auto& entry : m_pages) {
      if (m_known.contains(entry.first)) continue;
      const auto [constant, votes] = votes_on(entry.first).winner();
      if (votes > most_votes) {
        most_votes = votes;
        next = {entry.first, constant, m_clusters - 1};
      }
      if (most_seen == nullptr || entry.second.size() > most_seen->second.size()) most_seen = &entry;
    }
    if (most_votes == 0) next = {most_seen->first, 0, m_clusters++};
    m_known.emplace(next.page, next);
  }

  [[nodiscard]] bool is_told(std::uint64_t page, std::uint64_t constant) const {
    const auto election = votes_on(page);
    std::size_t votes_for = 0;
    std::size_t votes_against = 0;
    for (const auto& [value, count] : election.votes) (value == constant ? votes_for : votes_against) += count;
    return votes_for >= k_least_votes && votes_for >= 2 * votes_against;
  }

  std::map<std::size_t, std::vector<PageSighting>> m_groups;
  std::map<std::uint64_t, std::vector<PageSighting>> m_pages;
  std::map<std::uint64_t, PageConstant> m_known;
  std::uint32_t m_clusters = 0;
};

}  // namespace

std::vector<PageConstant> page_constants(std::span<const PageSighting> sightings) { return Consensus(sightings).run(); }

}  // namespace gpusonde
