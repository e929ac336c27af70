#include "probe/eviction.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "probe/run_one.hpp"

namespace gpusonde {
namespace {

// Up to so many lines are loaded one after the other, in the order given; more would take long. On an SM's own cache
// all at once do as well, being few.
constexpr std::uint32_t k_walked_lines = 256;
constexpr std::uint32_t k_walked_shared_lines = 1 << 14;
// A batch of this many places stays far below the memory that targets have for lists.
constexpr std::size_t k_most_questions = 1 << 16;
constexpr std::uint32_t k_checks = 20;
constexpr std::size_t k_parts_at_once = 8;  // more find it in fewer rounds, with more loads in all
constexpr std::size_t k_parts_in_turn = 4;

class Search {
 public:
  Search(EvictionOracle& oracle, std::uint64_t victim, std::vector<std::uint64_t> pool, std::size_t most_lines)
      : m_oracle(oracle), m_victim(victim), m_most(most_lines) {
    // Those kept lie in front of the pool, the last found first, so that one stretch holds both.
    m_places.resize(m_most);
    m_places.insert(m_places.end(), pool.begin(), pool.end());
  }

  Result<EvictionSet> run() {
    EvictionSet set;
    set.victim = m_victim;
    set.checks = k_checks;
    std::size_t end = m_places.size() - m_most;
    const auto all = evicts({end});
    if (!all) return tl::unexpected(all.error());
    if (!all->front()) {
      set.trouble = fmt::format("{} lines do not push it out", end);
      return set;
    }
    set.pool_evicts = true;
    for (;;) {
      const auto enough = m_kept > 0 ? evicts({0}) : evicts({0, 0, 0});
      if (!enough) return tl::unexpected(enough.error());
      if (std::find(enough->begin(), enough->end(), false) == enough->end()) {
        if (m_kept > 0) break;
        set.trouble = "it is not there even when nothing else was loaded";
        return set;
      }
      if (m_kept == m_most || end == 0) {
        set.trouble = fmt::format("no {} lines push it out", m_kept);
        return set;
      }
      const auto shortest = shortest_prefix(end);
      if (!shortest) return tl::unexpected(shortest.error());
      const auto line = m_places[m_most + *shortest - 1];
      end = *shortest - 1;
      m_places[m_most - ++m_kept] = line;
      // With the line kept, one place fewer of the pool must do. It does not where something else was the last straw:
      // the list of places itself takes lines of L2.
      const auto still = evicts({end});
      if (!still) return tl::unexpected(still.error());
      if (!still->front()) {
        set.trouble = fmt::format("what pushed it out after {} lines was none of them", *shortest);
        return set;
      }
    }
    if (auto pruned = prune(); !pruned) return tl::unexpected(pruned.error());
    set.lines.assign(m_places.begin() + static_cast<std::ptrdiff_t>(m_most - m_kept),
                     m_places.begin() + static_cast<std::ptrdiff_t>(m_most));
    if (auto checked = check(set); !checked) return tl::unexpected(checked.error());
    return set;
  }

 private:
  /// Whether the kept lines and so many of the pool push the victim out, for each length.
  Result<std::vector<bool>> evicts(const std::vector<std::size_t>& lengths) {
    std::vector<EvictionQuestion> questions;
    for (const auto length : lengths)
      questions.push_back(
          {m_victim, static_cast<std::uint32_t>(m_most - m_kept), static_cast<std::uint32_t>(m_kept + length)});
    // One vote each: what a false one leads to does not pass the checks at the end.
    const auto votes = m_oracle.evictions(m_places, questions, 1);
    if (!votes) return tl::unexpected(votes.error());
    std::vector<bool> answers;
    for (const auto count : *votes) answers.push_back(count != 0);
    return answers;
  }

  /// Precondition: none of the pool is too few, `end` of it is enough.
  Result<std::size_t> shortest_prefix(std::size_t end) {
    std::size_t too_few = 0;
    std::size_t enough = end;
    const std::size_t parts = m_oracle.settings().at_once ? k_parts_at_once : k_parts_in_turn;
    while (enough - too_few > 1) {
      std::vector<std::size_t> lengths;
      for (std::size_t part = 1; part < parts; ++part) {
        const auto length = too_few + (enough - too_few) * part / parts;
        if (length > too_few && (lengths.empty() || length > lengths.back())) lengths.push_back(length);
      }
      const auto answers = evicts(lengths);
      if (!answers) return tl::unexpected(answers.error());
      std::size_t before = too_few;
      for (std::size_t i = 0; i < lengths.size(); ++i) {
        if ((*answers)[i]) {
          enough = lengths[i];
          break;
        }
        before = lengths[i];
      }
      too_few = before;
    }
    return enough;
  }

