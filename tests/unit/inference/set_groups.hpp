// Groups and non-conflicts of a known set function, as eviction tests would give them, some of them spoiled.
#pragma once

#include <algorithm>
#include <cstdint>
#include <map>
#include <utility>
#include <vector>

#include "core/random.hpp"
#include "core/units.hpp"
#include "inference/set_function.hpp"

namespace gpusonde {

inline constexpr std::uint64_t k_line_bytes = 128;

inline auto lines_below(std::uint64_t bytes) {
  return [bytes](Random& random) { return random.below(bytes / k_line_bytes) * k_line_bytes; };
}

/// `count` groups of `size` random lines each, of sets at random. `draw(random)` gives a line, `set_of(line)` its set.
template <class Draw, class SetOf>
std::vector<LineGroup> groups_of(std::size_t count, std::size_t size, const Draw& draw, const SetOf& set_of,
                                 Random& random) {
  std::map<std::uint64_t, LineGroup> filling;
  std::vector<LineGroup> groups;
  while (groups.size() < count) {
    const std::uint64_t line = draw(random);
    auto& group = filling[set_of(line)];
    if (std::find(group.begin(), group.end(), line) == group.end()) group.push_back(line);
    if (group.size() < size) continue;
    groups.push_back(std::move(group));
    group = {};
  }
  // What fills first is of a set at random only once all have been met.
  for (std::size_t i = groups.size(); i > 1; --i) std::swap(groups[i - 1], groups[random.below(i)]);
  return groups;
}

template <class Draw, class SetOf>
std::vector<LinePair> non_conflicts_of(std::size_t count, const Draw& draw, const SetOf& set_of, Random& random) {
  std::vector<LinePair> pairs;
  while (pairs.size() < count) {
    const LinePair pair{draw(random), draw(random)};
    if (set_of(pair.first) != set_of(pair.second)) pairs.push_back(pair);
  }
  return pairs;
}

/// Replaces one line in each of the first groups by one of another set; returns which group got which.
template <class Draw, class SetOf>
std::map<std::size_t, std::uint64_t> spoil(std::vector<LineGroup>& groups, std::size_t count, const Draw& draw,
                                           const SetOf& set_of, Random& random) {
  std::map<std::size_t, std::uint64_t> spoiled;
  while (spoiled.size() < count) {
    auto& group = groups[spoiled.size()];
    const std::uint64_t line = draw(random);
    if (set_of(line) == set_of(group[0])) continue;
    group[1 + random.below(group.size() - 1)] = line;
    spoiled.emplace(spoiled.size(), line);
  }
  return spoiled;
}

/// Whether both divide the lines alike: each value of the one goes with one value of the other.
template <class A, class B>
bool same_partition(const std::vector<std::uint64_t>& lines, const A& a, const B& b) {
  std::map<std::uint64_t, std::uint64_t> a_to_b;
  std::map<std::uint64_t, std::uint64_t> b_to_a;
  return std::all_of(lines.begin(), lines.end(), [&](std::uint64_t line) {
    const std::uint64_t value_a = a(line);
    const std::uint64_t value_b = b(line);
    return a_to_b.try_emplace(value_a, value_b).first->second == value_b &&
           b_to_a.try_emplace(value_b, value_a).first->second == value_a;
  });
}

}  // namespace gpusonde
