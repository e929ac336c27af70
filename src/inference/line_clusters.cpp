// From a map to classes of lines: a sample first, then all lines.
#include "inference/line_clusters.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>

#include "core/random.hpp"
#include "inference/line_checks.hpp"
#include "inference/line_partition.hpp"
#include "inference/statistics.hpp"

namespace gpusonde {
namespace {

constexpr std::size_t k_least_lines = 64;
constexpr double k_most_unlabelled = 0.1;
// Slices of real GPUs that differ at all differ by more, mostly; see LineClusterOptions::even_spread for those that
// do not.
constexpr double k_alike_cycles = 1;
// So many classes even in size do not all hold two slices by chance.
constexpr std::size_t k_even_classes = 8;

std::vector<std::size_t> choose_lines(std::size_t lines, const LineClusterOptions& options) {
  std::vector<std::size_t> order(lines);
  std::iota(order.begin(), order.end(), std::size_t{0});
  const std::size_t wanted = std::clamp(options.sample_lines, k_least_lines, std::max(lines, k_least_lines));
  Random random(options.seed);
  for (std::size_t i = 0; i < std::min(wanted, lines); ++i)
    std::swap(order[i], order[i + static_cast<std::size_t>(random.below(lines - i))]);
  order.resize(std::min(wanted, lines));
  return order;
}

LinePartition settle_all(const LineTable& table, const LineModel& model) {
  std::vector<std::size_t> lines(table.lines());
  std::iota(lines.begin(), lines.end(), std::size_t{0});
  std::vector<std::size_t> labels;
  std::vector<bool> used(model.count(), false);
  for (const std::size_t line : lines) {
    const LinePlace place = place_line(model, table.row(line));
    labels.push_back(place.far ? k_loose : place.nearest);
    if (labels.back() != k_loose) used[labels.back()] = true;
  }
  if (std::find(used.begin(), used.end(), false) != used.end())
    return {std::move(labels), model, "a class of the sample has no line of its own", false};
  return settle(table, lines, std::move(labels), model.count());
}

// Classes in order of their first line.
void fill_labels(LineClusters& result, const LinePartition& partition, const LineTable& table) {
  const LineModel& model = partition.model;
  std::vector<std::int32_t> number(model.count(), k_unlabelled);
  std::vector<std::size_t> order;
  for (const std::size_t label : partition.labels) {
    if (label != k_loose && number[label] == k_unlabelled) {
      number[label] = static_cast<std::int32_t>(order.size());
      order.push_back(label);
    }
    result.label.push_back(label == k_loose ? k_unlabelled : number[label]);
  }
  result.count = order.size();
  result.sizes.assign(order.size(), 0);
  for (const std::int32_t label : result.label)
    if (label != k_unlabelled) ++result.sizes[static_cast<std::size_t>(label)];
  for (const std::size_t k : order) {
    const auto centre = model.centres.row(k);
    result.centre_cycles.emplace_back(centre.begin(), centre.begin() + static_cast<std::ptrdiff_t>(table.sms()));
    result.spread.push_back(model.spread[k]);
  }
  result.sigma_cycles = model.sigma_cycles;
}

void fill_figures(LineClusters& result, const LinePartition& partition, const LineTable& table) {
  const LineModel& model = partition.model;
  result.noise_cycles = median(model.sigma_cycles);
  std::vector<double> inside;
  for (std::size_t line = 0; line < table.lines(); ++line)
    if (partition.labels[line] != k_loose)
      inside.push_back(line_distance_cycles(model, table.row(line), partition.labels[line]));
  if (!inside.empty()) result.largest_inside_cycles = quantile(inside, 0.999);
  for (std::size_t a = 0; a < model.count(); ++a)
    for (std::size_t b = 0; b < a; ++b) {
      const double cycles = centre_distance_cycles(model, a, b);
      const double sigmas = centre_distance(model, a, b);
      const bool first = a == 1 && b == 0;
      result.smallest_between_cycles = first ? cycles : std::min(cycles, result.smallest_between_cycles);
      result.gap_sigmas = first ? sigmas : std::min(sigmas, result.gap_sigmas);
    }
  std::vector<double> sizes(result.sizes.begin(), result.sizes.end());
  if (!sizes.empty()) result.resolution_cycles = resolution_cycles(model, static_cast<std::size_t>(median(sizes)));
}

// Why a partition that stands the checks still proves no count; empty when it does. May widen the range.
std::string remaining_doubt(LineClusters& result, const LineClusterOptions& options) {
  const auto unlabelled = std::count(result.label.begin(), result.label.end(), k_unlabelled);
  if (static_cast<double>(unlabelled) > k_most_unlabelled * static_cast<double>(result.label.size()))
    return fmt::format("{} of {} lines fit into no class", unlabelled, result.label.size());
  if (options.even_spread) {
    const SizeCheck sizes = check_sizes(result.sizes);
    result.count_range.high = std::max(result.count_range.high, static_cast<double>(sizes.slices));
    if (!sizes.trouble.empty()) return sizes.trouble;
  }
  if (result.resolution_cycles > k_alike_cycles && !(options.even_spread && result.count >= k_even_classes))
    return fmt::format("slices less than {:.1f} cycles apart would pass for one; measure more SMs or repetitions",
                       result.resolution_cycles);
  return {};
}

}  // namespace

LineClusters cluster_lines(const LineMap& map, const LineClusterOptions& options) {
  LineClusters result;
  if (!well_formed(map)) {
    result.reason = "the map is empty or has a reading that is no latency";
    return result;
  }
  if (map.lines < k_least_lines) {
    result.reason = fmt::format("{} lines are too few to see classes; measure at least {}", map.lines, k_least_lines);
    return result;
  }
  const LineTable table(map);
  const SamplePartition found = partition_sample(table, choose_lines(map.lines, options));
  result.reason = found.trouble;
  result.count_range = {static_cast<double>(found.fewest), static_cast<double>(found.most)};
  if (found.best.count() == 0) return result;

  const LinePartition all = settle_all(table, found.best.model);
  fill_labels(result, all, table);
  fill_figures(result, all, table);
  const auto count = static_cast<double>(result.count);
  result.count_range.low = std::min(result.count_range.low, count);
  result.count_range.high = std::max(result.count_range.high, count);
  if (result.reason.empty()) result.reason = all.trouble;
  if (result.reason.empty()) {
    result.count_range = {count, count};
    result.reason = remaining_doubt(result, options);
  }
  if (result.reason.empty()) result.outcome = Outcome::ok;
  return result;
}

std::vector<std::int32_t> assign(const LineClusters& clusters, const LineMap& more) {
  std::vector<std::int32_t> labels(more.lines, k_unlabelled);
  if (!well_formed(more) || clusters.centre_cycles.empty() || clusters.sigma_cycles.size() != more.sms) return labels;
  LineTable centres(more.sms, clusters.centre_cycles.size());
  for (std::size_t k = 0; k < clusters.centre_cycles.size(); ++k)
    std::copy(clusters.centre_cycles[k].begin(), clusters.centre_cycles[k].end(), centres.row(k).begin());
  const LineModel model = make_model(std::move(centres), clusters.sigma_cycles, clusters.spread);
  const LineTable table(more);
  for (std::size_t line = 0; line < more.lines; ++line) {
    const std::size_t label = place_line(model, table.row(line)).label();
    if (label != k_loose) labels[line] = static_cast<std::int32_t>(label);
  }
  return labels;
}

}  // namespace gpusonde
