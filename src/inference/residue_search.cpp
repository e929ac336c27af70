// A beam search from the highest windows down. In a window above a term's shift only its modulus matters, so most
// hypotheses share what they predict there, and a window inside decides on the shift.
#include "inference/residue_search.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <map>
#include <numeric>
#include <tuple>

#include "inference/gf2.hpp"
#include "inference/invariance.hpp"

namespace gpusonde {
namespace {

constexpr std::size_t k_kept_a_modulus = 3;
constexpr unsigned k_fewest_invariant = 2;  ///< dimensions; one may be chance
constexpr unsigned k_beam_slack = 1;  ///< dimensions that a hypothesis may lag behind and still win in lower windows

using Terms = std::vector<ResidueTerm>;
using TermsKey = std::vector<std::tuple<unsigned, std::uint64_t, std::uint32_t>>;

struct Candidate {
  Terms terms;
  Gf2Span invariant;
};

/// The terms as they act in windows from this bit up: at or above the shift the addend and the shift do not matter.
TermsKey as_seen_from(const Terms& terms, unsigned lowest_bit) {
  TermsKey key;
  for (const auto& term : terms)
    key.emplace_back(std::max(term.shift, lowest_bit), term.shift > lowest_bit ? term.addend : 0, term.modulus);
  return key;
}

std::vector<Candidate> beam(std::span<const WindowGroup> groups, std::vector<Candidate> candidates,
                            double label_error_rate) {
  for (const auto& group : groups) {
    const auto lowest_bit = static_cast<unsigned>(std::countr_zero(group.bits));
    const PairCounter counter(group);
    std::map<TermsKey, std::vector<std::uint64_t>> seen;
    unsigned most = 0;
    for (auto& candidate : candidates) {
      auto key = as_seen_from(candidate.terms, lowest_bit);
      auto found = seen.find(key);
      if (found == seen.end())
        found = seen.emplace(std::move(key), counter.invariant_differences(candidate.terms, label_error_rate)).first;
      for (const auto difference : found->second) candidate.invariant.insert(difference);
      most = std::max(most, candidate.invariant.rank());
    }
    if (most == 0) return {};
    std::erase_if(candidates, [most](const Candidate& each) { return each.invariant.rank() + k_beam_slack < most; });
  }
  return candidates;
}

/// Fewest keys first. A wrong shift may leave as much invariant in each window as the right one, but not all sums.
std::vector<ResidueHypothesis> best_of(std::span<const WindowGroup> groups, std::vector<Candidate> candidates,
                                       std::uint64_t varying_bits, double label_error_rate) {
  std::vector<ResidueHypothesis> hypotheses;
  for (auto& candidate : candidates) {
    if (candidate.invariant.rank() == 0) continue;
    double key_bits = static_cast<double>(std::popcount(varying_bits)) - candidate.invariant.rank();
    for (const auto& term : candidate.terms) key_bits += std::log2(term.modulus);
    hypotheses.push_back({std::move(candidate.terms), candidate.invariant.echelon(), key_bits});
  }
  std::stable_sort(hypotheses.begin(), hypotheses.end(),
                   [](const auto& a, const auto& b) { return a.key_bits < b.key_bits; });
  std::vector<PairCounter> counters;
  for (const auto& group : groups) counters.emplace_back(group);
  std::vector<ResidueHypothesis> best;
  for (auto& hypothesis : hypotheses) {
    const auto refuted = std::any_of(counters.rbegin(), counters.rend(), [&](const PairCounter& counter) {
      return counter.refutes(hypothesis.invariant, hypothesis.terms, label_error_rate);
    });
    if (!refuted) best.push_back(std::move(hypothesis));
    if (best.size() == k_kept_a_modulus) break;
  }
  return best;
}

unsigned first_bit(std::uint64_t bits) { return static_cast<unsigned>(std::countr_zero(bits)); }
unsigned last_bit(std::uint64_t bits) { return 63U - static_cast<unsigned>(std::countl_zero(bits)); }

std::vector<Candidate> one_term_candidates(std::uint64_t varying_bits, std::uint32_t modulus) {
  if (modulus == 1) return {Candidate{}};
  std::vector<Candidate> candidates;
  for (auto shift = first_bit(varying_bits); shift <= last_bit(varying_bits); ++shift) {
    candidates.push_back({{{shift, 0, modulus}}, {}});
    // Half a unit rounds to the nearest; half of the first bit's would be within a line.
    if (shift > first_bit(varying_bits))
      candidates.push_back({{{shift, std::uint64_t{1} << (shift - 1), modulus}}, {}});
  }
  return candidates;
}

}  // namespace

std::vector<std::uint32_t> promising_moduli(std::span<const WindowGroup> groups, std::uint64_t varying_bits,
                                            double label_error_rate) {
  std::vector<std::pair<std::uint32_t, unsigned>> found;
  unsigned most = 0;
  for (std::uint32_t modulus = 1; modulus <= k_greatest_modulus; modulus += 2) {
    const auto kept = beam(groups.first(1), one_term_candidates(varying_bits, modulus), label_error_rate);
    unsigned invariant = 0;
    for (const auto& candidate : kept) invariant = std::max(invariant, candidate.invariant.rank());
    if (invariant >= k_fewest_invariant) found.emplace_back(modulus, invariant);
    most = std::max(most, invariant);
  }
  std::vector<std::uint32_t> moduli;
  for (const auto& [modulus, invariant] : found)
    if (invariant + k_beam_slack >= most) moduli.push_back(modulus);
  return moduli;
}

std::vector<ResidueHypothesis> one_term_hypotheses(std::span<const WindowGroup> groups, std::uint64_t varying_bits,
                                                   std::uint32_t modulus, double label_error_rate) {
  return best_of(groups, beam(groups, one_term_candidates(varying_bits, modulus), label_error_rate), varying_bits,
                 label_error_rate);
}

std::vector<ResidueHypothesis> two_term_hypotheses(std::span<const WindowGroup> groups, std::uint64_t varying_bits,
                                                   std::uint32_t modulus, double label_error_rate) {
  std::vector<Candidate> candidates;
  for (std::uint32_t one = 3; one <= modulus; one += 2)
    for (std::uint32_t other = 3; other <= modulus; other += 2) {
      if (std::lcm(one, other) != modulus) continue;
      for (auto low = first_bit(varying_bits); low < last_bit(varying_bits); ++low)
        for (auto high = low + 1; high <= last_bit(varying_bits); ++high)
          candidates.push_back({{{low, 0, one}, {high, 0, other}}, {}});
    }
  return best_of(groups, beam(groups, std::move(candidates), label_error_rate), varying_bits, label_error_rate);
}

}  // namespace gpusonde
