// Whether the lines of one class differ by more than noise, along the direction in which they differ most.
#include <algorithm>
#include <cmath>
#include <numeric>

#include "inference/line_checks.hpp"
#include "inference/two_heaps.hpp"

namespace gpusonde {
namespace {

constexpr double k_clip_sigmas = 4;
constexpr std::size_t k_least_heap = 4;
constexpr double k_most_between = 0.05;
constexpr double k_least_share_of_noise = 0.3;
// Readings looked at over all classes: 2,000,000 take about a tenth of a second.
constexpr std::size_t k_readings = 1'000'000;
// The largest eigenvalue exceeds edge + 5 scales once in a million; the share is for noise that is not quite normal.
constexpr double k_edge_scales = 5;
constexpr double k_edge_share = 1.1;
// From so many SMs on a class's own spread, rather than that of all, says how noisy its lines are.
constexpr std::size_t k_sms_for_own_noise = 16;

struct Edge {
  double centre = 0;
  double scale = 0;
};
Edge noise_edge(double lines, double sms) {
  const double a = std::sqrt(std::max(lines - 1, 1.0));
  const double b = std::sqrt(sms);
  return {(a + b) * (a + b), (a + b) * std::cbrt(1 / a + 1 / b)};
}
double eigenvalue_limit(double lines, double sms) {
  const Edge edge = noise_edge(lines, sms);
  return k_edge_share * (edge.centre + k_edge_scales * edge.scale);
}

// From this spread on a class's noise is another than that of all, and each SM's share of it another too.
constexpr double k_own_noise_spread = 2;

// Rows of one class about their mean, in units of the noise, clipped; as wide as the table's.
std::vector<float> standard_residuals(const LabelledLines& lines, const LineModel& model,
                                      std::span<const std::size_t> members, std::size_t label) {
  const std::size_t width = model.centres.width();
  const bool own_noise = model.centres.sms() >= k_sms_for_own_noise && model.spread[label] >= k_own_noise_spread;
  std::vector<float> residuals(members.size() * width, 0.0F);
  for (std::size_t sm = 0; sm < model.centres.sms(); ++sm) {
    const double centre = model.centres.row(label)[sm];
    double mean = 0;
    for (std::size_t i = 0; i < members.size(); ++i) {
      const double x = (lines.table.row(lines.lines[members[i]])[sm] - centre) * model.weight[sm];
      const double limit = k_clip_sigmas * std::sqrt(model.spread[label]);
      mean += residuals[i * width + sm] = static_cast<float>(std::clamp(x, -limit, limit));
    }
    mean /= static_cast<double>(members.size());
    double square = 0;
    for (std::size_t i = 0; i < members.size(); ++i) {
      const double x = residuals[i * width + sm] -= static_cast<float>(mean);
      square += x * x / static_cast<double>(members.size());
    }
    if (!own_noise || square == 0) continue;
    const auto scale = static_cast<float>(1 / std::sqrt(square));
    for (std::size_t i = 0; i < members.size(); ++i) residuals[i * width + sm] *= scale;
  }
  return residuals;
}

// Two heaps, or a flat top, have a negative excess; late readings a positive one, which is no matter.
bool flat(const std::vector<double>& scores) {
  const auto n = static_cast<double>(scores.size());
  double second = 0;
  double fourth = 0;
  for (const double x : scores) {
    second += x * x / n;
    fourth += x * x * x * x / n;
  }
  return second > 0 && fourth / (second * second) - 3 < -0.1 - 4 * std::sqrt(24 / n);
}

// Two heaps, where the middle between them is empty enough to cut there.
void part(const std::vector<double>& scores, ClassShape& shape) {
  const TwoHeaps heaps = two_heaps(scores);
  shape.parted = heaps.lower_count >= k_least_heap && scores.size() - heaps.lower_count >= k_least_heap &&
                 heaps.share_between <= k_most_between;
  shape.upper.clear();
  for (const double score : scores) shape.upper.push_back(score >= heaps.cut);
}

}  // namespace

ClassShape class_shape(const LabelledLines& lines, const LineModel& model, std::size_t label) {
  ClassShape shape;
  const std::size_t sms = model.centres.sms();
  const std::size_t most = std::clamp<std::size_t>(k_readings / (sms * model.count()), 64, 4096);
  for (std::size_t i = 0; i < lines.lines.size() && shape.members.size() < most; ++i)
    if (lines.labels[i] == label) shape.members.push_back(i);
  const std::size_t count = shape.members.size();
  if (count < 4) return shape;
  const std::vector<float> rows = standard_residuals(lines, model, shape.members, label);
  const LeadingPair leading = leading_pair(rows, count, model.centres.width());
  double noise = 1;
  if (sms >= k_sms_for_own_noise) {
    const double square = std::inner_product(rows.begin(), rows.end(), rows.begin(), 0.0);
    // Never below the noise of all: rounded readings of one class may all be equal.
    noise = std::max(1.0, square / static_cast<double>((count - 1) * sms));
  }
  const auto n = static_cast<double>(count);
  const double eigenvalue = leading.value * leading.value;
  // Below the noise, at steps of the clock's rounding, a shape means nothing.
  const bool seen_flat = eigenvalue > k_least_share_of_noise * n && flat(leading.rows);
  shape.alike = eigenvalue <= noise * eigenvalue_limit(n, static_cast<double>(sms)) && !seen_flat;
  if (!shape.alike) part(leading.rows, shape);
  return shape;
}

double resolution_cycles(const LineModel& model, std::size_t class_lines) {
  const auto sms = static_cast<double>(model.centres.sms());
  const auto n = static_cast<double>(std::max<std::size_t>(class_lines, 4));
  const double limit = eigenvalue_limit(n, sms);
  // Where a spike of s in the variance along one direction stands in the sample: n (1 + s) (1 + sms / (n s)).
  double spike = std::sqrt(sms / n);
  while (n * (1 + spike) * (1 + sms / (n * spike)) < limit) spike *= 1.05;
  // One class alone is compared with its own noise, and through few SMs only its shape can tell: two equal heaps are
  // seen to be flat from 2.5 sigmas on.
  const double sigmas = std::max(2 * std::sqrt(spike), model.count() == 1 && sms < k_sms_for_own_noise ? 2.5 : 0.0);
  double square = 0;
  for (const double sigma : model.sigma_cycles) square += sigma * sigma / sms;
  return sigmas * std::sqrt(square / sms);
}

}  // namespace gpusonde
