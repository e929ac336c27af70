#include "inference/stride_consensus.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <map>
#include <numeric>

#include "core/random.hpp"
#include "inference/agreement.hpp"

namespace gpusonde {
namespace {

constexpr int k_trials = 100;
constexpr std::size_t k_quiet_differences = 8;

std::uint64_t distance(std::uint64_t a, std::uint64_t b) { return a > b ? a - b : b - a; }

std::size_t agreeing(std::span<const std::vector<std::uint64_t>> groups, std::uint64_t stride_bytes) {
  return static_cast<std::size_t>(std::count_if(groups.begin(), groups.end(), [&](const auto& group) {
    return std::all_of(group.begin(), group.end(),
                       [&](std::uint64_t line) { return distance(line, group.front()) % stride_bytes == 0; });
  }));
}

bool has_odd_divisor(std::uint64_t number) { return !std::has_single_bit(number); }

// Strides have few divisors below this; a larger prime makes chance agreement only rarer.
double smallest_prime_divisor(std::uint64_t number) {
  for (std::uint64_t divisor = 2; divisor < 1000; ++divisor)
    if (number % divisor == 0) return static_cast<double>(divisor);
  return 1000;
}

// Of an unrelated group, that all its lines agree as far as the smallest divisor goes.
double chance_agreement(std::span<const std::vector<std::uint64_t>> groups, double divisor) {
  double sum = 0;
  for (const auto& group : groups) sum += std::pow(divisor, 1 - static_cast<double>(group.size()));
  return sum / static_cast<double>(groups.size());
}

}  // namespace

StrideConsensus find_stride_consensus(std::span<const std::vector<std::uint64_t>> groups, std::size_t held_out,
                                      std::uint64_t unit_bytes, std::uint64_t seed) {
  Random random(seed);
  const std::size_t free_groups = groups.size() - held_out;
  std::map<std::uint64_t, bool> candidates;  // stride: whether most groups agree
  int unsettled = 0;
  StrideConsensus result;
  std::vector<std::size_t> order(free_groups);
  std::iota(order.begin(), order.end(), std::size_t{0});
  for (int trial = 0; trial < k_trials; ++trial) {
    std::uint64_t divisor = 0;
    std::size_t quiet = 0;
    for (std::size_t i = 0; i < free_groups && quiet < k_quiet_differences && divisor != unit_bytes; ++i) {
      std::swap(order[i], order[i + random.below(free_groups - i)]);
      const auto& group = groups[order[i]];
      for (std::size_t line = 1; line < group.size(); ++line) {
        const auto next = std::gcd(divisor, distance(group[line], group[0]));
        quiet = next == divisor ? quiet + 1 : 0;
        divisor = next;
      }
    }
    if (!has_odd_divisor(divisor / unit_bytes)) continue;
    if (quiet < k_quiet_differences) {
      ++unsettled;
      continue;
    }
    if (candidates.contains(divisor)) continue;
    const auto count = agreeing(groups, divisor);
    result.most_agreeing = std::max(result.most_agreeing, agreeing(groups.last(held_out), divisor));
    candidates[divisor] = static_cast<double>(count) >= k_least_agreement * static_cast<double>(groups.size());
  }
  const auto last = groups.last(held_out);
  for (auto at = candidates.rbegin(); at != candidates.rend(); ++at) {
    if (!at->second) continue;
    const double chance = chance_agreement(last, smallest_prime_divisor(at->first / unit_bytes));
    if (evidence_nats(agreeing(last, at->first), held_out, chance) < k_least_evidence_nats) {
      result.state = ConsensusState::undecided;
      result.reason =
          fmt::format("too few conflicts: a stride of {} bytes holds in {} of {} groups, which may be by chance",
                      at->first, agreeing(groups, at->first), groups.size());
      return result;
    }
    result.state = ConsensusState::found;
    result.stride_bytes = at->first;
    return result;
  }
  if (2 * unsettled > k_trials) result.state = ConsensusState::too_few;
  return result;
}

}  // namespace gpusonde
