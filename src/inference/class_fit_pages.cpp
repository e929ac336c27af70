// Structure from the pages with most samples, then constants for all of them.
#include "inference/class_fit_pages.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <map>

#include "inference/class_table.hpp"
#include "inference/key_search.hpp"
#include "inference/page_placement.hpp"

namespace gpusonde {
namespace {

constexpr std::size_t k_pages_for_structure = 8;
constexpr std::size_t k_fewer_samples = 4;  // pages with so many times fewer than the first are only placed

struct Pages {
  std::vector<std::uint64_t> numbers;              ///< by sheet, most samples first
  std::vector<std::vector<ClassSample>> training;  ///< by sheet
  std::vector<std::vector<ClassSample>> held_out;  ///< by sheet
  FitData structure;                               ///< of the first few sheets
  std::vector<std::uint32_t> classes;
};

Pages sort_into_pages(std::span<const PageSample> samples, std::uint64_t line_bytes) {
  Pages pages;
  std::map<std::uint64_t, std::size_t> count_of;
  std::vector<std::uint32_t> labels;
  for (const auto& sample : samples) {
    ++count_of[sample.page];
    labels.push_back(sample.label);
  }
  pages.classes = distinct_labels(labels);
  for (const auto& [number, count] : count_of) pages.numbers.push_back(number);
  std::stable_sort(pages.numbers.begin(), pages.numbers.end(),
                   [&count_of](std::uint64_t a, std::uint64_t b) { return count_of.at(a) > count_of.at(b); });
  std::size_t for_structure_pages = 0;
  for (const auto number : pages.numbers)
    if (for_structure_pages < k_pages_for_structure &&
        k_fewer_samples * count_of.at(number) >= count_of.at(pages.numbers.front()))
      ++for_structure_pages;
  std::map<std::uint64_t, std::uint32_t> sheet_of;
  for (const auto number : pages.numbers) sheet_of.emplace(number, static_cast<std::uint32_t>(sheet_of.size()));
  std::vector<ClassSample> all;
  std::vector<ClassSample> for_structure;
  for (const auto& sample : samples) {
    const auto at = std::lower_bound(pages.classes.begin(), pages.classes.end(), sample.label) - pages.classes.begin();
    all.push_back({sample.offset_bytes & ~(line_bytes - 1), static_cast<std::int32_t>(at), sheet_of.at(sample.page)});
    if (all.back().sheet < for_structure_pages) for_structure.push_back(all.back());
  }
  pages.structure = prepare(for_structure);
  const auto data = prepare(all);
  pages.training.resize(pages.numbers.size());
  pages.held_out.resize(pages.numbers.size());
  for (const auto& sample : data.training) pages.training[sample.sheet].push_back(sample);
  // The lines of a page that was only sampled are all needed to place it.
  for (const auto& sample : data.held_out)
    (sample.sheet < for_structure_pages ? pages.held_out : pages.training)[sample.sheet].push_back(sample);
  return pages;
}

Trial try_out(const ClassKey& key, const PlacedPages& placed, const Pages& pages) {
  Trial trial;
  for (std::size_t sheet = 0; sheet < pages.numbers.size(); ++sheet) {
    const auto& placement = placed.by_sheet[sheet];
    if (!placement) continue;
    for (const auto& sample : pages.held_out[sheet]) {
      const auto at = key.in_page(sample.address, placement->parity_constant, placement->residue_constants);
      trial.add(placed.class_by_key[at], sample.class_index);
    }
  }
  return trial;
}

std::vector<PageConstants> constants_of(const Pages& pages, const PlacedPages& placed, const ClassKey& key) {
  std::vector<PageConstants> constants;
  for (std::size_t sheet = 0; sheet < pages.numbers.size(); ++sheet) {
    PageConstants page;
    page.page = pages.numbers[sheet];
    page.samples = pages.training[sheet].size() + pages.held_out[sheet].size();
    page.reason = placed.by_sheet[sheet] ? std::string() : placed.reasons[sheet];
    if (const auto& placement = placed.by_sheet[sheet]) {
      page.matched = true;
      page.parity_constant = placement->parity_constant;
      page.residue_constants = placement->residue_constants;
      for (const auto* samples : {&pages.training[sheet], &pages.held_out[sheet]})
        for (const auto& sample : *samples) {
          const auto at = key.in_page(sample.address, page.parity_constant, page.residue_constants);
          const auto predicted = placed.class_by_key[at];
          page.wrong += predicted != ClassFunction::k_never_seen && predicted != sample.class_index ? 1 : 0;
        }
    }
    constants.push_back(std::move(page));
  }
  std::sort(constants.begin(), constants.end(), [](const auto& a, const auto& b) { return a.page < b.page; });
  return constants;
}

/// Before any page is placed.
std::size_t outvoted_within_pages(const ClassKey& key, const FitData& data) {
  std::vector<std::size_t> keys;
  for (const auto& sample : data.training) keys.push_back(sample.sheet * key.size() + key(sample.address));
  return majority_table(data.training, keys, data.sheets * key.size()).outvoted;
}

/// Puts what passes into `fit`, or says why nothing does.
std::optional<std::string> attempt(const ResidueHypothesis& hypothesis, const Pages& pages, double label_error_rate,
                                   PageFit& fit) {
  auto key = key_under(hypothesis, pages.structure, label_error_rate);
  if (!key) return too_many_keys(hypothesis);
  if (const auto outvoted = outvoted_within_pages(*key, pages.structure);
      contradicts(outvoted, pages.structure.training.size(), label_error_rate))
    return fmt::format("with {} parities and {} residues {} of {} samples contradict others of their key and page",
                       key->masks.size(), key->terms.size(), outvoted, pages.structure.training.size());
  auto placed = place_pages(pages.training, *key, label_error_rate);
  const auto trial = try_out(*key, placed, pages);
  const auto matched =
      std::count_if(placed.by_sheet.begin(), placed.by_sheet.end(), [](const auto& each) { return each.has_value(); });
  std::size_t samples = 0;
  for (std::size_t sheet = 0; sheet < pages.numbers.size(); ++sheet)
    samples += placed.by_sheet[sheet] ? pages.training[sheet].size() : 0;
  if (2 * static_cast<std::size_t>(matched) < pages.numbers.size() || !passes(trial, label_error_rate) ||
      contradicts(placed.outvoted, samples, label_error_rate))
    return fmt::format("with {} parities and {} residues {} of {} pages match, and {}", key->masks.size(),
                       key->terms.size(), matched, pages.numbers.size(), to_text(trial));
  fit.outcome = Outcome::ok;
  fit.pages = constants_of(pages, placed, *key);
  fit.function.key = std::move(*key);
  fit.function.table = std::move(placed.class_by_key);
  fit.held_out = trial.samples;
  fit.held_out_wrong = trial.wrong;
  fit.held_out_never_seen = trial.never_seen;
  return std::nullopt;
}

}  // namespace

std::optional<std::uint32_t> PageFit::label(std::uint64_t page, std::uint64_t offset_bytes) const {
  const auto found =
      std::lower_bound(pages.begin(), pages.end(), page,
                       [](const PageConstants& each, std::uint64_t number) { return each.page < number; });
  if (found == pages.end() || found->page != page || !found->matched) return std::nullopt;
  return function.in_page(offset_bytes, found->parity_constant, found->residue_constants);
}

PageFit fit_class_function_in_pages(std::span<const PageSample> samples, const ClassFitOptions& options) {
  PageFit fit;
  if (samples.empty() || !std::has_single_bit(options.line_bytes)) {
    fit.reason = samples.empty() ? "there are no samples; label lines of a few pages"
                                 : fmt::format("a line of {} bytes is no power of two", options.line_bytes);
    return fit;
  }
  const auto pages = sort_into_pages(samples, options.line_bytes);
  fit.class_count = pages.classes.size();
  auto trouble = too_little(pages.structure, pages.classes.size());
  if (!trouble)
    trouble = search_residues(
        pages.structure, options.label_error_rate,
        [&](const ResidueHypothesis& hypothesis, double rate) { return attempt(hypothesis, pages, rate, fit); });
  if (trouble) {
    fit.reason = std::move(*trouble);
    return fit;
  }
  fit.function.classes = pages.classes;
  fit.function.known_bits = pages.structure.varying_bits | (options.line_bytes - 1);
  fit.function.other_bits = samples.front().offset_bytes & ~fit.function.known_bits;
  return fit;
}

}  // namespace gpusonde
