#include "inference/mask_consensus.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <numeric>
#include <utility>

#include "core/random.hpp"

namespace gpusonde {
namespace {

constexpr int k_most_trials = 200;
constexpr int k_least_trials = 30;
constexpr int k_enough_hits = 8;
constexpr std::size_t k_quiet_differences = 8;
constexpr double k_certainly_alike = 1e-4;  // contradictions so much alike refute a span
constexpr double k_least_considered = 0.5;  // of groups: such a span is no chance, but too much contradicts it
constexpr double k_perhaps_alike = 1e-2;    // and so much leave it open

enum class Standing { rejected, refuted, undecided, strong };

struct Candidate {
  RowSpace masks;
  Standing standing = Standing::rejected;
  std::size_t agreeing = 0;
  int hits = 0;
};

class Search {
 public:
  explicit Search(const MaskConsensusInput& input)
      : m_input(input), m_random(input.seed), m_order(input.groups.size() - input.held_out) {
    std::iota(m_order.begin(), m_order.end(), std::size_t{0});
  }

  MaskConsensus run() {
    int unsettled = 0;
    int trials = 0;
    for (; trials < k_most_trials && !settled_upon(trials); ++trials) {
      const auto subset = grown_subset();
      if (subset.empty())
        ++unsettled;
      else
        climb(subset);
    }
    return conclude(2 * unsettled > trials);
  }

 private:
  using Subset = std::vector<std::size_t>;

  [[nodiscard]] const Candidate* best() const {
    const Candidate* best = nullptr;
    for (const auto& [rows, candidate] : m_candidates)
      if (candidate.standing == Standing::strong && (best == nullptr || candidate.masks.rank() > best->masks.rank()))
        best = &candidate;
    return best;
  }

  [[nodiscard]] bool settled_upon(int trials) const {
    if (trials < k_least_trials) return false;
    const auto* found = best();
    return found != nullptr && found->hits >= k_enough_hits;
  }

  // Groups in random order until no mask falls away any more, or none is left; empty when the groups do not suffice.
  Subset grown_subset() {
    for (std::size_t i = m_order.size(); i > 1; --i) std::swap(m_order[i - 1], m_order[m_random.below(i)]);
    RowSpace span;
    std::size_t quiet = 0;
    const unsigned full = m_input.columns.weight();
    for (std::size_t i = 0; i < m_order.size(); ++i) {
      for (const auto& difference : m_input.groups[m_order[i]]) quiet = span.add(difference) ? 0 : quiet + 1;
      if (quiet >= k_quiet_differences || span.rank() == full)
        return {m_order.begin(), m_order.begin() + static_cast<std::ptrdiff_t>(i) + 1};
    }
    return {};
  }

  [[nodiscard]] RowSpace masks_of(const Subset& subset, std::size_t but) const {
    RowSpace span;
    for (const auto group : subset)
      if (group != but)
        for (const auto& difference : m_input.groups[group]) span.add(difference);
    return annihilator(span, m_input.columns);
  }

  // Each false member has cost a mask; without its group the mask comes back, and most groups agree with it.
  void climb(Subset subset) {
    const std::size_t none = m_input.groups.size();
    auto masks = masks_of(subset, none);
    if (!holds(masks)) return;
    for (bool higher = true; higher;) {
      higher = false;
      for (std::size_t i = 0; i < subset.size() && !higher; ++i) {
        auto more = masks_of(subset, subset[i]);
        if (more.rank() <= masks.rank() || !holds(more)) continue;
        masks = std::move(more);
        subset.erase(subset.begin() + static_cast<std::ptrdiff_t>(i));
        higher = true;
      }
    }
    if (masks.rank() > 0) ++m_candidates.at(masks.rows()).hits;
  }

  // Whether most groups agree; remembers the candidate.
  bool holds(const RowSpace& masks) {
    if (masks.rank() == 0) return true;
    if (masks.rank() > 64) return false;
    const auto known = m_candidates.find(masks.rows());
    if (known != m_candidates.end()) return known->second.standing != Standing::rejected;
    Candidate candidate{masks, Standing::rejected, count_agreeing(masks.rows(), m_input.groups), 0};
    m_most_agreeing = std::max(m_most_agreeing, count_agreeing(masks.rows(), m_input.groups.last(m_input.held_out)));
    candidate.standing = standing_of(candidate);
    if (candidate.standing == Standing::rejected) return false;
    m_candidates.emplace(masks.rows(), candidate);
    return true;
  }

