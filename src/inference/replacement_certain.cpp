// Holds a policy that leaves nothing to chance against a table: only misreadings may part the two, and those come
// seldom, anywhere, and not at the same place each time.
#include <algorithm>
#include <array>
#include <cmath>

#include "inference/replacement_runs.hpp"

namespace gpusonde {
namespace {

// A count that chance reaches with a probability below e^-11, one in 60000, is not chance.
constexpr double k_rejecting_nats = 11;
constexpr double k_least_misread_rate = 1e-3;
// Assumed: fewer places a way that were predicted and read at least three times, or so few readings of one kind, would
// let a policy stand that is only somewhat like the real one.
constexpr std::uint64_t k_least_places_per_way = 150;
constexpr std::uint64_t k_least_of_a_kind = 10;
// Assumed: a candidate speaks for itself when it predicts so much of what was read, or less if without any slack.
constexpr double k_least_share_predicted = 0.7;
constexpr double k_least_share_without_slack = 0.4;
// Assumed: with so many starts, what depends on the start differs among them. Where few of them agree on what is far
// from what was seen, more are not needed.
constexpr std::uint64_t k_starts = 64;
constexpr std::uint64_t k_few_starts = 12;
// Assumed: where some of what follows depends on the start, so much of what all tried starts agree on does too.
constexpr double k_start_slack = 0.0005;
constexpr double k_far_share = 0.06;  // wrong beyond the misreadings

/// Chernoff's bound: whether `count` of `total` is more than a rate of at most `rate` explains.
bool exceeds_rate(double count, double total, double rate) {
  if (total == 0 || count <= rate * total) return false;
  if (rate <= 0) return true;
  const double share = count / total;
  double nats = share * std::log(share / rate);
  if (share < 1) nats += (1 - share) * std::log((1 - share) / (1 - rate));
  return total * nats > k_rejecting_nats;
}

/// The same for a Poisson count.
bool exceeds_mean(double count, double mean) {
  if (count <= mean) return false;
  return mean <= 0 || count * std::log(count / mean) - (count - mean) > k_rejecting_nats;
}

/// Probability that more than half of `runs` readings are wrong.
double majority_wrong(std::uint64_t runs, double rate) {
  double sum = 0;
  for (std::uint64_t wrong = runs / 2 + 1; wrong <= runs; ++wrong) {
    const auto n = static_cast<double>(runs);
    const auto k = static_cast<double>(wrong);
    sum += std::exp(std::lgamma(n + 1) - std::lgamma(k + 1) - std::lgamma(n - k + 1) + k * std::log(rate) +
                    (n - k) * std::log1p(-rate));
  }
  return sum;
}

struct Tally {
  std::uint64_t accesses = 0;
  std::uint64_t wrong = 0;
  void add(const Tally& other) {
    accesses += other.accesses;
    wrong += other.wrong;
  }
  [[nodiscard]] bool exceeds(double rate) const {
    return exceeds_rate(static_cast<double>(wrong), static_cast<double>(accesses), rate);
  }
};

/// One place of a sequence whose outcome the candidate predicts.
struct Place {
  std::uint64_t runs = 0;
  std::uint64_t wrong = 0;
};

/// Whether the repeated places speak against it: the rate of misreadings shows in how far repetitions differ, and
/// beyond that rate they are not to be wrong, least of all together. `slack`: share of the places that may be wrong for
/// another reason.
bool repetitions_reject(std::span<const Place> places, double most_rate, double slack) {
  Tally repeated;
  double events = 0;
  for (const auto& [runs, wrong] : places) {
    if (runs < 2) continue;
    repeated.add({runs, wrong});
    events += static_cast<double>(wrong * (runs - wrong)) / static_cast<double>(runs - 1);
  }
  if (repeated.accesses == 0) return false;
  const double most_events = events + 4 * std::sqrt(events) + k_rejecting_nats;
  const double rate = std::min(most_rate, most_events / static_cast<double>(repeated.accesses));
  if (repeated.exceeds(rate + slack)) return true;
  double together = 0;
  double expected = 0;
  for (const auto& [runs, wrong] : places) {
    if (runs < 3) continue;
    together += 2 * wrong > runs ? 1 : 0;
    expected += majority_wrong(runs, rate) + slack;
  }
  return exceeds_mean(together, expected);
}

/// What all starts agree on at each observed place: 1 a hit, 0 a miss, -1 open.
std::vector<int> predictions(const SetCandidate& candidate, std::uint32_t ways, const SequenceRuns& group,
                             Random random, std::uint64_t starts) {
  if (group.starts_empty && !candidate.stale) starts = 1;
  std::vector<CacheSet> sets;
  for (std::uint64_t i = 0; i < starts; ++i)
    sets.push_back(possible_start(candidate, ways, line_count(group.lines), group.starts_empty, random.fork(i)));
  std::vector<int> result;
  result.reserve(group.observed.size());
  std::size_t next = 0;
  for (std::uint32_t place = 0; place < group.lines.size(); ++place) {
    std::size_t hits = 0;
    for (auto& set : sets) hits += set.access(group.lines[place]) ? 1 : 0;
    if (next == group.observed.size() || group.observed[next] != place) continue;
    ++next;
    result.push_back(hits == 0 ? 0 : hits == sets.size() ? 1 : -1);
  }
  return result;
}

CandidateVerdict judge(const SetCandidate& candidate, std::uint32_t ways, std::span<const SequenceRuns> groups,
                       const ReplacementOptions& options, std::uint64_t starts) {
  const double rate = std::max(options.misread_rate, k_least_misread_rate);
  std::vector<Place> sure_places;
  std::vector<Place> other_places;  // of sequences in which something depends on the start
  std::array<Tally, 2> by_kind;
  std::uint64_t readings = 0;
  CandidateVerdict verdict;
  for (std::size_t g = 0; g < groups.size(); ++g) {
    const auto& group = groups[g];
    const auto predicted = predictions(candidate, ways, group, Random(options.seed).fork(g), starts);
    readings += predicted.size() * group.runs.size();
    const bool sure = std::find(predicted.begin(), predicted.end(), -1) == predicted.end();
    Tally of_group;
    for (std::size_t i = 0; i < predicted.size(); ++i) {
      if (predicted[i] < 0) continue;
      Place place{group.runs.size(), 0};
      for (const auto& run : group.runs) place.wrong += run[i] != (predicted[i] == 1) ? 1 : 0;
      (sure ? sure_places : other_places).push_back(place);
      by_kind[predicted[i] == 1 ? 1 : 0].add({place.runs, place.wrong});
      of_group.add({place.runs, place.wrong});
    }
    if (of_group.exceeds(rate)) verdict.rejected = true;
  }
  Tally all = by_kind[0];
  all.add(by_kind[1]);
  verdict.predicted = all.accesses;
  if (all.accesses > 0) verdict.agreement = 1 - static_cast<double>(all.wrong) / static_cast<double>(all.accesses);
  for (const auto& tally : {by_kind[0], by_kind[1], all}) verdict.rejected = verdict.rejected || tally.exceeds(rate);
  verdict.rejected = verdict.rejected || repetitions_reject(sure_places, rate, 0) ||
                     repetitions_reject(other_places, rate, k_start_slack);
  for (const auto& list : {sure_places, other_places})
    for (const auto& [runs, wrong] : list) {
      if (runs < 3) continue;
      ++verdict.places;
      verdict.wrong_places += 2 * wrong > runs ? 1 : 0;
    }
  const double share = readings == 0 ? 0 : static_cast<double>(all.accesses) / static_cast<double>(readings);
  verdict.tried = verdict.places >= k_least_places_per_way * ways &&
                  std::min(by_kind[0].accesses, by_kind[1].accesses) >= k_least_of_a_kind &&
                  (share >= k_least_share_predicted ||
                   (share >= k_least_share_without_slack && !repetitions_reject(other_places, rate, 0)));
  return verdict;
}

}  // namespace

// Were both shares one, the wrong places would fall to the two as their places do.
bool is_beaten(const CandidateVerdict& verdict, const CandidateVerdict& by) {
  if (verdict.places == 0 || by.places < verdict.places) return false;
  return exceeds_rate(static_cast<double>(verdict.wrong_places),
                      static_cast<double>(verdict.wrong_places + by.wrong_places),
                      static_cast<double>(verdict.places) / static_cast<double>(verdict.places + by.places));
}

CandidateVerdict judge_certain(const SetCandidate& candidate, std::uint32_t ways, std::span<const SequenceRuns> groups,
                               const ReplacementOptions& options) {
  const auto with_few = judge(candidate, ways, groups, options, k_few_starts);
  if (with_few.rejected && with_few.agreement < 1 - options.misread_rate - k_far_share) return with_few;
  return judge(candidate, ways, groups, options, k_starts);
}

}  // namespace gpusonde
