// Masks and stride put together to one function, and what speaks against it.
#include "inference/set_function.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cmath>

#include "inference/mask_basis.hpp"
#include "inference/mask_consensus.hpp"
#include "inference/set_lines.hpp"
#include "inference/stride_consensus.hpp"

namespace gpusonde {
namespace {

constexpr std::size_t k_least_groups = 6;
constexpr std::size_t k_least_non_conflicts = 8;
constexpr double k_most_alike_share = 0.05;    // of non-conflicts: pairs tested wrongly
constexpr std::size_t k_spare_unrelated = 12;  // lines beyond the masks: one in 2^12 that a mask seems constant
constexpr double k_enough_alike = 8;           // expected if finer, so that few of them say it is not

SetFunctionFit refused(SetFunctionFit fit, std::string reason) {
  fit.outcome = Outcome::inconclusive;
  fit.reason = std::move(reason);
  fit.function = {};
  fit.complete = false;
  return fit;
}

// The masks that a / unit_bytes % 2^bits is made of, as far as they hold.
RowSpace low_bits_held(const SetLines& lines, const SetFeatures& features, const RowSpace& masks, int bits) {
  RowSpace low;
  const int first = std::countr_zero(lines.unit_bytes);
  for (int bit = first; bit < first + bits; ++bit) {
    const auto mask = lines.on_varying_columns(row_of_mask(features, {std::uint64_t{1} << bit, 0, {}}));
    if (mask.any() && masks.contains(mask)) low.add(mask);
  }
  return low;
}

class Fit {
 public:
  Fit(const SetLines& lines, const SetFeatures& features, const std::vector<LinePair>& non_conflicts,
      const SetFitOptions& options)
      : m_lines(lines), m_features(features), m_non_conflicts(non_conflicts), m_options(options) {
    m_fit.groups = lines.groups.size();
    m_fit.held_out_groups = lines.held_out;
    m_fit.non_conflicts = non_conflicts.size();
    for (const auto& group : lines.differences) m_fit.differences += group.size();
  }

  SetFunctionFit run() {
    if (m_fit.groups < k_least_groups)
      return refused(m_fit, fmt::format("too few conflicts: {} groups of two lines or more; give at least {}",
                                        m_fit.groups, k_least_groups));
    find();
    if (m_masks.state == ConsensusState::undecided) return refused(m_fit, m_masks.reason);
    if (m_stride.state == ConsensusState::undecided) return refused(m_fit, m_stride.reason);
    const bool one_set = m_options.sets_hint.high == 1 && m_masks.state == ConsensusState::none;
    if (m_masks.state != ConsensusState::found && m_stride.state != ConsensusState::found && !one_set)
      return refused(m_fit, why_nothing_found());
    if (auto reason = choose(); !reason.empty()) return refused(m_fit, reason);
    account();
    if (auto reason = objection(); !reason.empty()) return refused(m_fit, reason);
    m_fit.outcome = Outcome::ok;
    m_fit.complete = is_complete();
    return m_fit;
  }

 private:
  void find() {
    std::vector<LineGroup> groups;
    for (const auto& group : m_lines.groups) groups.push_back(group.lines);
    m_masks = find_mask_consensus(
        {m_lines.differences, m_lines.held_out, m_lines.variation.pivots(), m_lines.background, m_options.seed});
    m_stride = find_stride_consensus(groups, m_lines.held_out, m_lines.unit_bytes, m_options.seed);
  }

  [[nodiscard]] std::string why_nothing_found() const {
    if (m_masks.state == ConsensusState::too_few || m_stride.state == ConsensusState::too_few) {
      RowSpace span;
      for (const auto& group : m_lines.differences)
        for (const auto& difference : group) span.add(difference);
      return fmt::format("too few conflicts: {} differences of rank {}, the last group still removed a mask",
                         m_fit.differences, span.rank());
    }
    return fmt::format("masks explain {} of {} held-out groups; one stride explains {}", m_masks.most_agreeing,
                       m_lines.held_out, m_stride.most_agreeing);
  }

  // The function from masks, stride or both; the reason when they do not go together.
  std::string choose() {
    m_fit.function.features = m_features;
    set_masks(m_masks.masks);
    if (m_stride.state != ConsensusState::found) return {};
    if (m_options.sets_hint.high != 0 && in_hint()) return {};  // the masks alone explain all sets
    const auto sets = m_stride.stride_bytes / m_lines.unit_bytes;
    const int halvings = std::countr_zero(sets);
    const auto low = low_bits_held(m_lines, m_features, m_masks.masks, halvings);
    if (low.rank() != 0 && low.rank() != static_cast<unsigned>(halvings))
      return fmt::format("lines of a set lie multiples of {} bytes apart, but the bits looked at leave part of it out",
                         m_stride.stride_bytes);
    if (low.rank() == m_masks.masks.rank()) {  // a plain remainder, whose masks are its low bits
      set_masks({});
      m_fit.function.modulo = ModuloSets{m_lines.unit_bytes, sets};
    } else {
      m_fit.function.modulo = ModuloSets{m_lines.unit_bytes, low.rank() == 0 ? sets : sets >> halvings};
    }
    return {};
  }

