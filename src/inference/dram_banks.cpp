#include "inference/dram_banks.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "inference/statistics.hpp"
#include "inference/two_heaps.hpp"

namespace gpusonde {
namespace {

constexpr std::size_t k_least_pairs = 64;
constexpr double k_least_gap_cycles = 3;
constexpr double k_least_gap_sigmas = 6;
constexpr double k_least_share = 0.01;
constexpr double k_most_missed = 0.02;
constexpr double k_most_contradicting = 0.02;

}  // namespace

PairKinds kinds_of_pairs(std::span<const double> extra, double activate_cycles) {
  PairKinds result;
  if (extra.size() < k_least_pairs) {
    result.trouble = fmt::format("{} pairs of lines with the same latency: too few to tell channels", extra.size());
    return result;
  }
  // Most pairs share nothing, or only the pins; one of a bank takes at least an activation more.
  const double middle = quantile(extra, 0.25);
  const double bank_cut = middle + 0.75 * activate_cycles;
  // Lines of one row wait for its columns, which is between the two.
  const double row_cut = middle + 0.2 * activate_cycles;
  std::vector<double> plain;
  for (const double value : extra)
    if (value < row_cut) plain.push_back(value);
  if (plain.size() < k_least_pairs) {
    result.trouble = "nearly all pairs of lines wait for each other";
    return result;
  }
  const auto heaps = two_heaps(plain);
  std::vector<double> low, high;
  for (const double value : plain) (value < heaps.cut ? low : high).push_back(value);
  const double scatter = low.empty() ? 0 : std::max(mad_sigma(low), mad_sigma(high));
  const double gap = low.empty() ? 0 : median(high) - median(low);
  const double share = static_cast<double>(high.size()) / static_cast<double>(plain.size());
  result.channel_cycles = gap;
  result.scatter_cycles = scatter;
  if (gap < k_least_gap_cycles || gap < k_least_gap_sigmas * scatter || heaps.share_between > 0.05 ||
      share < k_least_share || share > 1 - k_least_share) {
    result.trouble = fmt::format(
        "pairs of lines do not part into those that share a channel's pins and others: {:.1f} cycles lie between two "
        "heaps that scatter by {:.1f}",
        gap, scatter);
    return result;
  }
  for (const double value : extra)
    result.kinds.push_back(value >= bank_cut                       ? PairKind::same_bank
                           : value >= heaps.cut && value < row_cut ? PairKind::same_channel
                                                                   : PairKind::apart);
  return result;
}

BankGroups group_banks(const std::vector<std::vector<bool>>& waits) {
  const std::size_t lines = waits.size();
  constexpr std::uint32_t k_none = 0xFFFFFFFF;
  BankGroups groups;
  groups.bank.assign(lines, k_none);
  for (std::size_t first = 0; first < lines; ++first) {
    if (groups.bank[first] != k_none) continue;
    std::vector<std::size_t> open{first};
    groups.bank[first] = groups.banks;
    while (!open.empty()) {
      const auto line = open.back();
      open.pop_back();
      for (std::size_t other = 0; other < lines; ++other) {
        if (!waits[line][other] || groups.bank[other] != k_none) continue;
        groups.bank[other] = groups.banks;
        open.push_back(other);
      }
    }
    ++groups.banks;
  }
  // Two lines of one group are of one row if they do not wait for each other; then they wait for the same others.
  for (std::size_t a = 0; a < lines; ++a)
    for (std::size_t b = 0; b < a; ++b) {
      if (groups.bank[a] != groups.bank[b] || waits[a][b]) continue;
      for (std::size_t c = 0; c < lines; ++c)
        if (c != a && c != b && waits[a][c] != waits[b][c]) {
          ++groups.contradictions;
          break;
        }
    }
  return groups;
}

Estimate bank_count(const BankGroups& groups) {
  const auto lines = groups.bank.size();
  if (groups.banks == 0 || lines < 8) return inconclusive("too few lines share a channel to count its banks");
  const auto pairs = static_cast<double>(lines) * static_cast<double>(lines - 1) / 2;
  if (static_cast<double>(groups.contradictions) > k_most_contradicting * pairs / groups.banks)
    return inconclusive(fmt::format("{} pairs of lines contradict each other about their bank", groups.contradictions));
  std::vector<std::size_t> sizes(groups.banks);
  for (const auto bank : groups.bank) ++sizes[bank];
  const auto single = std::count(sizes.begin(), sizes.end(), 1U);
  if (single > 0 && groups.banks > 1)
    return inconclusive(fmt::format("{} of {} lines wait for no other: banks of their own, or lines of another channel",
                                    single, lines));
  const double missed = std::pow(1 - 1.0 / (groups.banks + 1), static_cast<double>(lines));
  if (missed > k_most_missed)
    return inconclusive(fmt::format("{} lines of one channel lie in {} banks: so few that one more may be missed",
                                    lines, groups.banks));
  return exactly(groups.banks);
}

}  // namespace gpusonde
