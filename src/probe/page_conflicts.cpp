#include "probe/page_conflicts.hpp"

#include <algorithm>

#include "inference/statistics.hpp"

namespace gpusonde {
namespace {

constexpr std::uint64_t k_most_tests = 1500;
constexpr double k_small_step_cycles = 30;
constexpr int k_readings = 7;

class Search {
 public:
  Search(const ConflictQuestion& question, const ReadVictim& read) : m_question(question), m_read(read) {}

  Result<ConflictSet> run(std::vector<std::uint64_t> pages) {
    const auto base = middle({});
    if (!base) return tl::unexpected(base.error());
    m_limit = *base + m_question.step_cycles / 2;
    const auto pushed = pushes(pages);
    if (!pushed) return tl::unexpected(pushed.error());
    if (!*pushed) return ConflictSet{{}, m_tests};
    for (std::size_t parts = 2; pages.size() > 1;) {
      const auto smaller = without_a_part(pages, parts);
      if (!smaller) return tl::unexpected(smaller.error());
      if (m_tests > k_most_tests) return ConflictSet{{}, m_tests};
      if (smaller->size() < pages.size()) {
        pages = *smaller;
        parts = std::max<std::size_t>(parts - 1, 2);
      } else if (parts >= pages.size()) {
        break;
      } else {
        parts = std::min(2 * parts, pages.size());
        if (pages.size() > k_most_conflict_pages && parts > 8 * k_most_conflict_pages) return ConflictSet{{}, m_tests};
      }
    }
    if (pages.size() > k_most_conflict_pages) return ConflictSet{{}, m_tests};
    for (int again = 0; again < 3; ++again) {
      const auto still = pushes(pages);
      if (!still) return tl::unexpected(still.error());
      if (!*still) return ConflictSet{{}, m_tests};
    }
    return ConflictSet{std::move(pages), m_tests};
  }

 private:
  /// The pages without one of `parts` parts, if they still push the victim out; else all of them.
  Result<std::vector<std::uint64_t>> without_a_part(const std::vector<std::uint64_t>& pages, std::size_t parts) {
    for (std::size_t part = 0; part < parts; ++part) {
      const auto first = pages.begin() + static_cast<std::ptrdiff_t>(part * pages.size() / parts);
      const auto last = pages.begin() + static_cast<std::ptrdiff_t>((part + 1) * pages.size() / parts);
      if (first == last) continue;
      std::vector<std::uint64_t> rest(pages.begin(), first);
      rest.insert(rest.end(), last, pages.end());
      const auto pushed = pushes(rest);
      if (!pushed) return tl::unexpected(pushed.error());
      if (*pushed) return rest;
    }
    return pages;
  }

  // One reading may be high for another reason, and a page left out by mistake never comes back. A small step is told
  // by the median of several.
  Result<bool> pushes(const std::vector<std::uint64_t>& pages) {
    ++m_tests;
    if (m_question.step_cycles < k_small_step_cycles) {
      const auto cycles = middle(pages);
      if (!cycles) return tl::unexpected(cycles.error());
      return *cycles > m_limit;
    }
    for (int again = 0; again < 3; ++again) {
      const auto cycles = reading(pages);
      if (!cycles) return tl::unexpected(cycles.error());
      if (*cycles <= m_limit) return false;
    }
    return true;
  }

  Result<double> middle(const std::vector<std::uint64_t>& pages) {
    std::vector<double> readings;
    for (int again = 0; again < k_readings; ++again) {
      const auto cycles = reading(pages);
      if (!cycles) return cycles;
      readings.push_back(*cycles);
    }
    return median(readings);
  }

  Result<double> reading(const std::vector<std::uint64_t>& pages) {
    SlotAllocator slots(m_question.page_bytes, std::min(m_question.span_bytes, m_question.page_bytes));
    const auto place = [&](std::uint64_t page) { return slots.place(page * m_question.span_bytes); };
    // The victim's own slot is the same in every lap, and its hop the last one.
    const auto victim = place(m_question.victim);
    auto others = pages;
    others.insert(others.end(), m_question.flush.begin(), m_question.flush.end());
    if (others.empty()) others.push_back(m_question.victim);
    std::vector<std::uint64_t> places;
    for (const auto page : others) places.push_back(place(page));
    for (std::size_t i = 0; places.size() % 8 != 7; ++i) places.push_back(place(others[i % others.size()]));
    places.push_back(victim);
    return m_read(alias_chase(std::move(places), {}));
  }

  const ConflictQuestion& m_question;
  const ReadVictim& m_read;
  double m_limit = 0;
  std::uint64_t m_tests = 0;
};

}  // namespace

Result<ConflictSet> find_conflict_set(const ConflictQuestion& question, std::vector<std::uint64_t> pool,
                                      const ReadVictim& read) {
  return Search(question, read).run(std::move(pool));
}

}  // namespace gpusonde
