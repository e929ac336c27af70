// Decides: every candidate is judged alone, and a name is given when those that stand share it.
#include "inference/replacement.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "inference/replacement_runs.hpp"

namespace gpusonde {
namespace {

ReplacementFit without_policy(Outcome outcome, std::string reason) {
  ReplacementFit fit;
  fit.outcome = outcome;
  fit.reason = std::move(reason);
  return fit;
}

struct Standing {
  const SetCandidate* candidate = nullptr;
  CandidateVerdict verdict;
};

bool better(const CandidateVerdict& left, const CandidateVerdict& right) {
  if (left.rejected != right.rejected) return !left.rejected;
  if (left.tried != right.tried) return left.tried;
  return left.agreement > right.agreement;
}

/// The best of each family, families in their order.
std::vector<ReplacementAgreement> best_of_families(std::span<const Standing> standings) {
  std::vector<const Standing*> best;
  for (const auto& standing : standings) {
    if (best.empty() || best.back()->candidate->family != standing.candidate->family) {
      best.push_back(&standing);
    } else if (better(standing.verdict, best.back()->verdict)) {
      best.back() = &standing;
    }
  }
  std::vector<ReplacementAgreement> list;
  for (const auto* one : best)
    list.push_back({one->candidate->family, one->candidate->variant, !one->verdict.rejected, one->verdict.agreement,
                    one->verdict.predicted});
  return list;
}

/// Where the start is not known, what stands is let off some mistakes; not where another one makes far fewer.
void rule_out_beaten(std::vector<Standing>& standings) {
  const Standing* best = nullptr;
  const auto stands = [](const Standing& one) { return !one.verdict.rejected && !one.candidate->by_chance; };
  const auto wrong_share = [](const Standing& one) {
    return static_cast<double>(one.verdict.wrong_places) / static_cast<double>(one.verdict.places);
  };
  for (const auto& one : standings)
    if (stands(one) && one.verdict.tried && one.verdict.places > 0 &&
        (best == nullptr || wrong_share(one) < wrong_share(*best)))
      best = &one;
  if (best == nullptr) return;
  const CandidateVerdict by = best->verdict;
  for (auto& one : standings)
    if (stands(one) && is_beaten(one.verdict, by)) one.verdict.rejected = true;
}

std::string joined(const std::vector<std::string>& names) {
  std::string text;
  for (std::size_t i = 0; i < names.size(); ++i)
    text += (i == 0 ? "" : i + 1 == names.size() ? " and " : ", ") + names[i];
  return text;
}

// Of those that predict accesses; chance predicts none.
std::string reason_for_none(std::span<const Standing> standings) {
  const Standing* nearest = nullptr;
  for (const auto& standing : standings)
    if (!standing.candidate->by_chance && standing.verdict.tried &&
        (nearest == nullptr || standing.verdict.agreement > nearest->verdict.agreement))
      nearest = &standing;
  if (nearest == nullptr) return "too few accesses can be predicted, whatever the policy";
  const auto tenths = static_cast<int>(std::ceil(nearest->verdict.agreement * 1000));
  return "no known policy predicts more than " + std::to_string(tenths / 10) + "." + std::to_string(tenths % 10) +
         " % of the accesses and leaves no more than misreadings; the nearest is " + nearest->candidate->family;
}

}  // namespace

ReplacementFit infer_replacement(std::uint32_t ways, std::span<const ObservedSequence> table,
                                 const ReplacementOptions& options) {
  if (ways == 0 || ways > k_most_set_ways)
    return without_policy(Outcome::unsupported,
                          "replacement is told for sets of 2 to 64 ways, and this one has " + std::to_string(ways));
  if (ways == 1) return without_policy(Outcome::unsupported, "one way: nothing to replace");
  if (!(options.misread_rate >= 0 && options.misread_rate < 0.25))
    return without_policy(Outcome::inconclusive, "a quarter of the accesses or more are misread");
  if (auto trouble = trouble_with(table); !trouble.empty())
    return without_policy(Outcome::inconclusive, std::move(trouble));

  const auto groups = group_runs(table);
  const auto candidates = set_candidates(ways);
  std::vector<Standing> standings;
  const bool some_empty = std::any_of(groups.begin(), groups.end(), [](const auto& one) { return one.starts_empty; });
  for (const auto& candidate : candidates) {
    if (candidate.of_empty_sets && !some_empty) continue;
    standings.push_back({&candidate, candidate.by_chance ? judge_by_chance(candidate, ways, groups, options)
                                                         : judge_certain(candidate, ways, groups, options)});
  }
  rule_out_beaten(standings);
  ReplacementFit fit;
  fit.agreements = best_of_families(standings);
  for (const auto& agreement : fit.agreements)
    if (agreement.survives) fit.survivors.push_back(agreement.policy);
  if (fit.survivors.empty()) {
    fit.reason = reason_for_none(standings);
    return fit;
  }
  if (fit.survivors.size() > 1) {
    fit.reason = "the accesses do not tell " + joined(fit.survivors) + " apart";
    return fit;
  }
  std::vector<const Standing*> standing;
  for (const auto& one : standings)
    if (!one.verdict.rejected) standing.push_back(&one);
  if (std::none_of(standing.begin(), standing.end(), [](const Standing* one) { return one->verdict.tried; })) {
    fit.reason = "too few accesses speak for " + fit.survivors.front() + ", the only policy not ruled out";
    return fit;
  }
  fit.outcome = Outcome::ok;
  fit.policy = fit.survivors.front();
  if (standing.size() == 1) fit.variant = standing.front()->candidate->variant;
  return fit;
}

}  // namespace gpusonde
