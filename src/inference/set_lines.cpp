#include "inference/set_lines.hpp"

#include <algorithm>
#include <map>
#include <numeric>
#include <utility>

#include "core/random.hpp"

namespace gpusonde {
namespace {

constexpr std::size_t k_one_held_out_of = 3;

std::vector<UsableGroup> usable_groups(const std::vector<LineGroup>& groups, const SetFitOptions& options) {
  std::vector<UsableGroup> usable;
  for (std::size_t i = 0; i < groups.size(); ++i) {
    UsableGroup group{i, options.group_pools.empty() ? 0 : options.group_pools[i], groups[i]};
    std::sort(group.lines.begin(), group.lines.end());
    group.lines.erase(std::unique(group.lines.begin(), group.lines.end()), group.lines.end());
    if (group.lines.size() >= 2) usable.push_back(std::move(group));
  }
  Random random(options.seed);
  for (std::size_t i = usable.size(); i > 1; --i) std::swap(usable[i - 1], usable[random.below(i)]);
  return usable;
}

// Takes in lines one by one and compares each with the first one of its pool.
class Variation {
 public:
  explicit Variation(const SetFeatures& features) : m_features(features) {}

  void add(std::uint32_t pool, std::uint64_t line) { add_pair(m_first.try_emplace(pool, line).first->second, line); }
  void add_pair(std::uint64_t a, std::uint64_t b) {
    m_space.add(feature_row(m_features, a) ^ feature_row(m_features, b));
    m_unit_bytes = std::gcd(m_unit_bytes, a > b ? a - b : b - a);
  }
  [[nodiscard]] const RowSpace& space() const { return m_space; }
  [[nodiscard]] std::uint64_t unit_bytes() const { return m_unit_bytes; }

 private:
  const SetFeatures& m_features;
  std::map<std::uint32_t, std::uint64_t> m_first;
  RowSpace m_space;
  std::uint64_t m_unit_bytes = 0;
};

BitRow all_columns(const SetFeatures& features) {
  SetMask mask{features.address_bits, ~std::uint64_t{0}, {}};
  mask.residues.assign(features.residues.size(), ~std::uint64_t{0});
  return row_of_mask(features, mask);
}

// Lines are unrelated when they are of different groups; of one group only the first counts.
Background background_lines(const SetLines& lines, const std::vector<LinePair>& non_conflicts,
                            const SetFeatures& features, bool one_pool) {
  Background background;
  background.are_pairs = !one_pool;
  const auto row = [&](std::uint64_t line) { return feature_row(features, line) & lines.variation.pivots(); };
  for (const auto& [a, b] : non_conflicts) {
    if (one_pool) {
      background.rows.push_back(row(a));
      background.rows.push_back(row(b));
    } else {
      background.rows.push_back(row(a) ^ row(b));
    }
  }
  std::map<std::uint32_t, BitRow> waiting;
  for (const auto& group : lines.groups) {
    const auto first = row(group.lines.front());
    if (one_pool) {
      background.rows.push_back(first);
    } else if (const auto other = waiting.find(group.pool); other != waiting.end()) {
      background.rows.push_back(first ^ other->second);
      waiting.erase(other);
    } else {
      waiting.emplace(group.pool, first);
    }
  }
  return background;
}

}  // namespace

BitRow SetLines::on_varying_columns(const BitRow& mask) const {
  BitRow result;
  for (const auto& row : variation.rows())
    if (row.dot(mask)) result.set(row.lowest());
  return result;
}

SetLines gather_lines(const std::vector<LineGroup>& groups, const std::vector<LinePair>& non_conflicts,
                      const SetFeatures& features, const SetFitOptions& options) {
  SetLines lines;
  lines.groups = usable_groups(groups, options);
  lines.held_out = lines.groups.size() / k_one_held_out_of;
  const bool one_pool = options.group_pools.empty();

  Variation variation(features);
  for (const auto& group : lines.groups)
    for (const auto line : group.lines) variation.add(group.pool, line);
  for (const auto& [a, b] : non_conflicts) {
    if (one_pool) variation.add(0, a);
    variation.add_pair(a, b);
  }
  lines.variation = variation.space();
  lines.constant = annihilator(lines.variation, all_columns(features));
  lines.unit_bytes = variation.unit_bytes();

  for (const auto& group : lines.groups) {
    const auto first = feature_row(features, group.lines.front());
    auto& differences = lines.differences.emplace_back();
    for (std::size_t i = 1; i < group.lines.size(); ++i)
      differences.push_back((feature_row(features, group.lines[i]) ^ first) & lines.variation.pivots());
  }
  lines.background = background_lines(lines, non_conflicts, features, one_pool);
  return lines;
}

}  // namespace gpusonde
