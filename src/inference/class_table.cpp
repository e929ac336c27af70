// Majorities by key, and invariance of a sparse table.
#include "inference/class_table.hpp"

#include <algorithm>
#include <numeric>

#include "inference/gf2.hpp"
#include "inference/invariance.hpp"

namespace gpusonde {
namespace {

constexpr std::uint32_t k_most_votes = 100;

}  // namespace

MajorityTable majority_table(std::span<const ClassSample> samples, std::span<const std::size_t> keys,
                             std::size_t key_count) {
  std::vector<std::size_t> order(samples.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
    return std::pair(keys[a], samples[a].class_index) < std::pair(keys[b], samples[b].class_index);
  });
  MajorityTable table{
      std::vector<std::int32_t>(key_count, ClassFunction::k_never_seen), {}, std::vector<std::uint32_t>(key_count), 0};
  for (std::size_t first = 0; first < order.size();) {
    const auto key = keys[order[first]];
    std::size_t most = 0;
    std::size_t at = first;
    while (at < order.size() && keys[order[at]] == key) {
      const auto class_index = samples[order[at]].class_index;
      const auto begin = at;
      while (at < order.size() && keys[order[at]] == key && samples[order[at]].class_index == class_index) ++at;
      if (at - begin <= most) continue;
      most = at - begin;
      table.class_by_key[key] = class_index;
    }
    table.seen.push_back(key);
    table.votes[key] = static_cast<std::uint32_t>(at - first);
    table.outvoted += at - first - most;
    first = at;
  }
  return table;
}

std::vector<std::uint64_t> needed_masks(std::span<const ClassSample> samples, const ClassKey& key, std::uint32_t sheets,
                                        double label_error_rate) {
  std::vector<std::size_t> keys;
  keys.reserve(samples.size());
  for (const auto& sample : samples) keys.push_back(sample.sheet * key.size() + key(sample.address));
  const auto table = majority_table(samples, keys, sheets * key.size());
  std::vector<DifferenceEvidence> by_difference(std::size_t{1} << key.masks.size());
  for (std::size_t difference = 1; difference < by_difference.size(); ++difference) {
    auto& evidence = by_difference[difference];
    for (const auto at : table.seen) {
      const auto other = at ^ difference;
      if (other < at || table.class_by_key[other] == ClassFunction::k_never_seen) continue;
      // A small table has few keys, but each stands for many samples.
      const auto weight = std::min({table.votes[at], table.votes[other], k_most_votes});
      evidence.pairs += weight;
      if (table.class_by_key[at] == table.class_by_key[other]) continue;
      evidence.disagreeing += weight;
      if (clearly_seen(evidence, label_error_rate)) break;
    }
  }
  const auto unseen = invariant_subspace(by_difference, label_error_rate);
  std::vector<std::uint64_t> needed;
  for (const auto choice : annihilator(unseen, by_difference.size() - 1)) {
    std::uint64_t mask = 0;
    for (std::size_t i = 0; i < key.masks.size(); ++i) mask ^= (choice >> i & 1U) != 0 ? key.masks[i] : 0;
    needed.push_back(mask);
  }
  return canonical_basis(needed);
}

}  // namespace gpusonde