  void set_masks(const RowSpace& masks) {
    m_fit.function.masks.clear();
    for (const auto& row : lightest_basis(masks, m_lines.constant))
      m_fit.function.masks.push_back(mask_of_row(m_features, row));
    m_fit.rank = masks.rank();
  }

  [[nodiscard]] bool in_hint() const {
    const auto sets = m_fit.function.set_count();
    return m_options.sets_hint.low <= sets && sets <= m_options.sets_hint.high;
  }

  // Holds the function against all groups and non-conflicts.
  void account() {
    const auto& function = m_fit.function;
    RowSpace span;
    for (std::size_t i = 0; i < m_lines.groups.size(); ++i) {
      const auto& group = m_lines.groups[i];
      std::vector<std::uint64_t> values;
      for (const auto line : group.lines) values.push_back(function.value(line));
      const auto usual = most_common(values);
      const auto alike = static_cast<std::size_t>(std::count(values.begin(), values.end(), usual));
      if (alike == values.size()) {
        ++m_fit.explained_groups;
        if (i + m_lines.held_out >= m_lines.groups.size()) ++m_fit.held_out_explained;
        for (const auto& difference : m_lines.differences[i]) span.add(difference);
        continue;
      }
      Contradiction contradiction{group.index, {}};
      for (std::size_t line = 0; line < values.size(); ++line)
        if (alike == 1 || values[line] != usual) contradiction.lines.push_back(group.lines[line]);
      m_fit.contradictions.push_back(std::move(contradiction));
    }
    m_fit.differences_rank = span.rank();
    std::sort(m_fit.contradictions.begin(), m_fit.contradictions.end(),
              [](const Contradiction& a, const Contradiction& b) { return a.group < b.group; });
    m_fit.non_conflicts_alike = static_cast<std::size_t>(
        std::count_if(m_non_conflicts.begin(), m_non_conflicts.end(),
                      [&](const LinePair& pair) { return function.value(pair.first) == function.value(pair.second); }));
    m_fit.alike_if_finer =
        static_cast<double>(m_fit.non_conflicts) / (2 * static_cast<double>(function.set_count()) - 1);
  }

  [[nodiscard]] std::string objection() const {
    const auto sets = m_fit.function.set_count();
    const auto alike = static_cast<double>(m_fit.non_conflicts_alike);
    const auto unrelated = m_lines.background.rows.size();
    if (unrelated < m_fit.rank + 1 + k_spare_unrelated)
      return fmt::format("too few conflicts: {} masks vary over {} unrelated lines, and more may over at least {}",
                         m_fit.rank, unrelated, m_fit.rank + 1 + k_spare_unrelated);
    if (static_cast<double>(m_fit.explained_groups) < k_least_agreement * static_cast<double>(m_fit.groups))
      return fmt::format("masks and stride together explain {} of {} groups", m_fit.explained_groups, m_fit.groups);
    if (m_options.sets_hint.high != 0 && !in_hint())
      return fmt::format("the function found has {} sets, but {} to {} were counted", sets, m_options.sets_hint.low,
                         m_options.sets_hint.high);
    const bool often = alike > std::max(1.0, k_most_alike_share * static_cast<double>(m_fit.non_conflicts));
    const bool as_if_finer = alike >= 2 && alike > m_fit.alike_if_finer / 2;
    if (often || as_if_finer)
      return fmt::format("{} of {} pairs known not to conflict share one of the {} sets found, so there are more",
                         m_fit.non_conflicts_alike, m_fit.non_conflicts, sets);
    if (m_options.sets_hint.high == 0 && m_fit.non_conflicts < k_least_non_conflicts)
      return fmt::format("{} pairs known not to conflict do not test a function of {} sets; give at least {}",
                         m_fit.non_conflicts, sets, k_least_non_conflicts);
    return {};
  }

  [[nodiscard]] bool is_complete() const {
    if (m_options.sets_hint.high != 0 && m_options.sets_hint.high < 2 * m_fit.function.set_count()) return true;
    return m_fit.alike_if_finer >= k_enough_alike &&
           static_cast<double>(m_fit.non_conflicts_alike) <= m_fit.alike_if_finer / 4;
  }

  const SetLines& m_lines;
  const SetFeatures& m_features;
  const std::vector<LinePair>& m_non_conflicts;
  const SetFitOptions& m_options;
  MaskConsensus m_masks;
  StrideConsensus m_stride;
  SetFunctionFit m_fit;
};

}  // namespace

SetFunctionFit fit_set_function(const std::vector<LineGroup>& groups, const std::vector<LinePair>& non_conflicts,
                                const SetFeatures& features, const SetFitOptions& options) {
  if (auto fault = fault_of(features); !fault.empty()) return refused({}, std::move(fault));
  if (!options.group_pools.empty() && options.group_pools.size() != groups.size())
    return refused({}, fmt::format("{} groups have {} pools", groups.size(), options.group_pools.size()));
  return Fit(gather_lines(groups, non_conflicts, features, options), features, non_conflicts, options).run();
}

}  // namespace gpusonde
