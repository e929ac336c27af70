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

/// A page's samples as the parts of their keys, so that trying constants takes no arithmetic of addresses.
struct KeyedPage {
  std::vector<std::uint32_t> parities;
  std::vector<std::uint32_t> residues;
  std::vector<ClassSample> samples;
};

KeyedPage keyed(const std::vector<ClassSample>& samples, const ClassKey& key) {
  KeyedPage page;
  page.samples = samples;
  for (const auto& sample : samples) {
    const auto at = key(sample.address);
    page.parities.push_back(static_cast<std::uint32_t>(at & ((std::size_t{1} << key.masks.size()) - 1)));
    page.residues.push_back(static_cast<std::uint32_t>(at >> key.masks.size()));
  }
  return page;
}

/// Constants with what they do to a table: digit by digit the residues move, and the parities flip.
struct Shift {
  Placement placement;
  std::vector<std::uint32_t> moved_residues;  ///< by the residues of the offset
  std::size_t mask_count = 0;

  [[nodiscard]] std::size_t key(std::uint32_t residues, std::uint32_t parities) const {
    return std::size_t{moved_residues[residues]} << mask_count | (parities ^ placement.parity_constant);
  }
};

std::uint32_t moved(std::size_t residues, const ClassKey& key, const std::vector<std::uint32_t>& constants) {
  std::size_t sum = 0;
  std::size_t unit = 1;
  for (std::size_t i = key.terms.size(); i-- > 0;) {
    const auto modulus = key.terms[i].modulus;
    sum += unit * ((residues % modulus + constants[i]) % modulus);
    residues /= modulus;
    unit *= modulus;
  }
  return static_cast<std::uint32_t>(sum);
}

/// One shift for each combination of residue constants, the first with none; parity constants are left at 0.
std::vector<Shift> residue_shifts(const ClassKey& key) {
  std::vector<Shift> shifts(key.residue_count());
  for (std::size_t combination = 0; combination < shifts.size(); ++combination) {
    std::vector<std::uint32_t> constants(key.terms.size());
    auto left = combination;
    for (std::size_t i = constants.size(); i-- > 0; left /= key.terms[i].modulus)
      constants[i] = static_cast<std::uint32_t>(left % key.terms[i].modulus);
    auto& shift = shifts[combination];
    for (std::size_t residues = 0; residues < shifts.size(); ++residues)
      shift.moved_residues.push_back(moved(residues, key, constants));
    shift.placement.residue_constants = std::move(constants);
    shift.mask_count = key.masks.size();
  }
  return shifts;
}

/// No more disagree than wrong labels explain; the table's own may be wrong too.
bool tolerable(std::size_t wrong, std::size_t known, double label_error_rate) {
  const double expected = 2 * label_error_rate * static_cast<double>(known);
  return static_cast<double>(wrong) <= expected + 3 * std::sqrt(expected);
}

bool fits(const KeyedPage& page, const Shift& shift, const std::vector<std::int32_t>& table, double label_error_rate) {
  std::size_t known = 0;
  std::size_t wrong = 0;
  for (std::size_t i = 0; i < page.samples.size(); ++i) {
    const auto expected = table[shift.key(page.residues[i], page.parities[i])];
    if (expected == ClassFunction::k_never_seen) continue;
    ++known;
    if (expected == page.samples[i].class_index) continue;
    ++wrong;
    if (!tolerable(wrong, known + k_fewest_known, label_error_rate)) return false;
  }
  return known >= std::max(k_fewest_known, page.samples.size() / 2) && tolerable(wrong, known, label_error_rate);
}

/// Whether two shifts say the same wherever the table can tell, and it can for at least half of the keys.
bool equivalent(const Shift& a, const Shift& b, const std::vector<std::int32_t>& table, double label_error_rate) {
  std::size_t known = 0;
  std::size_t wrong = 0;
  for (std::uint32_t residues = 0; residues < a.moved_residues.size(); ++residues)
    for (std::uint32_t parities = 0; parities < std::uint32_t{1} << a.mask_count; ++parities) {
      const auto one = table[a.key(residues, parities)];
      const auto other = table[b.key(residues, parities)];
      if (one == ClassFunction::k_never_seen || other == ClassFunction::k_never_seen) continue;
      ++known;
      wrong += one != other ? 1 : 0;
    }
  return 2 * known >= table.size() && tolerable(wrong, known, label_error_rate);
}

/// The constants of a page as a shift, or why there are none.
std::optional<Shift> place(const KeyedPage& page, const std::vector<Shift>& shifts,
                           const std::vector<std::int32_t>& table, double label_error_rate, std::string& reason) {
  std::optional<Shift> found;
  const auto count = page.samples.size();
  for (auto shift : shifts)
    for (std::uint32_t constant = 0; constant < std::uint32_t{1} << shift.mask_count; ++constant) {
      shift.placement.parity_constant = constant;
      if (!fits(page, shift, table, label_error_rate)) continue;
      if (!found) {
        found = shift;
      } else if (!equivalent(*found, shift, table, label_error_rate)) {
        reason = fmt::format("{} samples fit the table in several places; label more of the page", count);
        return std::nullopt;
      }
    }
  if (!found)
    reason = count < k_fewest_known
                 ? fmt::format("{} samples are too few to place the page; label at least {}", count, k_fewest_known)
                 : fmt::format("no constants make the {} samples those of the common table", count);
  return found;
}

}  // namespace

PlacedPages place_pages(std::span<const std::vector<ClassSample>> samples_by_sheet, const ClassKey& key,
                        double label_error_rate) {
  PlacedPages placed;
  placed.by_sheet.resize(samples_by_sheet.size());
  placed.reasons.resize(samples_by_sheet.size());
  if (samples_by_sheet.empty()) return placed;
  std::vector<KeyedPage> pages;
  for (const auto& samples : samples_by_sheet) pages.push_back(keyed(samples, key));
  std::vector<std::size_t> waiting(pages.size());
  std::iota(waiting.begin(), waiting.end(), std::size_t{0});
  std::stable_sort(waiting.begin(), waiting.end(), [&pages](std::size_t a, std::size_t b) {
    return pages[a].samples.size() > pages[b].samples.size();
  });
  const auto shifts = residue_shifts(key);
  std::vector<ClassSample> samples;
  std::vector<std::size_t> keys;
  MajorityTable table;
  const auto accept = [&](std::size_t sheet, const Shift& shift) {
    const auto& page = pages[sheet];
    placed.by_sheet[sheet] = shift.placement;
    samples.insert(samples.end(), page.samples.begin(), page.samples.end());
    for (std::size_t i = 0; i < page.samples.size(); ++i) keys.push_back(shift.key(page.residues[i], page.parities[i]));
    table = majority_table(samples, keys, key.size());
  };
  accept(waiting.front(), shifts.front());
  waiting.erase(waiting.begin());
  // A page that knows too little of the table may know more of it once others are placed.
  for (bool changed = true; changed;) {
    changed = false;
    for (auto at = waiting.begin(); at != waiting.end();) {
      const auto found = place(pages[*at], shifts, table.class_by_key, label_error_rate, placed.reasons[*at]);
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
