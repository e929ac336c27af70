// Separation, halves and sizes. What goes on inside a class is in line_class_shape.cpp.
#include "inference/line_checks.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace gpusonde {
namespace {

// Each line is then 4 sigmas from the middle between two classes: one in 30,000 is put wrong.
constexpr double k_least_separation_sigmas = 8;
// Share of two neighbours' lines in the middle fifth between them. Continuous structure has 20 %.
constexpr double k_most_between = 0.02;
// Half of the SMs leave 2.8 sigmas to the middle, and a share of lines has readings that came late.
constexpr double k_least_agreement = 0.98;
constexpr std::size_t k_lines_tried = 8192;
// A slice's lines number about u +- sqrt(u), two merged 2 u +- sqrt(2 u). At 64 the limit of sqrt(2) u is over 3
// standard deviations from both.
constexpr std::size_t k_least_lines_a_slice = 64;
constexpr double k_largest_over_median = 1.4142;
constexpr double k_smallest_over_median = 0.6;
// With few classes a median is itself one of the merged ones; they must then be nearly equal.
constexpr std::size_t k_few_classes = 5;
constexpr std::size_t k_lines_a_slice_few = 200;
constexpr double k_largest_over_smallest_few = 1.4;

// Along the line through both centres, 0 at the first and 1 at the second.
double share_between(const LabelledLines& lines, const LineModel& model, std::size_t a, std::size_t b) {
  const auto first = model.centres.row(a);
  const auto second = model.centres.row(b);
  double square = 0;
  std::vector<double> direction(model.centres.sms());
  for (std::size_t sm = 0; sm < direction.size(); ++sm) {
    direction[sm] = (second[sm] - first[sm]) * model.weight[sm];
    square += direction[sm] * direction[sm];
  }
  std::size_t all = 0;
  std::size_t between = 0;
  for (std::size_t i = 0; i < lines.lines.size(); ++i) {
    if (lines.labels[i] != a && lines.labels[i] != b) continue;
    const auto row = lines.table.row(lines.lines[i]);
    const auto own = model.centres.row(lines.labels[i]);
    double along = lines.labels[i] == a ? 0 : square;
    // A reading beyond the noise says nothing about where between the two a line lies.
    for (std::size_t sm = 0; sm < direction.size(); ++sm)
      along += std::clamp<double>((row[sm] - own[sm]) * model.weight[sm], -4, 4) * direction[sm];
    ++all;
    if (along > 0.4 * square && along < 0.6 * square) ++between;
  }
  return all == 0 ? 0 : static_cast<double>(between) / static_cast<double>(all);
}

// A model that sees every second SM only: the weights of the others are 0.
LineModel half_of_sms(LineModel model, std::size_t parity) {
  for (std::size_t sm = 0; sm < model.centres.sms(); ++sm)
    if (sm % 2 != parity) model.weight[sm] = 0;
  return model;
}

// Share of the labelled lines with this parity within their class that come to their own class again.
double agreement(const LabelledLines& lines, const LineModel& model, std::size_t parity) {
  std::vector<std::size_t> seen(model.count(), 0);
  std::size_t all = 0;
  std::size_t same = 0;
  const std::size_t step = (lines.lines.size() + k_lines_tried - 1) / k_lines_tried;
  for (std::size_t i = 0; i < lines.lines.size(); ++i) {
    const std::size_t label = lines.labels[i];
    if (label == k_loose || seen[label]++ % 2 != parity || i % step != 0) continue;
    ++all;
    if (place_line(model, lines.table.row(lines.lines[i])).nearest == label) ++same;
  }
  return all == 0 ? 0 : static_cast<double>(same) / static_cast<double>(all);
}

}  // namespace

std::string check_separation(const LabelledLines& lines, const LineModel& model) {
  for (std::size_t a = 0; a < model.count(); ++a) {
    std::size_t nearest = a;
    double least = 0;
    for (std::size_t b = 0; b < model.count(); ++b) {
      if (b == a) continue;
      const double distance = centre_distance(model, a, b);
      if (nearest != a && distance >= least) continue;
      least = distance;
      nearest = b;
    }
    if (nearest == a) continue;
    if (least < k_least_separation_sigmas * std::sqrt(std::max(model.spread[a], model.spread[nearest])))
      return fmt::format("two classes lie {:.1f} standard deviations of the noise apart, less than {:.0f}", least,
                         k_least_separation_sigmas);
    const double between = share_between(lines, model, a, nearest);
    if (between > k_most_between)
      return fmt::format("{:.0f} % of the lines of two neighbouring classes lie in the middle between them",
                         100 * between);
  }
  return {};
}

std::string check_halves(const LabelledLines& lines, const LineModel& model) {
  if (model.count() < 2) return {};
  for (std::size_t line_parity = 0; line_parity < 2; ++line_parity) {
    std::vector<std::size_t> labels(lines.labels.begin(), lines.labels.end());
    std::vector<std::size_t> seen(model.count(), 0);
    for (std::size_t& label : labels)
      if (label != k_loose && seen[label]++ % 2 == line_parity) label = k_loose;
    if (std::any_of(seen.begin(), seen.end(), [](std::size_t n) { return n < 2; }))
      return "a class has a single line, which nothing confirms";
    const LineModel half = estimate_model(lines.table, lines.lines, labels, model.count());
    const bool few_sms = model.centres.sms() < 8;
    for (std::size_t sm_parity = 0; sm_parity < (few_sms ? 1 : 2); ++sm_parity) {
      const double share = agreement(lines, few_sms ? half : half_of_sms(half, sm_parity), line_parity);
      if (share < k_least_agreement)
        return fmt::format("only {:.1f} % of the lines fall into the same class through every second SM", 100 * share);
    }
  }
  return {};
}

SizeCheck check_sizes(std::span<const std::size_t> sizes) {
  SizeCheck check;
  check.slices = sizes.size();
  if (sizes.size() < 2) return check;
  std::vector<std::size_t> sorted(sizes.begin(), sizes.end());
  std::sort(sorted.begin(), sorted.end());
  const bool few = sorted.size() < k_few_classes;
  const auto smallest = static_cast<double>(sorted.front());
  const auto largest = static_cast<double>(sorted.back());
  const double unit = few ? smallest : static_cast<double>(sorted[(sorted.size() - 1) / 2]);
  const double least = few ? k_lines_a_slice_few : k_least_lines_a_slice;
  check.slices = 0;
  for (const std::size_t size : sorted)
    check.slices += std::max<std::size_t>(1, static_cast<std::size_t>(std::lround(static_cast<double>(size) / unit)));
  if (unit < least)
    check.trouble = fmt::format(
        "a class has about {:.0f} lines, too few to tell one slice from two alike; measure about {:.0f} lines", unit,
        std::ceil(1.2 * least * static_cast<double>(sorted.size()) / 1000) * 1000);
  else if (largest > (few ? k_largest_over_smallest_few : k_largest_over_median) * unit)
    check.trouble =
        fmt::format("classes have about {:.0f} lines, one {:.0f}, so slices that all SMs see alike lie in one class",
                    unit, largest);
  else if (smallest < k_smallest_over_median * unit)
    check.trouble =
        fmt::format("classes have about {:.0f} lines, one {:.0f}, so most classes may hold two slices", unit, smallest);
  return check;
}

}  // namespace gpusonde
