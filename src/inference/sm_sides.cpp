// Sides of SMs and homes of lines, each from the other in turn.
#include "inference/sm_sides.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "inference/line_clusters.hpp"
#include "inference/two_heaps.hpp"

namespace gpusonde {
namespace {

constexpr std::size_t k_least_sms = 4;
constexpr std::size_t k_least_lines = 16;
constexpr std::size_t k_lines_to_begin = 2048;
constexpr double k_clip_sigmas = 4;
constexpr int k_rounds = 20;
constexpr double k_most_between = 0.02;
constexpr double k_least_share = 0.1;
// A single SM would make a side of its own late readings.
constexpr std::size_t k_least_sms_a_side = 2;
// In crossings. A wrong home costs half of one for each SM of the smaller side.
constexpr double k_least_misfit = 0.3;
// A crossing between the halves of an L2 costs tens of cycles on the chips that have them; assumed.
constexpr double k_least_contrast_cycles = 3;
constexpr double k_no_contrast_cycles = 2;
constexpr double k_most_spread_in_heap = 0.25;
// SMs evenly along a line leave 8 % in the middle fifth of the strongest interaction.
constexpr std::size_t k_sms_for_even = 16;
constexpr double k_even_between = 0.04;

// What the additive fit leaves over, late readings pulled in; [sm][line].
std::vector<float> interaction(const LineMap& map, const AdditiveFit& fit) {
  const double limit = k_clip_sigmas * fit.sigma_cycles;
  std::vector<float> left(map.cycles.size());
  for (std::size_t sm = 0; sm < map.sms; ++sm)
    for (std::size_t line = 0; line < map.lines; ++line)
      left[sm * map.lines + line] = static_cast<float>(
          std::clamp(map.at(sm, line) - fit.mean_cycles - fit.sm_cycles[sm] - fit.line_cycles[line], -limit, limit));
  return left;
}

std::vector<bool> first_sides(const std::vector<float>& left, const LineMap& map) {
  const std::size_t step = (map.lines + k_lines_to_begin - 1) / k_lines_to_begin;
  std::vector<float> some;
  for (std::size_t sm = 0; sm < map.sms; ++sm)
    for (std::size_t line = 0; line < map.lines; line += step) some.push_back(left[sm * map.lines + line]);
  const LeadingPair pair = leading_pair(some, map.sms, some.size() / map.sms);
  const TwoHeaps heaps = two_heaps(pair.rows);
  std::vector<bool> upper;
  for (const double score : pair.rows) upper.push_back(score >= heaps.cut);
  return upper;
}

// Mean over the upper less mean over the lower, of each line over the SMs or of each SM over the lines.
std::vector<double> line_scores(const std::vector<float>& left, const LineMap& map, const std::vector<bool>& sm_upper) {
  const auto uppers = static_cast<double>(std::count(sm_upper.begin(), sm_upper.end(), true));
  const double lowers = static_cast<double>(map.sms) - uppers;
  std::vector<double> scores(map.lines, 0.0);
  for (std::size_t sm = 0; sm < map.sms; ++sm)
    for (std::size_t line = 0; line < map.lines; ++line)
      scores[line] += left[sm * map.lines + line] * (sm_upper[sm] ? 1 / uppers : -1 / lowers);
  return scores;
}
std::vector<double> sm_scores(const std::vector<float>& left, const LineMap& map, const std::vector<bool>& line_upper) {
  const auto uppers = static_cast<double>(std::count(line_upper.begin(), line_upper.end(), true));
  const double lowers = static_cast<double>(map.lines) - uppers;
  std::vector<double> scores(map.sms, 0.0);
  for (std::size_t sm = 0; sm < map.sms; ++sm)
    for (std::size_t line = 0; line < map.lines; ++line)
      scores[sm] += left[sm * map.lines + line] * (line_upper[line] ? 1 / uppers : -1 / lowers);
  return scores;
}

struct Heaps {
  TwoHeaps heaps;
  std::vector<double> scores;
  std::vector<bool> upper;

