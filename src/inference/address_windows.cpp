// Runs of addresses that differ in few bits.
#include "inference/address_windows.hpp"

#include <algorithm>
#include <bit>
#include <map>

namespace gpusonde {
namespace {

constexpr int k_fewest_bits = 6;
constexpr int k_most_bits = 13;

struct Run {
  std::size_t end = 0;
  std::uint64_t bits = 0;
};

/// The run from `first` on that has the most addresses, weighted by the share of combinations that it has. A window
/// whose successor differs by a bit or two ends where it is full.
Run best_run(std::span<const ClassSample> samples, std::size_t first) {
  Run best{first + 1, 0};
  double best_score = 1;
  std::uint64_t bits = 0;
  for (std::size_t at = first + 1; at < samples.size() && samples[at].sheet == samples[first].sheet; ++at) {
    bits |= samples[at].address ^ samples[first].address;
    if (std::popcount(bits) > k_most_bits) break;
    const auto count = static_cast<double>(at + 1 - first);
    const double score = count * count / static_cast<double>(std::uint64_t{1} << std::popcount(bits));
    if (score <= best_score) continue;
    best_score = score;
    best = {at + 1, bits};
  }
  return best;
}

}  // namespace

std::uint64_t spread_bits(std::uint64_t index, std::uint64_t bits) noexcept {
  std::uint64_t address = 0;
  for (; bits != 0; bits &= bits - 1, index >>= 1)
    if ((index & 1U) != 0) address |= bits & (~bits + 1);
  return address;
}

std::uint64_t pack_bits(std::uint64_t address, std::uint64_t bits) noexcept {
  std::uint64_t index = 0;
  for (unsigned at = 0; bits != 0; bits &= bits - 1, ++at)
    if ((address & bits & (~bits + 1)) != 0) index |= std::uint64_t{1} << at;
  return index;
}

SplitSamples split_into_windows(std::span<const ClassSample> samples) {
  SplitSamples split;
  std::map<std::uint64_t, std::vector<AddressWindow>> by_bits;
  for (std::size_t first = 0; first < samples.size();) {
    const auto [end, bits] = best_run(samples, first);
    const auto combinations = std::size_t{1} << std::popcount(bits);
    if (std::popcount(bits) < k_fewest_bits || 2 * (end - first) < combinations) {
      split.loose.push_back(first++);
      continue;
    }
    AddressWindow window{samples[first].address & ~bits,
                         std::vector<std::int32_t>(combinations, AddressWindow::k_missing)};
    for (; first < end; ++first)
      window.class_by_index[pack_bits(samples[first].address, bits)] = samples[first].class_index;
    by_bits[bits].push_back(std::move(window));
  }
  for (auto& [bits, windows] : by_bits) split.groups.push_back({bits, std::move(windows)});
  std::stable_sort(split.groups.begin(), split.groups.end(), [](const WindowGroup& a, const WindowGroup& b) {
    return std::countr_zero(a.bits) > std::countr_zero(b.bits);
  });
  return split;
}

}  // namespace gpusonde
