// Cache sets to try the inference of replacement on: the simulated GPU's, and some that no candidate is meant to cover.
// Written the plain way, a list of lines, and apart from the candidates.
#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "core/random.hpp"
#include "inference/replacement.hpp"
#include "target/sim/tag_store.hpp"

namespace gpusonde {

class SubjectSet {
 public:
  SubjectSet() = default;
  SubjectSet(const SubjectSet&) = delete;
  SubjectSet& operator=(const SubjectSet&) = delete;
  virtual ~SubjectSet() = default;
  virtual bool access(std::uint64_t line) = 0;
};
/// Makes an empty one. What a policy has of its own, such as a random generator that runs on, it takes from `random`.
using MakeSubject = std::function<std::unique_ptr<SubjectSet>(std::uint32_t ways, Random random)>;

class SimulatedSet : public SubjectSet {
 public:
  SimulatedSet(std::uint32_t ways, Replacement policy, Random random) : m_store(1, ways, policy) {
    m_store.reset(random);
  }
  bool access(std::uint64_t line) override { return m_store.access(0, line, 1); }

 private:
  sim::TagStore m_store;
};

inline MakeSubject simulated(Replacement policy) {
  return [policy](std::uint32_t ways, Random random) { return std::make_unique<SimulatedSet>(ways, policy, random); };
}

/// Lines from the oldest to the newest, with a mark each. How they move is in the hands of two functions.
class ListedSet : public SubjectSet {
 public:
  struct Line {
    std::uint64_t number = 0;
    bool mark = false;
  };
  using Lines = std::vector<Line>;
  using Use = std::function<void(Lines&, std::size_t place)>;
  /// Takes the victim out when the set is full, and puts the line in.
  using Fill = std::function<void(Lines&, Line, bool full)>;

  ListedSet(std::uint32_t ways, Use use, Fill fill) : m_ways(ways), m_use(std::move(use)), m_fill(std::move(fill)) {}

  bool access(std::uint64_t line) override {
    const auto found =
        std::find_if(m_lines.begin(), m_lines.end(), [&](const Line& held) { return held.number == line; });
    if (found != m_lines.end()) {
      m_use(m_lines, static_cast<std::size_t>(found - m_lines.begin()));
      return true;
    }
    m_fill(m_lines, {line, false}, m_lines.size() == m_ways);
    return false;
  }

  static void to_newest(Lines& lines, std::size_t place) {
    std::rotate(lines.begin() + static_cast<std::ptrdiff_t>(place),
                lines.begin() + static_cast<std::ptrdiff_t>(place) + 1, lines.end());
  }
  static void stay(Lines& /*lines*/, std::size_t /*place*/) {}
  static void take_out(Lines& lines, std::size_t place) {
    lines.erase(lines.begin() + static_cast<std::ptrdiff_t>(place));
  }

