// Counting pairs in windows, and the subspace that the counts support.
#include "inference/invariance.hpp"

#include <algorithm>
#include <bit>
#include <cmath>

#include "inference/gf2.hpp"

namespace gpusonde {
namespace {

/// Of two equally frequent classes, so many random pairs agree once in 10^7.
constexpr std::uint32_t k_fewest_pairs = 24;
constexpr double k_tolerated_open_sums = 0.1;  ///< share; with wrong labels some sums are refused by chance
constexpr std::uint32_t k_no_residue = ~std::uint32_t{0};

bool accepted(const DifferenceEvidence& evidence, double label_error_rate) {
  return evidence.pairs >= k_fewest_pairs &&
         evidence.disagreeing <= tolerated_disagreeing(evidence.pairs, label_error_rate);
}

/// The residues of each address of a window as one number; k_no_residue where the label is missing.
std::vector<std::uint32_t> residues_in(const AddressWindow& window, std::uint64_t bits,
                                       std::span<const ResidueTerm> terms) {
  std::vector<std::uint32_t> residues(window.class_by_index.size(), k_no_residue);
  std::uint64_t combination = 0;
  for (std::size_t index = 0; index < residues.size(); ++index, combination = (combination - bits) & bits) {
    if (window.class_by_index[index] == AddressWindow::k_missing) continue;
    std::uint32_t value = 0;
    for (const auto& term : terms) value = value * term.modulus + term(window.base | combination);
    residues[index] = value;
  }
  return residues;
}

/// False when `evidence` is decided before the window ends.
bool count_pairs(const AddressWindow& window, const std::vector<std::uint32_t>& residues, std::size_t difference,
                 double label_error_rate, DifferenceEvidence& evidence) {
  const auto leading = std::bit_floor(difference);
  // Indices without the leading bit, so that each pair comes once.
  for (std::size_t block = 0; block < residues.size(); block += 2 * leading)
    for (std::size_t index = block; index < block + leading; ++index) {
      const auto other = index ^ difference;
      if (residues[index] != residues[other] || residues[index] == k_no_residue) continue;
      ++evidence.pairs;
      if (window.class_by_index[index] == window.class_by_index[other]) continue;
      ++evidence.disagreeing;
      if (clearly_seen(evidence, label_error_rate)) return false;
    }
  return true;
}

}  // namespace

std::uint32_t tolerated_disagreeing(std::uint32_t pairs, double label_error_rate) noexcept {
  if (label_error_rate <= 0) return 0;
  const double expected = 2 * label_error_rate * pairs;
  return static_cast<std::uint32_t>(expected + 3 * std::sqrt(expected) + 0.5);
}

bool clearly_seen(const DifferenceEvidence& evidence, double label_error_rate) noexcept {
  const std::uint32_t slack = label_error_rate > 0 ? 2 : 0;
  return evidence.disagreeing > tolerated_disagreeing(evidence.pairs, label_error_rate) + slack;
}

std::vector<std::uint64_t> invariant_subspace(std::span<const DifferenceEvidence> by_difference,
                                              double label_error_rate) {
  std::vector<std::uint64_t> candidates;
  for (std::uint64_t difference = 1; difference < by_difference.size(); ++difference)
    if (accepted(by_difference[difference], label_error_rate)) candidates.push_back(difference);
  std::stable_sort(candidates.begin(), candidates.end(), [&by_difference](std::uint64_t a, std::uint64_t b) {
    return by_difference[a].pairs > by_difference[b].pairs;
  });
  const double tolerated = label_error_rate > 0 ? k_tolerated_open_sums : 0;
  Gf2Span span;
  std::vector<std::uint64_t> basis;
  std::vector<std::uint64_t> members{0};
  for (const auto candidate : candidates) {
    if (span.contains(candidate)) continue;
    std::size_t seen = 0;
    std::size_t refused = 0;
    for (const auto member : members) {
      const auto& evidence = by_difference[candidate ^ member];
      if (evidence.pairs < k_fewest_pairs && !clearly_seen(evidence, label_error_rate)) continue;
      ++seen;
      refused += accepted(evidence, label_error_rate) ? 0 : 1;
    }
    if (static_cast<double>(refused) > tolerated * static_cast<double>(seen)) continue;
    span.insert(candidate);
    basis.push_back(candidate);
    members = span_members(basis);
  }
  return basis;
}

std::vector<std::uint64_t> invariant_differences(const WindowGroup& group, std::span<const ResidueTerm> terms,
                                                 double label_error_rate) {
  std::vector<std::vector<std::uint32_t>> residues;
  for (const auto& window : group.windows) residues.push_back(residues_in(window, group.bits, terms));
  std::vector<DifferenceEvidence> by_difference(std::size_t{1} << std::popcount(group.bits));
  for (std::size_t difference = 1; difference < by_difference.size(); ++difference)
    for (std::size_t i = 0; i < group.windows.size(); ++i)
      if (!count_pairs(group.windows[i], residues[i], difference, label_error_rate, by_difference[difference])) break;
  auto basis = invariant_subspace(by_difference, label_error_rate);
  for (auto& difference : basis) difference = spread_bits(difference, group.bits);
  return basis;
}

}  // namespace gpusonde
