// The additive fit of a latency map, by means over residuals that are clipped anew each round.
#include "inference/line_map.hpp"

#include <algorithm>
#include <cmath>

#include "inference/statistics.hpp"

namespace gpusonde {
namespace {

constexpr int k_rounds = 6;
constexpr double k_clip_sigmas = 4;
constexpr double k_rounding_cycles = 0.25;  // readings come in eighths
// So many residuals give the spread to about 1 %; a map may hold millions.
constexpr std::size_t k_spread_readings = 20'000;

double residual(const LineMap& map, const AdditiveFit& fit, std::size_t sm, std::size_t line) {
  return map.at(sm, line) - fit.mean_cycles - fit.sm_cycles[sm] - fit.line_cycles[line];
}

double clip_limit(const LineMap& map, const AdditiveFit& fit) {
  // An odd step, so that a regular map is not read in one column only.
  const std::size_t step = std::max<std::size_t>(1, map.cycles.size() / k_spread_readings) | 1U;
  std::vector<double> some;
  for (std::size_t i = 0; i < map.cycles.size(); i += step)
    some.push_back(residual(map, fit, i / map.lines, i % map.lines));
  const double sigma = mad_sigma(some);
  if (sigma > k_rounding_cycles) return k_clip_sigmas * sigma;
  // More than half of the residuals are alike, as without noise: what the others say must not be clipped away.
  double squares = 0;
  for (const double each : some) squares += each * each;
  return k_clip_sigmas * std::sqrt(squares / static_cast<double>(some.size()));
}

void centre_effects(AdditiveFit& fit) {
  for (auto* effects : {&fit.sm_cycles, &fit.line_cycles}) {
    double mean = 0;
    for (const double effect : *effects) mean += effect / static_cast<double>(effects->size());
    for (double& effect : *effects) effect -= mean;
    fit.mean_cycles += mean;
  }
}

// One round: the mean clipped residual of each SM and of each line goes into its effect.
void improve(const LineMap& map, AdditiveFit& fit, double limit) {
  std::vector<double> by_sm(map.sms, 0.0);
  std::vector<double> by_line(map.lines, 0.0);
  for (std::size_t sm = 0; sm < map.sms; ++sm)
    for (std::size_t line = 0; line < map.lines; ++line) {
      const double clipped = std::clamp(residual(map, fit, sm, line), -limit, limit);
      by_sm[sm] += clipped;
      by_line[line] += clipped;
    }
  double overall = 0;
  for (double& sum : by_sm) {
    sum /= static_cast<double>(map.lines);
    overall += sum / static_cast<double>(map.sms);
  }
  for (std::size_t sm = 0; sm < map.sms; ++sm) fit.sm_cycles[sm] += by_sm[sm] - overall / 2;
  for (std::size_t line = 0; line < map.lines; ++line)
    fit.line_cycles[line] += by_line[line] / static_cast<double>(map.sms) - overall / 2;
  centre_effects(fit);
}

// Starts from medians, which no outlier moves far: of each line over the SMs, then of each SM over what is left.
AdditiveFit from_medians(const LineMap& map) {
  AdditiveFit fit;
  std::vector<double> column(map.sms);
  for (std::size_t line = 0; line < map.lines; ++line) {
    for (std::size_t sm = 0; sm < map.sms; ++sm) column[sm] = map.at(sm, line);
    const auto middle = column.begin() + static_cast<std::ptrdiff_t>(map.sms / 2);
    std::nth_element(column.begin(), middle, column.end());
    fit.line_cycles.push_back(*middle);
  }
  const std::size_t step = std::max<std::size_t>(1, map.lines / 4096);
  for (std::size_t sm = 0; sm < map.sms; ++sm) {
    std::vector<double> left;
    for (std::size_t line = 0; line < map.lines; line += step) left.push_back(map.at(sm, line) - fit.line_cycles[line]);
    fit.sm_cycles.push_back(median(left));
  }
  centre_effects(fit);
  return fit;
}

}  // namespace

bool well_formed(const LineMap& map) noexcept {
  return map.sms > 0 && map.lines > 0 && map.cycles.size() / map.sms == map.lines && map.cycles.size() % map.sms == 0 &&
         std::all_of(map.cycles.begin(), map.cycles.end(), [](float x) { return std::isfinite(x) && x > 0; });
}

AdditiveFit fit_additive(const LineMap& map) {
  if (!well_formed(map)) return {};
  AdditiveFit fit = from_medians(map);
  double limit = 0;
  for (int round = 0; round < k_rounds; ++round) {
    limit = clip_limit(map, fit);
    // With a spread of 0 nearly all readings fit exactly already, and no limit would let an outlier back in.
    if (limit == 0) break;
    improve(map, fit, limit);
  }
  double left = 0;
  double all = 0;
  for (std::size_t sm = 0; sm < map.sms; ++sm)
    for (std::size_t line = 0; line < map.lines; ++line) {
      const double clipped = std::clamp(residual(map, fit, sm, line), -limit, limit);
      const double whole = clipped + fit.sm_cycles[sm] + fit.line_cycles[line];
      left += clipped * clipped;
      all += whole * whole;
    }
  const auto n = static_cast<double>(map.cycles.size());
  const auto degrees = static_cast<double>((map.sms - 1) * (map.lines - 1));
  fit.sigma_cycles = degrees > 0 ? std::sqrt(left / std::min(n, degrees)) : 0;
  fit.explained = all > 0 ? 1 - left / all : 1;
  return fit;
}

}  // namespace gpusonde
