// Patterns of consecutive lines, and orders for drawing.
#include "inference/line_order.hpp"

#include <algorithm>
#include <map>
#include <numeric>

#include "inference/two_heaps.hpp"

namespace gpusonde {
namespace {

constexpr std::size_t k_shown_lines = 32;
constexpr std::size_t k_least_changes = 4;
constexpr std::size_t k_longest_run = 256;
// A label in a hundred may be wrong and must not hide a run.
constexpr double k_keeping = 0.99;

std::size_t run_lines(std::span<const std::int32_t> labels) {
  std::vector<std::size_t> changes;
  for (std::size_t i = 1; i < labels.size(); ++i)
    if (labels[i] != labels[i - 1] && labels[i] != k_unlabelled && labels[i - 1] != k_unlabelled) changes.push_back(i);
  if (changes.size() < k_least_changes) return 0;
  for (std::size_t run = std::min(k_longest_run, labels.size() / 4); run > 1; --run) {
    const auto kept = std::count_if(changes.begin(), changes.end(), [run](std::size_t at) { return at % run == 0; });
    if (static_cast<double>(kept) >= k_keeping * static_cast<double>(changes.size())) return run;
  }
  return 1;
}

std::size_t period_lines(std::span<const std::int32_t> labels) {
  for (std::size_t shift = 1; 2 * shift <= labels.size(); ++shift) {
    std::size_t compared = 0;
    bool same = true;
    for (std::size_t i = 0; i + shift < labels.size() && same; ++i) {
      if (labels[i] == k_unlabelled || labels[i + shift] == k_unlabelled) continue;
      ++compared;
      same = labels[i] == labels[i + shift];
    }
    if (same && compared > 0 && 2 * (compared + shift) >= labels.size()) return shift;
  }
  return 0;
}

// The centres without the effect of each slice and SM on its own, and their strongest product structure.
LeadingPair leading_of_centres(const LineClusters& clusters) {
  LineMap centres;
  centres.sms = clusters.centre_cycles.size();
  centres.lines = clusters.sigma_cycles.size();
  for (const auto& centre : clusters.centre_cycles)
    centres.cycles.insert(centres.cycles.end(), centre.begin(), centre.end());
  const AdditiveFit fit = fit_additive(centres);
  if (fit.sm_cycles.empty()) return {};
  std::vector<float> left;
  for (std::size_t k = 0; k < centres.sms; ++k)
    for (std::size_t sm = 0; sm < centres.lines; ++sm)
      left.push_back(static_cast<float>(centres.at(k, sm) - fit.mean_cycles - fit.sm_cycles[k] - fit.line_cycles[sm]));
  return leading_pair(left, centres.sms, centres.lines);
}

std::vector<std::size_t> ascending(const std::vector<double>& scores) {
  std::vector<std::size_t> order(scores.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) { return scores[a] < scores[b]; });
  return order;
}

}  // namespace

ConsecutivePattern consecutive_pattern(std::span<const std::int32_t> labels) {
  ConsecutivePattern pattern;
  pattern.run_lines = run_lines(labels);
  pattern.period_lines = period_lines(labels);
  std::map<std::int32_t, std::size_t> number;
  for (const std::int32_t label : labels.first(std::min(k_shown_lines, labels.size()))) {
    if (!pattern.text.empty()) pattern.text += ' ';
    if (label == k_unlabelled)
      pattern.text += '?';
    else
      pattern.text += std::to_string(number.emplace(label, number.size()).first->second);
  }
  return pattern;
}

std::vector<std::size_t> slice_order(const LineClusters& clusters) {
  return ascending(leading_of_centres(clusters).rows);
}

std::vector<std::size_t> sm_order(const LineClusters& clusters) {
  return ascending(leading_of_centres(clusters).columns);
}

}  // namespace gpusonde
