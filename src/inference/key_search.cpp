// From samples to windows, and from windows to a key.
#include "inference/key_search.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cmath>

#include "inference/class_table.hpp"
#include "inference/gf2.hpp"
#include "inference/invariance.hpp"

namespace gpusonde {
namespace {

constexpr std::size_t k_most_classes = 4096;
constexpr std::size_t k_most_masks = 14;
constexpr std::size_t k_one_held_out_of = 4;
constexpr std::size_t k_fewest_held_out = 100;
constexpr double k_most_never_seen = 0.05;
constexpr double k_most_of_guessing = 0.2;
constexpr std::size_t k_most_tries = 24;  // what explains the labels is among the first ten

}  // namespace

std::vector<std::uint32_t> distinct_labels(std::span<const std::uint32_t> labels) {
  std::vector<std::uint32_t> classes(labels.begin(), labels.end());
  std::sort(classes.begin(), classes.end());
  classes.erase(std::unique(classes.begin(), classes.end()), classes.end());
  return classes;
}

FitData prepare(std::span<const ClassSample> samples) {
  FitData data;
  auto split = split_into_windows(samples);
  data.groups = std::move(split.groups);
  // What looks like a window by chance has few bits.
  int most_bits = 0;
  for (const auto& group : data.groups) most_bits = std::max(most_bits, std::popcount(group.bits));
  std::erase_if(data.groups, [most_bits](const auto& group) { return std::popcount(group.bits) + 1 < most_bits; });
  std::vector<bool> kept_aside(samples.size());
  for (std::size_t i = 0; i < split.loose.size(); ++i)
    kept_aside[split.loose[i]] = i % k_one_held_out_of == k_one_held_out_of - 1;
  std::vector<std::uint64_t> first_of_sheet;
  for (std::size_t i = 0; i < samples.size(); ++i) {
    (kept_aside[i] ? data.held_out : data.training).push_back(samples[i]);
    if (samples[i].sheet >= first_of_sheet.size()) first_of_sheet.resize(samples[i].sheet + 1, samples[i].address);
    data.varying_bits |= samples[i].address ^ first_of_sheet[samples[i].sheet];
  }
  data.sheets = static_cast<std::uint32_t>(first_of_sheet.size());
  return data;
}

std::optional<std::string> too_little(const FitData& data, std::size_t class_count) {
  if (class_count > k_most_classes)
    return fmt::format("{} different labels are more than the {} classes that are looked for", class_count,
                       k_most_classes);
  const auto all = data.training.size() + data.held_out.size();
  if (data.groups.empty())
    return fmt::format("{} addresses have no window with all combinations of some bits; label those that are planned",
                       all);
  if (data.held_out.size() < k_fewest_held_out)
    return fmt::format("of {} addresses only {} are left to try a function on; label {} more at random", all,
                       data.held_out.size(), k_one_held_out_of * k_fewest_held_out);
  return std::nullopt;
}

std::optional<ClassKey> key_under(const ResidueHypothesis& hypothesis, const FitData& data, double label_error_rate) {
  ClassKey key{annihilator(hypothesis.invariant, data.varying_bits), hypothesis.terms};
  if (key.masks.size() > k_most_masks || key.size() * data.sheets > k_most_keys) return std::nullopt;
  // With fewer keys each has more samples, which may show that still fewer do.
  for (std::size_t before = key.masks.size() + 1; key.masks.size() < before;) {
    before = key.masks.size();
    key.masks = needed_masks(data.training, key, data.sheets, label_error_rate);
  }
  return key;
}

std::string too_many_keys(const ResidueHypothesis& hypothesis) {
  return fmt::format("a table of 2^{:.0f} keys would be needed, more than can be filled", hypothesis.key_bits);
}

std::optional<std::string> search_residues(const FitData& data, double label_error_rate,
                                           const HypothesisTrial& attempt) {
  using Search = decltype(&one_term_hypotheses);
  std::vector<double> rates{0};
  if (label_error_rate > 0) rates.push_back(label_error_rate);
  std::string reason =
      fmt::format("no two changes of up to {} address bits leave the class alone, under no odd modulus up to {}",
                  std::popcount(data.groups.front().bits), k_greatest_modulus);
  std::size_t tries = 0;
  for (const Search search : {&one_term_hypotheses, &two_term_hypotheses})
    for (const auto rate : rates)
      for (const auto modulus : promising_moduli(data.groups, data.varying_bits, rate))
        for (const auto& hypothesis : search(data.groups, data.varying_bits, modulus, rate)) {
          auto trouble = attempt(hypothesis, rate);
          if (!trouble) return std::nullopt;
          if (tries++ == 0) reason = std::move(*trouble);
          if (tries == k_most_tries)
            return fmt::format("the classes are not explained by the {} likeliest functions: {}", tries, reason);
        }
  return fmt::format("the classes are not explained: {}", reason);
}

void Trial::add(std::int32_t predicted, std::int32_t class_index) {
  ++samples;
  never_seen += predicted == ClassFunction::k_never_seen ? 1 : 0;
  wrong += predicted != ClassFunction::k_never_seen && predicted != class_index ? 1 : 0;
  samples_of_class.resize(std::max(samples_of_class.size(), static_cast<std::size_t>(class_index) + 1));
  ++samples_of_class[static_cast<std::size_t>(class_index)];
}

bool contradicts(std::size_t outvoted, std::size_t samples, double label_error_rate) {
  const double expected = label_error_rate * static_cast<double>(samples);
  return static_cast<double>(outvoted) > expected + 3 * std::sqrt(expected);
}

bool passes(const Trial& trial, double label_error_rate) {
  const auto samples = static_cast<double>(trial.samples);
  if (trial.samples == 0 || static_cast<double>(trial.never_seen) > k_most_never_seen * samples) return false;
  if (trial.wrong == 0) return true;
  const auto commonest = *std::max_element(trial.samples_of_class.begin(), trial.samples_of_class.end());
  return !contradicts(trial.wrong, trial.samples, label_error_rate) &&
         static_cast<double>(trial.wrong) <= k_most_of_guessing * static_cast<double>(trial.samples - commonest);
}

std::string to_text(const Trial& trial) {
  return fmt::format("of {} samples kept aside {} come out wrong and {} have keys never seen", trial.samples,
                     trial.wrong, trial.never_seen);
}

}  // namespace gpusonde
