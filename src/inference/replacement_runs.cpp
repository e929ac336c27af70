#include "inference/replacement_runs.hpp"

#include <algorithm>
#include <map>
#include <tuple>
#include <utility>

namespace gpusonde {
std::string trouble_with(std::span<const ObservedSequence> table) {
  if (table.empty()) return "no sequence was measured";
  if (table.front().start == SetStart::carried) return "the first sequence has none before it to carry over from";
  for (std::size_t i = 0; i < table.size(); ++i) {
    const auto& [sequence, hit, start] = table[i];
    const std::string name = "sequence " + std::to_string(i);
    if (sequence.lines.empty()) return name + " has no accesses";
    if (!sequence.observed.empty() && sequence.observed.size() != sequence.lines.size())
      return name + " does not say of each access whether it is observed";
    const auto observed =
        sequence.observed.empty()
            ? sequence.lines.size()
            : static_cast<std::size_t>(std::count(sequence.observed.begin(), sequence.observed.end(), true));
    if (observed != hit.size()) return name + " has not one result for each observed access";
  }
  return {};
}

std::vector<SequenceRuns> group_runs(std::span<const ObservedSequence> table) {
  std::vector<SequenceRuns> joined;
  for (const auto& [sequence, hit, start] : table) {
    if (start != SetStart::carried) {
      joined.push_back({{}, {}, start == SetStart::empty, {{}}});
    }
    SequenceRuns& last = joined.back();
    for (std::size_t i = 0; i < sequence.lines.size(); ++i) {
      if (sequence.observed.empty() || sequence.observed[i])
        last.observed.push_back(static_cast<std::uint32_t>(last.lines.size()));
      last.lines.push_back(sequence.lines[i]);
    }
    last.runs.front().insert(last.runs.front().end(), hit.begin(), hit.end());
  }
  std::vector<SequenceRuns> groups;
  std::map<std::tuple<bool, std::vector<std::uint16_t>, std::vector<std::uint32_t>>, std::size_t> known;
  for (auto& one : joined) {
    const auto [entry, fresh] = known.try_emplace({one.starts_empty, one.lines, one.observed}, groups.size());
    if (fresh) {
      groups.push_back(std::move(one));
    } else {
      groups[entry->second].runs.push_back(std::move(one.runs.front()));
    }
  }
  return groups;
}

std::uint32_t line_count(std::span<const std::uint16_t> lines) noexcept {
  return lines.empty() ? 0U : 1U + *std::max_element(lines.begin(), lines.end());
}

CacheSet possible_start(const SetCandidate& candidate, std::uint32_t ways, std::uint32_t line_count, bool starts_empty,
                        Random random) {
  const std::uint32_t others = 3 * ways;
  CacheSet set(ways, line_count + others, candidate.make(ways, random.fork(0)));
  if (starts_empty && !candidate.stale) return set;
  // One pass over many lines, as of a buffer read from end to end, and then uses at random by fewer or more of them.
  for (std::uint32_t line = 0; line < others; ++line) set.access(line_count + line);
  const std::uint64_t among = random.between(1, others);
  for (std::uint64_t uses = random.below(10ULL * ways); uses > 0; --uses)
    set.access(line_count + static_cast<std::uint32_t>(random.below(among)));
  if (starts_empty) set.invalidate();
  return set;
}

}  // namespace gpusonde
