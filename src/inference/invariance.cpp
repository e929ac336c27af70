// Counting pairs in windows, and the subspace that the counts support.
#include "inference/invariance.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>

#include "inference/gf2.hpp"

namespace gpusonde {
namespace {

/// Of two equally frequent classes, so many random pairs agree once in 10^7.
constexpr std::uint32_t k_fewest_pairs = 24;
constexpr double k_tolerated_open_sums = 0.1;  ///< share; with wrong labels some sums are refused by chance
constexpr std::uint16_t k_no_residue = 65535;  ///< of an address without a label
constexpr std::uint16_t k_no_partner = 65534;  ///< the same, as the partner of another: they make no pair

bool accepted(const DifferenceEvidence& evidence, double label_error_rate) {
  return evidence.pairs >= k_fewest_pairs &&
         evidence.disagreeing <= tolerated_disagreeing(evidence.pairs, label_error_rate);
}

/// The residues of each address of a window as one number; k_no_residue where the label is missing.
std::vector<std::uint16_t> residues_in(const AddressWindow& window, std::uint64_t bits,
                                       std::span<const ResidueTerm> terms) {
  std::vector<std::uint16_t> residues(window.class_by_index.size(), k_no_residue);
  std::uint64_t combination = 0;
  for (std::size_t index = 0; index < residues.size(); ++index, combination = (combination - bits) & bits) {
    if (window.class_by_index[index] == AddressWindow::k_missing) continue;
    std::uint32_t value = 0;
    for (const auto& term : terms) value = value * term.modulus + term(window.base | combination);
    residues[index] = static_cast<std::uint16_t>(value);
  }
  return residues;
}

PairCounter::Lanes in_lanes(const std::vector<std::uint16_t>& values) {
  PairCounter::Lanes lanes;
  for (std::size_t difference = 0; difference < lanes.size(); ++difference) {
    lanes[difference].resize(values.size());
    for (std::size_t index = 0; index < values.size(); ++index) lanes[difference][index] = values[index ^ difference];
  }
  return lanes;
}

struct WindowResidues {
  std::vector<std::uint16_t> own;
  PairCounter::Lanes partners;
};

/// Eight values compared or added at once.
typedef std::uint16_t Block __attribute__((vector_size(2 * PairCounter::k_lanes)));

Block block_at(const std::vector<std::uint16_t>& values, std::size_t at) {
  Block block;
  std::memcpy(&block, &values[at], sizeof block);
  return block;
}

std::uint32_t sum(const Block& block) {
  std::uint32_t total = 0;
  for (std::size_t i = 0; i < PairCounter::k_lanes; ++i) total += block[i];
  return total;
}

bool any(const Block& block) {
  const auto halves = std::bit_cast<std::array<std::uint64_t, 2>>(block);
  return (halves[0] | halves[1]) != 0;
}

/// False when `evidence` is decided before the window ends.
bool count_pairs(const WindowResidues& residues, const PairCounter::Lanes& classes, std::size_t difference,
                 double label_error_rate, DifferenceEvidence& evidence) {
  const auto within = difference % PairCounter::k_lanes;
  const auto between = difference - within;
  // Blocks without the leading bit, so that each pair comes once; within a block each comes twice.
  const auto leading = std::bit_floor(between);
  const std::uint32_t times = between == 0 ? 2 : 1;
  const auto before = evidence;
  Block pairs{};
  Block disagreeing{};
  const auto counted = [&] {
    return DifferenceEvidence{before.pairs + sum(pairs) / times, before.disagreeing + sum(disagreeing) / times};
  };
  for (std::size_t at = 0; at < residues.own.size(); at += PairCounter::k_lanes) {
    if ((at & leading) != 0) continue;
    const auto partner = at ^ between;
    // All ones, which is -1, in each lane that has a pair.
    const auto pair = std::bit_cast<Block>(block_at(residues.own, at) == block_at(residues.partners[within], partner));
    const auto differs = std::bit_cast<Block>(block_at(classes[0], at) != block_at(classes[within], partner));
    pairs -= pair;
    if (!any(pair & differs)) continue;
    disagreeing -= pair & differs;
    evidence = counted();
    if (clearly_seen(evidence, label_error_rate)) return false;
  }
  evidence = counted();
  return true;
}

std::vector<WindowResidues> prepare_residues(const WindowGroup& group, std::span<const ResidueTerm> terms) {
  std::vector<WindowResidues> residues;
  for (const auto& window : group.windows) {
    auto values = residues_in(window, group.bits, terms);
    auto lanes = in_lanes(values);
    for (auto& lane : lanes) std::replace(lane.begin(), lane.end(), k_no_residue, k_no_partner);
    residues.push_back({std::move(values), std::move(lanes)});
  }
  return residues;
}

DifferenceEvidence count_in_all(const std::vector<WindowResidues>& residues,
                                const std::vector<PairCounter::Lanes>& classes, std::size_t difference,
                                double label_error_rate) {
  DifferenceEvidence evidence;
  for (std::size_t i = 0; i < residues.size(); ++i)
    if (!count_pairs(residues[i], classes[i], difference, label_error_rate, evidence)) break;
  return evidence;
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

PairCounter::PairCounter(const WindowGroup& group) : m_group(&group) {
  for (const auto& window : group.windows) {
    // A missing label's residue equals no other, so its class is never looked at.
    m_classes.push_back(in_lanes({window.class_by_index.begin(), window.class_by_index.end()}));
  }
}

std::vector<std::uint64_t> PairCounter::invariant_differences(std::span<const ResidueTerm> terms,
                                                              double label_error_rate) const {
  const auto residues = prepare_residues(*m_group, terms);
  std::vector<DifferenceEvidence> by_difference(std::size_t{1} << std::popcount(m_group->bits));
  for (std::size_t difference = 1; difference < by_difference.size(); ++difference)
    by_difference[difference] = count_in_all(residues, m_classes, difference, label_error_rate);
  auto basis = invariant_subspace(by_difference, label_error_rate);
  for (auto& difference : basis) difference = spread_bits(difference, m_group->bits);
  return basis;
}

bool PairCounter::refutes(std::span<const std::uint64_t> invariant, std::span<const ResidueTerm> terms,
                          double label_error_rate) const {
  const auto residues = prepare_residues(*m_group, terms);
  std::vector<std::uint64_t> all_of_window;
  for (auto bits = m_group->bits; bits != 0; bits &= bits - 1) all_of_window.push_back(bits & (~bits + 1));
  const auto members = span_members(span_intersection(invariant, all_of_window));
  const double tolerated = label_error_rate > 0 ? k_tolerated_open_sums : 0;
  std::size_t refused = 0;
  for (const auto difference : members) {
    if (difference == 0) continue;
    const auto evidence = count_in_all(residues, m_classes, pack_bits(difference, m_group->bits), label_error_rate);
    refused += clearly_seen(evidence, label_error_rate) ? 1 : 0;
    if (static_cast<double>(refused) > tolerated * static_cast<double>(members.size())) return true;
  }
  return false;
}

}  // namespace gpusonde
