// Hypotheses in the order of their number of keys, until one passes its trial.
#include "inference/class_fit.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>

#include "inference/class_table.hpp"
#include "inference/key_search.hpp"

namespace gpusonde {
namespace {

Trial try_out(const ClassKey& key, const MajorityTable& table, const FitData& data) {
  Trial trial;
  for (const auto& sample : data.held_out) trial.add(table.class_by_key[key(sample.address)], sample.class_index);
  return trial;
}

/// Puts what passes into `fit`, or says why nothing does.
std::optional<std::string> attempt(const ResidueHypothesis& hypothesis, const FitData& data, double label_error_rate,
                                   ClassFit& fit) {
  auto key = key_under(hypothesis, data, label_error_rate);
  if (!key) return too_many_keys(hypothesis);
  std::vector<std::size_t> keys;
  for (const auto& sample : data.training) keys.push_back((*key)(sample.address));
  auto table = majority_table(data.training, keys, key->size());
  const auto trial = try_out(*key, table, data);
  if (contradicts(table.outvoted, data.training.size(), label_error_rate) || !passes(trial, label_error_rate))
    return fmt::format("with {} parities and {} residues {} of {} samples contradict others of their key, and {}",
                       key->masks.size(), key->terms.size(), table.outvoted, data.training.size(), to_text(trial));
  fit.outcome = Outcome::ok;
  fit.function.key = std::move(*key);
  fit.function.table = std::move(table.class_by_key);
  fit.outvoted = table.outvoted;
  fit.held_out = trial.samples;
  fit.held_out_wrong = trial.wrong;
  fit.held_out_never_seen = trial.never_seen;
  return std::nullopt;
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
  auto trouble = too_little(data, classes.size());
  if (!trouble)
    trouble = search_residues(data, options.label_error_rate, [&](const ResidueHypothesis& hypothesis, double rate) {
      return attempt(hypothesis, data, rate, fit);
    });
  if (trouble) {
    fit.reason = std::move(*trouble);
    return fit;
  }
  fit.function.classes = classes;
  fit.function.known_bits = data.varying_bits | in_line;
  fit.function.other_bits = samples.front().address & ~fit.function.known_bits;
  return fit;
}

}  // namespace gpusonde
