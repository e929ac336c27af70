#include "inference/agreement.hpp"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <map>

namespace gpusonde {
namespace {

constexpr std::size_t k_most_masks_transformed = 16;

// Pairs agree more than half of the time where lines are uneven; less often only since they do not conflict.
std::int32_t unevenness(std::int32_t sum, bool are_pairs) { return are_pairs ? sum : std::abs(sum); }

// Signed counts of all sums of masks by a fast Walsh-Hadamard transform of the packed values' histogram.
double largest_sum_over_all(std::span<const BitRow> masks, const Background& background) {
  std::vector<std::int32_t> counts(std::size_t{1} << masks.size());
  for (const auto& row : background.rows) ++counts[packed_value(masks, row)];
  for (std::size_t half = 1; half < counts.size(); half *= 2)
    for (std::size_t i = 0; i < counts.size(); ++i) {
      if ((i & half) != 0) continue;
      const auto a = counts[i];
      const auto b = counts[i + half];
      counts[i] = a + b;
      counts[i + half] = a - b;
    }
  std::int32_t largest = 0;
  for (std::size_t i = 1; i < counts.size(); ++i)
    largest = std::max(largest, unevenness(counts[i], background.are_pairs));
  return largest;
}

double largest_sum_over_masks(std::span<const BitRow> masks, const Background& background) {
  std::int32_t largest = 0;
  for (const auto& mask : masks) {
    std::int32_t sum = 0;
    for (const auto& row : background.rows) sum += mask.dot(row) ? -1 : 1;
    largest = std::max(largest, unevenness(sum, background.are_pairs));
  }
  return largest;
}

}  // namespace

double evidence_nats(std::size_t agreeing, std::size_t count, double chance) {
  if (count == 0 || chance >= 1) return 0;
  const auto total = static_cast<double>(count);
  const double share = static_cast<double>(agreeing) / total;
  if (share <= chance) return 0;
  double nats = share * std::log(share / chance);
  if (share < 1) nats += (1 - share) * std::log((1 - share) / (1 - chance));
  return total * nats;
}

std::uint64_t packed_value(std::span<const BitRow> masks, const BitRow& row) noexcept {
  std::uint64_t value = 0;
  for (std::size_t i = 0; i < masks.size(); ++i) value |= std::uint64_t{masks[i].dot(row)} << i;
  return value;
}

double largest_bias(std::span<const BitRow> masks, const Background& background) {
  if (background.rows.empty()) return 1;
  const bool all = masks.size() <= k_most_masks_transformed;
  const double sum = all ? largest_sum_over_all(masks, background) : largest_sum_over_masks(masks, background);
  const auto count = static_cast<double>(background.rows.size());
  // The largest of n sums of random signs stays below sqrt(2 ln n) standard deviations, about.
  const auto number = static_cast<double>(masks.size());
  const double log_sums = all ? number * std::log(2.0) : std::log(number);
  const double chance = 1.2 * std::sqrt(2 * log_sums / count);
  const double bias = sum / count <= chance ? 0 : sum / count;
  // Two lines agree with probability p^2 + (1 - p)^2 = (1 + bias^2) / 2.
  return background.are_pairs ? std::sqrt(bias) : bias;
}

std::size_t count_agreeing(std::span<const BitRow> masks, std::span<const std::vector<BitRow>> groups) {
  return static_cast<std::size_t>(std::count_if(groups.begin(), groups.end(), [&](const auto& group) {
    return std::all_of(group.begin(), group.end(),
                       [&](const BitRow& difference) { return packed_value(masks, difference) == 0; });
  }));
}

double chance_of_agreement(double bias, std::span<const std::vector<BitRow>> groups) {
  if (groups.empty()) return 1;
  double sum = 0;
  for (const auto& group : groups) {
    const auto lines = static_cast<double>(group.size() + 1);
    sum += std::pow((1 + bias) / 2, lines) + std::pow((1 - bias) / 2, lines);
  }
  return sum / static_cast<double>(groups.size());
}

std::uint64_t most_common(std::vector<std::uint64_t> values) {
  std::sort(values.begin(), values.end());
  std::uint64_t best = 0;
  std::ptrdiff_t most = 0;
  for (auto at = values.begin(); at != values.end();) {
    const auto end = std::upper_bound(at, values.end(), *at);
    if (end - at > most) {
      most = end - at;
      best = *at;
    }
    at = end;
  }
  return best;
}

double chance_of_repeats(std::span<const BitRow> masks, std::span<const std::vector<BitRow>> groups) {
  std::map<std::uint64_t, std::size_t> repeats;
  std::size_t contradicting = 0;
  for (const auto& group : groups) {
    std::vector<std::uint64_t> values{0};
    for (const auto& difference : group) values.push_back(packed_value(masks, difference));
    const auto usual = most_common(values);
    std::uint64_t other = usual;
    bool alike = true;
    for (const auto value : values) {
      if (value == usual) continue;
      if (other != usual && other != value) alike = false;
      other = value;
    }
    if (other == usual) continue;
    ++contradicting;
    if (alike) ++repeats[other ^ usual];
  }
  const double kinds = std::exp2(static_cast<double>(masks.size())) - 1;
  double least = 1;
  for (const auto& [violation, count] : repeats) {
    if (count < 2) continue;
    double chance = std::pow(kinds, 1 - static_cast<double>(count));
    for (std::size_t i = 0; i < count; ++i)
      chance *= static_cast<double>(contradicting - i) / static_cast<double>(count - i);
    least = std::min(least, chance);
  }
  return least;
}

}  // namespace gpusonde