  [[nodiscard]] std::size_t smaller() const { return std::min(heaps.lower_count, scores.size() - heaps.lower_count); }
  [[nodiscard]] double share() const { return static_cast<double>(smaller()) / static_cast<double>(scores.size()); }
  // Far less near: scores of the two heaps differ by twice that.
  [[nodiscard]] double contrast() const { return (heaps.high - heaps.low) / 2; }
  [[nodiscard]] double spread() const {
    double square = 0;
    for (std::size_t i = 0; i < scores.size(); ++i) {
      const double x = scores[i] - (upper[i] ? heaps.high : heaps.low);
      square += x * x;
    }
    return std::sqrt(square / static_cast<double>(scores.size()));
  }
};
Heaps into_heaps(std::vector<double> scores) {
  Heaps result{two_heaps(scores), std::move(scores), {}};
  for (const double score : result.scores) result.upper.push_back(score >= result.heaps.cut);
  return result;
}

SmSides no_sides(std::string reason) {
  SmSides result;
  result.reason = std::move(reason);
  return result;
}

SmSides one_side(const LineMap& map) {
  SmSides result;
  result.outcome = Outcome::ok;
  result.sides = 1;
  result.sm_side.assign(map.sms, 0);
  result.line_home.assign(map.lines, 0);
  return result;
}

// How badly a home fits a line: what its readings are off their median once the crossings are taken away, none by more
// than half a crossing, so that a late reading weighs no more than half a wrong side.
double misfit(std::vector<double>& cycles, double most) {
  const auto middle = cycles.begin() + static_cast<std::ptrdiff_t>(cycles.size() / 2);
  std::nth_element(cycles.begin(), middle, cycles.end());
  const double centre = *middle;
  double sum = 0;
  for (const double x : cycles) sum += std::min(std::abs(x - centre), most);
  return sum;
}

SmSides both_sides(const LineMap& map, const AdditiveFit& fit, const Heaps& sms, const Heaps& lines) {
  SmSides result;
  result.outcome = Outcome::ok;
  result.sides = 2;
  const bool first = sms.upper.front();
  for (const bool upper : sms.upper) result.sm_side.push_back(upper == first ? 0 : 1);
  result.contrast_cycles = sms.contrast();
  const double error = 1.96 * sms.spread() / std::sqrt(static_cast<double>(sms.scores.size()));
  result.contrast_interval = {sms.contrast() - error, sms.contrast() + error};

  // A high score is one of lines that are near to the lower SMs. An SM's effect holds its share of far lines.
  const double near_upper = static_cast<double>(lines.heaps.lower_count) / static_cast<double>(map.lines);
  const double crossing = sms.contrast();
  std::vector<double> to_upper(map.sms);
  std::vector<double> to_lower(map.sms);
  for (std::size_t line = 0; line < map.lines; ++line) {
    for (std::size_t sm = 0; sm < map.sms; ++sm) {
      const double far_share = sms.upper[sm] ? 1 - near_upper : near_upper;
      const double base = map.at(sm, line) - fit.sm_cycles[sm] + crossing * far_share;
      to_upper[sm] = base - (sms.upper[sm] ? 0 : crossing);
      to_lower[sm] = base - (sms.upper[sm] ? crossing : 0);
    }
    const double difference = misfit(to_lower, crossing / 2) - misfit(to_upper, crossing / 2);
    const bool undecided = std::abs(difference) < k_least_misfit * crossing;
    result.line_home.push_back(undecided ? k_unlabelled : (difference > 0) == first ? 0 : 1);
  }
  return result;
}

}  // namespace

SmSides split_sides(const LineMap& atomics) {
  if (!well_formed(atomics)) return no_sides("the map is empty or has a reading that is no latency");
  if (atomics.sms < k_least_sms || atomics.lines < k_least_lines)
    return no_sides(fmt::format("{} SMs and {} lines are too few to see sides; measure {} SMs and {} lines or more",
                                atomics.sms, atomics.lines, k_least_sms, k_least_lines));
  const AdditiveFit fit = fit_additive(atomics);
  const std::vector<float> left = interaction(atomics, fit);
  std::vector<bool> side = first_sides(left, atomics);
  Heaps lines;
  Heaps sms;
  for (int round = 0; round < k_rounds; ++round) {
    lines = into_heaps(line_scores(left, atomics, side));
    sms = into_heaps(sm_scores(left, atomics, lines.upper));
    if (sms.upper == side) break;
    side = sms.upper;
  }
  const double contrast = lines.contrast();
  if (contrast < k_no_contrast_cycles) return one_side(atomics);
  if (atomics.sms >= k_sms_for_even && sms.heaps.share_between >= k_even_between) return one_side(atomics);

  if (sms.heaps.share_between > k_most_between || lines.heaps.share_between > k_most_between)
    return no_sides("SMs or lines lie between two sides, with no clear gap");
  if (sms.smaller() < k_least_sms_a_side || sms.share() < k_least_share || lines.share() < k_least_share)
    return no_sides(fmt::format("one side would have {:.0f} % of the SMs and {:.0f} % of the lines", 100 * sms.share(),
                                100 * lines.share()));
  if (contrast < k_least_contrast_cycles || sms.spread() > k_most_spread_in_heap * contrast ||
      lines.spread() > k_most_spread_in_heap * contrast)
    return no_sides(
        fmt::format("far and near differ by {:.1f} cycles, too little against what else varies ({:.1f} cycles)",
                    contrast, std::max(sms.spread(), lines.spread())));
  return both_sides(atomics, fit, sms, lines);
}

}  // namespace gpusonde
