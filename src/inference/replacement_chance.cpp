// Holds a policy that leaves the victim to chance against a table. No single access is predicted; how often accesses
// of a kind hit is, and how far repetitions differ. A kind is how many other lines were used since the line's last use,
// and whether it hit then; under each policy the rates of all kinds are simulated.
#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <map>

#include "inference/replacement_runs.hpp"

namespace gpusonde {
namespace {

constexpr std::size_t k_simulations = 128;
// A count that chance reaches with probability e^-14, one in a million, is not chance.
constexpr double k_rejecting_nats = 14;
// How far the number of places at which all repetitions agree scatters more than were the places independent.
constexpr double k_agreement_dispersion = 2;
constexpr double k_least_differences = 30;  // assumed: with fewer, that repetitions differ says little
constexpr int k_rates = 41;                 // of misreading, tried from none to the most

constexpr std::size_t k_distances = 12;
constexpr std::size_t k_first_use = k_distances - 1;
enum Before : std::size_t { missed_before, hit_before, not_seen_before };
constexpr std::size_t k_counts = k_distances * 3 * 2;

std::size_t count_index(std::size_t distance, std::size_t before, std::size_t now) {
  return (distance * 3 + before) * 2 + now;
}

using Counts = std::array<double, k_counts>;

/// What does not depend on the outcome, of each observed place.
struct Kind {
  std::size_t distance = k_first_use;  ///< 0: the line just used, 1: one other since, then by octaves
  std::int64_t before = -1;            ///< index among the observed places of the line's last use, or -1
};

std::vector<Kind> kinds_of(const SequenceRuns& group) {
  std::vector<Kind> kinds;
  std::vector<std::uint16_t> newest_first;
  std::map<std::uint16_t, std::int64_t> observed_at;
  std::size_t next = 0;
  for (std::uint32_t place = 0; place < group.lines.size(); ++place) {
    const std::uint16_t line = group.lines[place];
    const auto found = std::find(newest_first.begin(), newest_first.end(), line);
    Kind kind;
    if (found != newest_first.end()) {
      const auto others = static_cast<std::uint64_t>(found - newest_first.begin());
      kind.distance = others == 0 ? 0 : std::min<std::size_t>(std::bit_width(others - 1) + 1, k_first_use - 1);
      newest_first.erase(found);
    }
    newest_first.insert(newest_first.begin(), line);
    const bool observed = next < group.observed.size() && group.observed[next] == place;
    if (observed) {
      if (const auto before = observed_at.find(line); before != observed_at.end()) kind.before = before->second;
      kinds.push_back(kind);
    }
    observed_at[line] = observed ? static_cast<std::int64_t>(next++) : -1;
  }
  return kinds;
}

void count(const std::vector<Kind>& kinds, const std::vector<bool>& hits, Counts& counts) {
  for (std::size_t i = 0; i < kinds.size(); ++i) {
    const auto before = kinds[i].before;
    const std::size_t then = before < 0                               ? not_seen_before
                             : hits[static_cast<std::size_t>(before)] ? hit_before
                                                                      : missed_before;
    ++counts[count_index(kinds[i].distance, then, hits[i] ? 1 : 0)];
  }
}

/// Whether a count is none that chance gives, whose variance may exceed its mean.
bool unlikely(double seen, double mean, double dispersion) {
  const double nats = (seen > 0 ? seen * std::log(seen / mean) : 0) - (seen - mean);
  return nats > k_rejecting_nats * std::max(1.0, dispersion);
}

/// Counts seen, and expected without misreadings.
struct Comparison {
  Counts seen{};
  Counts mean{};
  Counts variance{};
  double least_mean = 0;  ///< what never came up in the simulations may still have that mean
  std::uint64_t runs = 0;
  /// Of the places that chance decides: at how many all repetitions missed, and hit, and the simulated share of hits.
  std::array<double, 2> unanimous{};
  std::vector<double> hit_share;