 private:
  std::uint32_t m_ways;
  Use m_use;
  Fill m_fill;
  Lines m_lines;
};

/// The newest line goes.
inline std::unique_ptr<SubjectSet> most_recent(std::uint32_t ways, Random /*random*/) {
  return std::make_unique<ListedSet>(ways, ListedSet::to_newest, [](auto& lines, auto line, bool full) {
    if (full) lines.pop_back();
    lines.push_back(line);
  });
}
/// A line comes in as the oldest (Qureshi et al. 2007, LIP), so the next pushes it out unless it is used first.
inline std::unique_ptr<SubjectSet> inserted_oldest(std::uint32_t ways, Random /*random*/) {
  return std::make_unique<ListedSet>(ways, ListedSet::to_newest, [](auto& lines, auto line, bool full) {
    if (full) ListedSet::take_out(lines, 0);
    lines.insert(lines.begin(), line);
  });
}
/// A line comes in halfway.
inline std::unique_ptr<SubjectSet> inserted_halfway(std::uint32_t ways, Random /*random*/) {
  return std::make_unique<ListedSet>(ways, ListedSet::to_newest, [](auto& lines, auto line, bool full) {
    if (full) ListedSet::take_out(lines, 0);
    lines.insert(lines.begin() + static_cast<std::ptrdiff_t>(lines.size() / 2), line);
  });
}
/// Any line but the newest few goes. All but half the ways spared: random among the oldest half; all but one: among
/// those not used last.
inline MakeSubject random_but_newest(std::function<std::uint32_t(std::uint32_t)> spared_of) {
  return [spared_of](std::uint32_t ways, Random random) {
    const std::uint32_t spared = spared_of(ways);
    return std::make_unique<ListedSet>(
        ways, ListedSet::to_newest, [ways, spared, random](auto& lines, auto line, bool full) mutable {
          if (full) ListedSet::take_out(lines, static_cast<std::size_t>(random.below(ways - spared)));
          lines.push_back(line);
        });
  };
}
/// A line that was used since it came in has a second chance: it goes to the back of the queue instead.
inline std::unique_ptr<SubjectSet> second_chance(std::uint32_t ways, Random /*random*/) {
  return std::make_unique<ListedSet>(
      ways, [](auto& lines, std::size_t place) { lines[place].mark = true; },
      [](auto& lines, auto line, bool full) {
        while (full && lines.front().mark) {
          lines.front().mark = false;
          ListedSet::to_newest(lines, 0);
        }
        if (full) ListedSet::take_out(lines, 0);
        lines.push_back(line);
      });
}
/// Segmented: a hit marks a line and makes it the newest; of more than half the ways marked, the oldest of those loses
/// its mark and becomes the newest of the others. The oldest line without a mark goes.
inline std::unique_ptr<SubjectSet> segmented(std::uint32_t ways, Random /*random*/) {
  const auto oldest_marked = [](const ListedSet::Lines& lines, bool mark) {
    return static_cast<std::size_t>(
        std::find_if(lines.begin(), lines.end(), [&](const auto& line) { return line.mark == mark; }) - lines.begin());
  };
  return std::make_unique<ListedSet>(
      ways,
      [ways, oldest_marked](auto& lines, std::size_t place) {
        lines[place].mark = true;
        ListedSet::to_newest(lines, place);
        if (std::count_if(lines.begin(), lines.end(), [](const auto& line) { return line.mark; }) <= ways / 2) return;
        const std::size_t demoted = oldest_marked(lines, true);
        lines[demoted].mark = false;
        ListedSet::to_newest(lines, demoted);
      },
      [oldest_marked](auto& lines, auto line, bool full) {
        if (full) ListedSet::take_out(lines, oldest_marked(lines, false));
        lines.push_back(line);
      });
}
/// The last two hits, be they of one line or of two, keep their lines newest: a line comes in behind them.
inline std::unique_ptr<SubjectSet> behind_two_hits(std::uint32_t ways, Random /*random*/) {
  const auto last_hits = std::make_shared<std::vector<std::uint64_t>>();
  return std::make_unique<ListedSet>(
      ways,
      [last_hits](auto& lines, std::size_t place) {
        last_hits->push_back(lines[place].number);
        if (last_hits->size() > 2) last_hits->erase(last_hits->begin());
        ListedSet::to_newest(lines, place);
      },
      [last_hits](auto& lines, auto line, bool full) {
        if (full) ListedSet::take_out(lines, 0);
        auto place = lines.end();
        while (place != lines.begin() &&
               std::find(last_hits->begin(), last_hits->end(), (place - 1)->number) != last_hits->end())
          --place;
        lines.insert(place, line);
      });
}
/// One mark a line, set only by a hit, all cleared when a victim is sought and every line has it; the ways in order of
/// filling, the first without a mark goes.
inline std::unique_ptr<SubjectSet> marked_by_hits(std::uint32_t ways, Random /*random*/) {
  return std::make_unique<ListedSet>(
      ways, [](auto& lines, std::size_t place) { lines[place].mark = true; },
      [](auto& lines, auto line, bool full) {
        if (!full) return lines.push_back(line);
        const auto unmarked = [](const auto& held) { return !held.mark; };
        if (std::none_of(lines.begin(), lines.end(), unmarked))
          for (auto& held : lines) held.mark = false;
        *std::find_if(lines.begin(), lines.end(), unmarked) = line;
      });
}
/// A hit moves a line up by one only (transpose).
inline std::unique_ptr<SubjectSet> moved_by_one(std::uint32_t ways, Random /*random*/) {
  return std::make_unique<ListedSet>(
      ways,
      [](auto& lines, std::size_t place) {
        if (place + 1 < lines.size()) std::swap(lines[place], lines[place + 1]);
      },
      [](auto& lines, auto line, bool full) {
        if (full) ListedSet::take_out(lines, 0);
        lines.push_back(line);
      });
}
/// The victim is what a 16-bit linear feedback shift register says, which starts the same after each emptying.
inline std::unique_ptr<SubjectSet> shift_register(std::uint32_t ways, Random /*random*/) {
  return std::make_unique<ListedSet>(ways, ListedSet::stay,
                                     [ways, state = std::uint32_t{0xACE1}](auto& lines, auto line, bool full) mutable {
                                       state = state >> 1 ^ ((state & 1) != 0 ? 0xB400U : 0U);
                                       if (full) {
                                         lines[state % ways] = line;
                                       } else {
                                         lines.push_back(line);
                                       }
                                     });
}

/// How a table is measured on a subject.
struct Measured {
  SetStart start = SetStart::empty;
  double misread_rate = 0;
  std::uint64_t seed = 1;
};

/// One set a sequence, since each starts empty or full of other lines used in some way.
inline std::vector<ObservedSequence> observe(const MakeSubject& make, std::uint32_t ways,
                                             const std::vector<SetSequence>& plan, const Measured& how) {
  std::vector<ObservedSequence> table;
  Random noise = Random(how.seed).fork(1);
  Random past = Random(how.seed).fork(2);
  for (std::size_t i = 0; i < plan.size(); ++i) {
    const auto set = make(ways, Random(how.seed).fork(100 + i));
    constexpr std::uint64_t foreign = 100000;
    if (how.start == SetStart::foreign) {
      // Some loops, each over its own run of lines, short or longer than the set is large.
      for (std::uint64_t line = 0; line < 2ULL * ways; ++line) set->access(foreign + line);
      for (auto loops = past.below(5); loops > 0; --loops) {
        const auto first = foreign + past.below(4ULL * ways);
        const auto length = past.between(1, 2ULL * ways);
        for (auto use = past.below(4 * length); use > 0; --use) set->access(first + use % length);
      }
    }
    ObservedSequence observed{plan[i], {}, how.start};
    for (std::size_t access = 0; access < plan[i].lines.size(); ++access) {
      const bool hit = set->access(plan[i].lines[access]);
      if (!plan[i].observed.empty() && !plan[i].observed[access]) continue;
      observed.hit.push_back(hit != (noise.uniform() < how.misread_rate));
    }
    table.push_back(std::move(observed));
  }
  return table;
}

}  // namespace gpusonde
