// Hypotheses in the order of their number of keys, until one passes its trial.
#include "inference/class_fit.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cmath>

#include "inference/class_table.hpp"
#include "inference/key_search.hpp"

namespace gpusonde {
namespace {

struct Attempt {
  std::optional<ClassFit> fit;
  std::string reason;  ///< why there is none
};

Trial try_out(const ClassKey& key, const MajorityTable& table, const FitData& data, std::size_t class_count) {
  Trial trial;
  std::vector<std::size_t> samples_of_class(class_count);
  for (const auto& sample : data.held_out) {
    const auto predicted = table.class_by_key[key(sample.address)];
    ++trial.samples;
    ++samples_of_class[static_cast<std::size_t>(sample.class_index)];
    trial.never_seen += predicted == ClassFunction::k_never_seen ? 1 : 0;
    trial.wrong += predicted != ClassFunction::k_never_seen && predicted != sample.class_index ? 1 : 0;
  }
  trial.not_commonest = trial.samples - *std::max_element(samples_of_class.begin(), samples_of_class.end());
  return trial;
}

Attempt attempt(const ResidueHypothesis& hypothesis, const FitData& data, std::size_t class_count,
                double label_error_rate) {
  auto key = key_under(hypothesis, data, label_error_rate);
  if (!key)
    return {{}, fmt::format("a table of 2^{:.0f} keys would be needed, more than can be filled", hypothesis.key_bits)};
  std::vector<std::size_t> keys;
  for (const auto& sample : data.training) keys.push_back((*key)(sample.address));
  auto table = majority_table(data.training, keys, key->size());
  const auto trial = try_out(*key, table, data, class_count);
  const auto training = static_cast<double>(data.training.size());
  const double expected = label_error_rate * training;
  const bool contradicted = static_cast<double>(table.outvoted) > expected + 3 * std::sqrt(expected);
  if (contradicted || !passes(trial, label_error_rate))
    return {{},
            fmt::format("with {} parities and {} residues {} of {} samples contradict others of their key, and {}",
                        key->masks.size(), key->terms.size(), table.outvoted, data.training.size(), to_text(trial))};
  ClassFit fit;
  fit.outcome = Outcome::ok;
  fit.function.key = std::move(*key);
  fit.function.table = std::move(table.class_by_key);
  fit.outvoted = table.outvoted;
  fit.held_out = trial.samples;
  fit.held_out_wrong = trial.wrong;
  fit.held_out_never_seen = trial.never_seen;
  return {std::move(fit), {}};
}

Attempt attempt_at(const FitData& data, std::size_t class_count, double label_error_rate) {
  const auto moduli = promising_moduli(data.groups, data.varying_bits, label_error_rate);
  if (moduli.empty())
    return {{},
            fmt::format("no change of up to {} address bits leaves the class alone, under no odd modulus up to 63",
                        std::popcount(data.groups.front().bits))};
  Attempt nearest;
  for (const auto search : {one_term_hypotheses, two_term_hypotheses})
    for (const auto modulus : moduli)
      for (const auto& hypothesis : search(data.groups, data.varying_bits, modulus, label_error_rate)) {
        auto tried = attempt(hypothesis, data, class_count, label_error_rate);
        if (tried.fit) return tried;
        if (nearest.reason.empty()) nearest = std::move(tried);
      }
  return nearest;
}

}  // namespace

ClassFit fit_class_function(std::span<const std::uint64_t> addresses, std::span<const std::uint32_t> labels,
                            const ClassFitOptions& options) {
  ClassFit fit;
  if (addresses.size() != labels.size() || addresses.empty()) {
    fit.reason = fmt::format("{} addresses have {} labels; give one each", addresses.size(), labels.size());
    return fit;
  }
  if (!std::has_single_bit(options.line_bytes)) {
    fit.reason = fmt::format("a line of {} bytes is no power of two", options.line_bytes);
    return fit;
  }
  const auto classes = distinct_labels(labels);
  const auto in_line = options.line_bytes - 1;
  std::vector<ClassSample> samples;
  for (std::size_t i = 0; i < addresses.size(); ++i) {
    const auto at = std::lower_bound(classes.begin(), classes.end(), labels[i]) - classes.begin();
    samples.push_back({addresses[i] & ~in_line, static_cast<std::int32_t>(at), 0});
  }
  fit.class_count = classes.size();
  const auto data = prepare(samples);
  if (auto trouble = too_little(data)) {
    fit.reason = std::move(*trouble);
    return fit;
  }
  auto tried = attempt_at(data, classes.size(), 0);
  if (!tried.fit && options.label_error_rate > 0) tried = attempt_at(data, classes.size(), options.label_error_rate);
  if (!tried.fit) {
    fit.reason = fmt::format("{} classes are not explained: {}", classes.size(), tried.reason);
    return fit;
  }
  fit = std::move(*tried.fit);
  fit.class_count = classes.size();
  fit.function.classes = classes;
  fit.function.known_bits = data.varying_bits | in_line;
  fit.function.other_bits = samples.front().address & ~fit.function.known_bits;
  return fit;
}

}  // namespace gpusonde