  void add_counts(const Comparison& other) {
    for (std::size_t i = 0; i < k_counts; ++i) {
      seen[i] += other.seen[i];
      mean[i] += other.mean[i];
      variance[i] += other.variance[i];
    }
    least_mean = std::max(least_mean, other.least_mean);
  }
};

Comparison compare(const SetCandidate& candidate, std::uint32_t ways, const SequenceRuns& group, Random random) {
  const auto kinds = kinds_of(group);
  Comparison result;
  for (const auto& run : group.runs) count(kinds, run, result.seen);
  std::vector<std::size_t> hit_count(kinds.size(), 0);
  Counts squares{};
  std::vector<bool> hits(kinds.size());
  constexpr auto simulations = static_cast<double>(k_simulations);
  for (std::size_t simulation = 0; simulation < k_simulations; ++simulation) {
    auto set = possible_start(candidate, ways, line_count(group.lines), group.starts_empty, random.fork(simulation));
    std::size_t next = 0;
    for (std::uint32_t place = 0; place < group.lines.size(); ++place) {
      const bool hit = set.access(group.lines[place]);
      if (next == group.observed.size() || group.observed[next] != place) continue;
      hit_count[next] += hit ? 1 : 0;
      hits[next++] = hit;
    }
    Counts counts{};
    count(kinds, hits, counts);
    for (std::size_t i = 0; i < k_counts; ++i) {
      result.mean[i] += counts[i];
      squares[i] += counts[i] * counts[i];
    }
  }
  result.runs = group.runs.size();
  const auto runs = static_cast<double>(result.runs);
  result.least_mean = 3 * runs / simulations;
  for (std::size_t i = 0; i < k_counts; ++i) {
    const double mean = result.mean[i] / simulations;
    const double variance = std::max(0.0, squares[i] / simulations - mean * mean) * simulations / (simulations - 1);
    result.mean[i] = runs * mean;
    result.variance[i] = variance * runs * (1 + runs / simulations);
  }
  for (std::size_t i = 0; i < kinds.size(); ++i) {
    if (hit_count[i] == 0 || hit_count[i] == k_simulations) continue;
    result.hit_share.push_back(static_cast<double>(hit_count[i]) / simulations);
    const auto hit = std::count_if(group.runs.begin(), group.runs.end(), [&](const auto& run) { return run[i]; });
    if (hit == 0) ++result.unanimous[0];
    if (static_cast<std::size_t>(hit) == group.runs.size()) ++result.unanimous[1];
  }
  return result;
}

/// Expected counts of one distance once readings are wrong at a rate: outcomes of now and of before change places.
double misread_mean(const Counts& mean, std::size_t distance, std::size_t before, std::size_t now, double rate) {
  const auto read_now = [&](std::size_t then) {
    return (1 - rate) * mean[count_index(distance, then, now)] + rate * mean[count_index(distance, then, 1 - now)];
  };
  if (before == not_seen_before) return read_now(before);
  return (1 - rate) * read_now(before) + rate * read_now(1 - before);
}

struct Fitting {
  std::uint64_t counts = 0;
  std::uint64_t inside = 0;
  void add(bool is_inside) {
    ++counts;
    inside += is_inside ? 1 : 0;
  }
};

void add_counts_inside(const Comparison& comparison, double rate, Fitting& fitting) {
  for (std::size_t distance = 0; distance < k_distances; ++distance)
    for (std::size_t before = 0; before < 3; ++before)
      for (std::size_t now = 0; now < 2; ++now) {
        const std::size_t i = count_index(distance, before, now);
        const double expected = misread_mean(comparison.mean, distance, before, now, rate);
        if (comparison.seen[i] == 0 && expected == 0) continue;
        const double mean = std::max(expected, comparison.least_mean);
        fitting.add(!unlikely(comparison.seen[i], mean, comparison.variance[i] / mean));
      }
}

/// Whether the repetitions of a sequence agree as often as those of chance do.
void add_unanimous_inside(const Comparison& comparison, double rate, Fitting& fitting) {
  if (comparison.runs < 2) return;
  std::array<double, 2> mean{comparison.least_mean, comparison.least_mean};
  for (const double share : comparison.hit_share) {
    const double hit = (1 - rate) * share + rate * (1 - share);
    mean[0] += std::pow(1 - hit, static_cast<double>(comparison.runs));
    mean[1] += std::pow(hit, static_cast<double>(comparison.runs));
  }
  for (const std::size_t outcome : {0U, 1U})
    fitting.add(!unlikely(comparison.unanimous[outcome], mean[outcome], k_agreement_dispersion));
}

/// In how many readings repetitions are expected to differ by chance alone.
double expected_differences(std::span<const Comparison> comparisons) {
  double sum = 0;
  for (const auto& one : comparisons) {
    if (one.runs < 2) continue;
    for (const double share : one.hit_share) sum += static_cast<double>(one.runs) * share * (1 - share);
  }
  return sum;
}

}  // namespace

CandidateVerdict judge_by_chance(const SetCandidate& candidate, std::uint32_t ways,
                                 std::span<const SequenceRuns> groups, const ReplacementOptions& options) {
  std::vector<Comparison> comparisons;
  Comparison all;
  for (std::size_t g = 0; g < groups.size(); ++g) {
    comparisons.push_back(compare(candidate, ways, groups[g], Random(options.seed).fork(g)));
    all.add_counts(comparisons.back());
  }
  // One rate of misreadings has to do for all counts.
  CandidateVerdict verdict;
  verdict.rejected = true;
  for (int step = 0; step < k_rates && verdict.rejected; ++step) {
    const double rate = options.misread_rate * step / (k_rates - 1);
    Fitting fitting;
    add_counts_inside(all, rate, fitting);
    for (const auto& one : comparisons) {
      add_counts_inside(one, rate, fitting);
      add_unanimous_inside(one, rate, fitting);
    }
    if (fitting.counts == 0) break;
    const double agreement = static_cast<double>(fitting.inside) / static_cast<double>(fitting.counts);
    if (agreement < verdict.agreement) continue;
    verdict.agreement = agreement;
    verdict.predicted = fitting.counts;
    verdict.rejected = fitting.inside < fitting.counts;
  }
  verdict.tried = expected_differences(comparisons) >= k_least_differences;
  return verdict;
}

}  // namespace gpusonde