  [[nodiscard]] Standing standing_of(const Candidate& candidate) const {
    const auto& masks = candidate.masks.rows();
    const double share = static_cast<double>(candidate.agreeing) / static_cast<double>(m_input.groups.size());
    if (share < k_least_considered) return Standing::rejected;
    const double alike = chance_of_repeats(masks, m_input.groups);
    if (alike < k_certainly_alike) return Standing::refuted;
    const bool evident = is_evident(candidate.masks);
    if (share < k_least_agreement) return evident ? Standing::undecided : Standing::rejected;
    return evident && alike >= k_perhaps_alike ? Standing::strong : Standing::undecided;
  }

  // Whether the held-out groups agree as no unrelated lines would.
  [[nodiscard]] bool is_evident(const RowSpace& masks) const {
    const double bias = largest_bias(masks.rows(), m_input.background);
    const auto held_out = m_input.groups.last(m_input.held_out);
    const double chance = chance_of_agreement(bias, held_out);
    return evidence_nats(count_agreeing(masks.rows(), held_out), held_out.size(), chance) >= k_least_evidence_nats;
  }

  // Whether masks come back when one of the groups that agree is left out. That group may be the one with a false
  // member, so a function is known only when two groups rule out whatever is no part of it.
  [[nodiscard]] bool hangs_on_one_group(const RowSpace& masks) const {
    Subset agree;
    Subset growing;  // only these can be needed
    RowSpace span;
    for (std::size_t i = 0; i < m_input.groups.size(); ++i) {
      if (count_agreeing(masks.rows(), m_input.groups.subspan(i, 1)) == 0) continue;
      agree.push_back(i);
      const auto rank = span.rank();
      for (const auto& difference : m_input.groups[i]) span.add(difference);
      if (span.rank() > rank) growing.push_back(i);
    }
    return std::any_of(growing.begin(), growing.end(),
                       [&](std::size_t group) { return masks_of(agree, group).rank() > masks.rank(); });
  }

  [[nodiscard]] std::string doubt(const Candidate& candidate) const {
    const auto all = m_input.groups.size();
    const bool contradicted = static_cast<double>(candidate.agreeing) < k_least_agreement * static_cast<double>(all);
    return fmt::format("{}: {} masks hold in {} of {} groups{}",
                       contradicted ? "too many false members" : "too few conflicts", candidate.masks.rank(),
                       candidate.agreeing, all, contradicted ? "" : ", which may be by chance");
  }

  [[nodiscard]] MaskConsensus undecided(std::string reason) const {
    return {ConsensusState::undecided, std::move(reason), {}, m_most_agreeing};
  }

  [[nodiscard]] MaskConsensus conclude(bool mostly_unsettled) const {
    MaskConsensus result;
    result.most_agreeing = m_most_agreeing;
    const auto* found = best();
    const unsigned rank = found == nullptr ? 0 : found->masks.rank();
    for (const auto& [rows, candidate] : m_candidates) {
      if (candidate.standing == Standing::undecided && candidate.masks.rank() > rank)
        return undecided(doubt(candidate));
      const bool rival = candidate.standing == Standing::strong && candidate.masks.rank() == rank;
      if (rival && &candidate != found)
        result.reason = fmt::format("two different sets of {} masks explain most groups", rank);
    }
    if (!result.reason.empty()) return undecided(result.reason);
    if (found != nullptr && hangs_on_one_group(found->masks))
      return undecided(
          fmt::format("too few conflicts: one group alone decides that there are {} masks, not more", rank));
    if (found != nullptr) {
      result.state = ConsensusState::found;
      result.masks = found->masks;
    } else if (mostly_unsettled) {
      result.state = ConsensusState::too_few;
    }
    return result;
  }

  const MaskConsensusInput& m_input;
  Random m_random;
  Subset m_order;
  std::map<std::vector<BitRow>, Candidate> m_candidates;
  std::size_t m_most_agreeing = 0;
};

}  // namespace

MaskConsensus find_mask_consensus(const MaskConsensusInput& input) { return Search(input).run(); }

}  // namespace gpusonde
