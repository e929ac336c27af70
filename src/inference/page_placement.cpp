// Every combination of constants is tried on every page; most fail at the first few samples.
#include "inference/page_placement.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "inference/class_table.hpp"

namespace gpusonde {
namespace {

constexpr std::size_t k_fewest_known = 64;  ///< samples of a page whose keys the table knows

struct Keyed {
  std::vector<ClassSample> samples;
  std::vector<std::size_t> keys;

  void add(const std::vector<ClassSample>& page, const ClassKey& key, const Placement& placement) {
    for (const auto& sample : page) {
      samples.push_back(sample);
      keys.push_back(key.in_page(sample.address, placement.parity_constant, placement.residue_constants));
    }
  }
};

std::vector<Placement> all_placements(const ClassKey& key) {
  std::vector<Placement> placements;
  for (std::size_t residues = 0; residues < key.residue_count(); ++residues) {
    std::vector<std::uint32_t> constants(key.terms.size());
    auto left = residues;
    for (std::size_t i = constants.size(); i-- > 0;) {
      constants[i] = static_cast<std::uint32_t>(left % key.terms[i].modulus);
      left /= key.terms[i].modulus;
    }
    for (std::uint32_t parities = 0; parities < std::uint32_t{1} << key.masks.size(); ++parities)
      placements.push_back({parities, constants});
  }
  return placements;
}

/// No more disagree than wrong labels explain; the table's own may be wrong too.
bool tolerable(std::size_t wrong, std::size_t known, double label_error_rate) {
  const double expected = 2 * label_error_rate * static_cast<double>(known);
  return static_cast<double>(wrong) <= expected + 3 * std::sqrt(expected);
}

bool fits(const std::vector<ClassSample>& page, const ClassKey& key, const Placement& placement,
          const std::vector<std::int32_t>& table, double label_error_rate) {
  std::size_t known = 0;
  std::size_t wrong = 0;
  for (const auto& sample : page) {
    const auto expected = table[key.in_page(sample.address, placement.parity_constant, placement.residue_constants)];
    if (expected == ClassFunction::k_never_seen) continue;
    ++known;
    if (expected == sample.class_index) continue;
    ++wrong;
    if (!tolerable(wrong, known + k_fewest_known, label_error_rate)) return false;
  }
  return known >= std::max(k_fewest_known, page.size() / 2) && tolerable(wrong, known, label_error_rate);
}

/// Whether two placements say the same wherever the table can tell, and it can for at least half of the keys.
bool equivalent(const ClassKey& key, const Placement& a, const Placement& b, const std::vector<std::int32_t>& table,
                double label_error_rate) {
  std::size_t known = 0;
  std::size_t wrong = 0;
  const auto place = [&key](std::size_t at, const Placement& placement) {
    auto residues = at >> key.masks.size();
    std::size_t placed = 0;
    std::size_t unit = 1;
    for (std::size_t i = key.terms.size(); i-- > 0;) {
      const auto modulus = key.terms[i].modulus;
      placed += unit * ((residues % modulus + placement.residue_constants[i]) % modulus);
      residues /= modulus;
      unit *= modulus;
    }
    const auto parities = (at ^ placement.parity_constant) & ((std::size_t{1} << key.masks.size()) - 1);
    return placed << key.masks.size() | parities;
  };
  for (std::size_t at = 0; at < table.size(); ++at) {
    const auto one = table[place(at, a)];
    const auto other = table[place(at, b)];
    if (one == ClassFunction::k_never_seen || other == ClassFunction::k_never_seen) continue;
    ++known;
    wrong += one != other ? 1 : 0;
  }
  return 2 * known >= table.size() && tolerable(wrong, known, label_error_rate);
}

/// The constants of a page, or why there are none.
std::optional<Placement> place(const std::vector<ClassSample>& page, const ClassKey& key,
                               const std::vector<Placement>& placements, const std::vector<std::int32_t>& table,
                               double label_error_rate, std::string& reason) {
  std::optional<Placement> found;
  for (const auto& placement : placements) {
    if (!fits(page, key, placement, table, label_error_rate)) continue;
    if (!found) {
      found = placement;
    } else if (!equivalent(key, *found, placement, table, label_error_rate)) {
      reason = fmt::format("{} samples fit the table in several places; label more of the page", page.size());
      return std::nullopt;
    }
  }
  if (!found)
    reason =
        page.size() < k_fewest_known
            ? fmt::format("{} samples are too few to place the page; label at least {}", page.size(), k_fewest_known)
            : fmt::format("no constants make the {} samples those of the common table", page.size());
  return found;
}

}  // namespace

PlacedPages place_pages(std::span<const std::vector<ClassSample>> samples_by_sheet, const ClassKey& key,
                        double label_error_rate) {
  PlacedPages placed;
  placed.by_sheet.resize(samples_by_sheet.size());
  placed.reasons.resize(samples_by_sheet.size());
  if (samples_by_sheet.empty()) return placed;
  std::vector<std::size_t> waiting(samples_by_sheet.size());
  std::iota(waiting.begin(), waiting.end(), std::size_t{0});
  std::stable_sort(waiting.begin(), waiting.end(), [&samples_by_sheet](std::size_t a, std::size_t b) {
    return samples_by_sheet[a].size() > samples_by_sheet[b].size();
  });
  const auto placements = all_placements(key);
  Keyed keyed;
  MajorityTable table;
  const auto accept = [&](std::size_t sheet, const Placement& placement) {
    placed.by_sheet[sheet] = placement;
    keyed.add(samples_by_sheet[sheet], key, placement);
    table = majority_table(keyed.samples, keyed.keys, key.size());
  };
  accept(waiting.front(), placements.front());
  waiting.erase(waiting.begin());
  // A page that knows too little of the table may know more of it once others are placed.
  for (bool changed = true; changed;) {
    changed = false;
    for (auto at = waiting.begin(); at != waiting.end();) {
      const auto found =
          place(samples_by_sheet[*at], key, placements, table.class_by_key, label_error_rate, placed.reasons[*at]);
      if (!found) {
        ++at;
        continue;
      }
      accept(*at, *found);
      at = waiting.erase(at);
      changed = true;
    }
  }
  placed.class_by_key = std::move(table.class_by_key);
  placed.outvoted = table.outvoted;
  return placed;
}

}  // namespace gpusonde