  /// A line may be cached in two places, each with a set of its own; lines kept for the one are not needed where the
  /// other decided.
  Result<void> prune() {
    m_places.resize(m_most);
    for (std::size_t i = m_most - m_kept; i < m_most && m_kept > 1; ++i) {
      const auto before = m_places;
      std::move_backward(m_places.begin() + static_cast<std::ptrdiff_t>(m_most - m_kept),
                         m_places.begin() + static_cast<std::ptrdiff_t>(i),
                         m_places.begin() + static_cast<std::ptrdiff_t>(i + 1));
      --m_kept;
      unsigned yes = 0;
      for (int again = 0; again < 3; ++again) {
        const auto enough = evicts({0});
        if (!enough) return tl::unexpected(enough.error());
        yes += enough->front() ? 1 : 0;
      }
      if (yes == 3) continue;
      m_places = before;
      ++m_kept;
    }
    return {};
  }

  Result<void> check(EvictionSet& set) {
    const auto count = static_cast<std::uint32_t>(set.lines.size());
    // Twice over, so that each of the lines can be left out of a stretch.
    auto places = set.lines;
    places.insert(places.end(), set.lines.begin(), set.lines.end());
    std::vector<EvictionQuestion> questions;
    for (std::uint32_t i = 0; i < k_checks; ++i) questions.push_back({set.victim, i % count, count});
    for (std::uint32_t i = 0; i < k_checks && count > 1; ++i) questions.push_back({set.victim, i % count, count - 1});
    const auto votes = m_oracle.evictions(places, questions, 1);
    if (!votes) return tl::unexpected(votes.error());
    for (std::size_t i = 0; i < votes->size(); ++i) (i < k_checks ? set.evicted : set.evicted_less_one) += (*votes)[i];
    auto cycles = m_oracle.readings(places, std::span(questions).first(k_checks), 1);
    if (!cycles) return tl::unexpected(cycles.error());
    std::sort(cycles->begin(), cycles->end());
    set.evicted_cycles = (*cycles)[cycles->size() / 2];
    if (set.evicted * 10 < k_checks * 9 || set.evicted_less_one * 10 > k_checks) {
      set.trouble = fmt::format("{} lines push it out {} of {} times, one fewer {} times", count, set.evicted, k_checks,
                                set.evicted_less_one);
      set.lines.clear();
    }
    return {};
  }

  EvictionOracle& m_oracle;
  std::uint64_t m_victim;
  std::size_t m_most;
  std::vector<std::uint64_t> m_places;
  std::size_t m_kept = 0;
};

}  // namespace

Result<std::vector<std::uint32_t>> EvictionOracle::readings(std::span<const std::uint64_t> places,
                                                            std::span<const EvictionQuestion> questions,
                                                            std::uint32_t votes) {
  std::vector<std::uint32_t> all;
  for (std::size_t begin = 0; begin < questions.size();) {
    const auto end = std::min(questions.size(), begin + std::max<std::size_t>(1, k_most_questions / votes));
    SequenceExperiment e;
    e.region = m_settings.region;
    e.path = m_settings.path;
    e.split = m_settings.split;
    e.at_once = m_settings.at_once;
    if (!e.at_once) e.sm = m_settings.sm;
    e.places.assign(places.begin(), places.end());
    e.tests.clear();
    for (std::size_t i = begin; i < end; ++i) {
      const auto& question = questions[i];
      const auto victim = static_cast<std::uint32_t>(e.places.size());
      e.places.push_back(question.victim);
      for (std::uint32_t vote = 0; vote < votes; ++vote) {
        e.tests.push_back(static_cast<std::uint32_t>(e.steps.size()));
        if (m_settings.drop_victim) e.steps.push_back({StepKind::drop, victim, 1, 1});
        e.steps.push_back({StepKind::walk, victim, 1, m_settings.victim_touches});
        if (question.count != 0)
          e.steps.push_back({question.count <= (m_settings.at_once ? k_walked_lines : k_walked_shared_lines)
                                 ? StepKind::walk
                                 : StepKind::touch,
                             question.first, question.count, m_settings.rounds});
        e.steps.push_back({StepKind::time, victim, 1, 1});
      }
    }
    m_asked += (end - begin) * votes;
    const auto samples = run_one<SequenceSamples>(m_target, m_cancel, std::move(e));
    if (!samples) return tl::unexpected(samples.error());
    all.insert(all.end(), samples->cycles.begin(), samples->cycles.end());
    begin = end;
  }
  return all;
}

Result<std::vector<std::uint32_t>> EvictionOracle::evictions(std::span<const std::uint64_t> places,
                                                             std::span<const EvictionQuestion> questions,
                                                             std::uint32_t votes) {
  const auto cycles = readings(places, questions, votes);
  if (!cycles) return tl::unexpected(cycles.error());
  std::vector<std::uint32_t> counts(questions.size(), 0);
  for (std::size_t i = 0; i < cycles->size(); ++i)
    if ((*cycles)[i] > m_limit_cycles) ++counts[i / votes];
  return counts;
}

Result<EvictionSet> find_eviction_set(EvictionOracle& oracle, std::uint64_t victim, std::vector<std::uint64_t> pool,
                                      std::size_t most_lines) {
  return Search(oracle, victim, std::move(pool), most_lines).run();
}

}  // namespace gpusonde
