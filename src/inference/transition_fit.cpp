// Capacity from the shape of a transition: every shape that a cache can give is laid over the points at
// every capacity, and all that fit as well as the best one, within the noise, have a say. So what the
// points cannot tell apart (few ways filled evenly and many ways filled unevenly, for one) widens the
// interval instead of being decided by the fit.
#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <numeric>
#include <vector>

#include "inference/capacity.hpp"
#include "inference/miss_shapes.hpp"
#include "inference/transition_window.hpp"

namespace gpusonde {
namespace {

constexpr double k_frame_bytes = 0x1p21;  // physical pages are 2 MiB
constexpr double k_level_prior = 0.25;    // holds either level to what was given, as a quarter of a point would
constexpr double k_first_sigma = 0.02;    // of a miss fraction, before any is known
constexpr double k_expected_reading = 0.008;
constexpr double k_least_reading = 0.012;    // what shapes leave out: other policies, a TLB, slices of unequal distance
constexpr double k_expected_misfit = 0.015;  // of the places of the frames, before seeing any ...
constexpr double k_expected_count = 4;       // ... worth that many points
constexpr double k_largest_places = 0.045;   // above it the sets fill in steps, or it is no such edge
constexpr double k_least_inside = 0.02;      // of the miss fraction, where the places matter a little
constexpr double k_fitted_parameters = 3;    // capacity, spread, ways
constexpr double k_unusual = 0.05;           // prior of an unusual evenness
constexpr double k_margin_below = 0.4;       // octaves searched beyond the rise
constexpr double k_margin_above = 0.3;
constexpr double k_smooth = 0.02;            // misfit inside the rise that is no sign of steps
constexpr double k_independent_smooth = 12;  // points inside the rise that count, at most
constexpr double k_independent_rough = 4;
constexpr double k_least_weight = 0.05;  // of the most likely capacity's; some 2.4 sigma
constexpr double k_none = 0.05;          // miss fractions before and ...
constexpr double k_most = 0.65;          // ... beyond which the capacity does not lie
constexpr std::size_t k_few_inside = 5;
constexpr double k_soft_octaves = 0.25;
constexpr double k_moved = 0.03;            // by the frames of a buffer as large as an RTX 4090's L2
constexpr double k_widest_interval = 0.45;  // of the value; wider is no answer
constexpr double k_sure = 0.9;              // when a family is named
constexpr int k_capacity_steps = 64;        // an octave

struct Misfit {
  double squares = 0;    // weighted sum of squares over all points
  double low_shift = 0;  // corrections of the two levels, in miss fractions
  double high_shift = 0;
  double rise_shift = 0;  // at f = 1/2; falls off as f (1 - f)
};

double shape_at(const MissShape& shape, double log2_relative_size) {
  const double position = std::clamp(log2_relative_size * k_shape_steps + k_shape_origin, 0.0, k_shape_points - 1.001);
  const auto index = static_cast<std::size_t>(position);
  const double part = position - static_cast<double>(index);
  return (1 - part) * double{shape.misses[index]} + part * double{shape.misses[index + 1]};
}

// Variance of a miss fraction at the high level: of reading it; and, inside the rise, of where chance has
// put the frames, once for each point and once for all points together.
struct Noise {
  double reading = k_first_sigma * k_first_sigma;
  double places = 0;
  double shared_places = k_first_sigma * k_first_sigma;
};

// From the point's own miss fraction, not the shape's: else the likelihood would favour steep shapes, which
// have few points inside the rise.
double variance_of(const TransitionPoint& point, const Noise& noise) {
  const double f = std::clamp(point.misses, k_least_inside, 1 - k_least_inside);
  return noise.reading / point.weight + noise.places * 4 * f * (1 - f);
}

// Misfit of one shape at one capacity, in squared standard deviations. Three corrections are free
// within their slack, by least squares: of the two levels, and of the rise as a whole, since the frames of
// one buffer are placed once for all its sizes.
Misfit misfit(const TransitionWindow& window, const MissShape& shape, double log2_capacity, const Noise& noise) {
  double a00 = k_level_prior / noise.reading;
  double a01 = 0;
  double a02 = 0;
  double a11 = a00;
  double a12 = 0;
  double a22 = 1 / noise.shared_places;
  double b0 = 0;
  double b1 = 0;
  double b2 = 0;
  double squares = 0;
  for (const auto& point : window.points) {
    const double f = shape_at(shape, point.log2_size - log2_capacity);
    const double r = point.misses - f;
    const double bump = 4 * f * (1 - f);
    const double w = 1 / variance_of(point, noise);
    a00 += w * (1 - f) * (1 - f);
    a01 += w * (1 - f) * f;
    a02 += w * (1 - f) * bump;
    a11 += w * f * f;
    a12 += w * f * bump;
    a22 += w * bump * bump;
    b0 += w * (1 - f) * r;
    b1 += w * f * r;
    b2 += w * bump * r;
    squares += w * r * r;
  }
  // Cramer's rule on the symmetric system.
  const double c00 = a11 * a22 - a12 * a12;
  const double c01 = a02 * a12 - a01 * a22;
  const double c02 = a01 * a12 - a02 * a11;
  const double c11 = a00 * a22 - a02 * a02;
  const double c12 = a01 * a02 - a00 * a12;
  const double c22 = a00 * a11 - a01 * a01;
  const double determinant = a00 * c00 + a01 * c01 + a02 * c02;
  Misfit fit;
  fit.low_shift = (c00 * b0 + c01 * b1 + c02 * b2) / determinant;
  fit.high_shift = (c01 * b0 + c11 * b1 + c12 * b2) / determinant;
  fit.rise_shift = (c02 * b0 + c12 * b1 + c22 * b2) / determinant;
  fit.squares = std::max(0.0, squares - fit.low_shift * b0 - fit.high_shift * b1 - fit.rise_shift * b2);
  return fit;
}

// How likely a shape is before looking. A hash spreads every frame evenly over all sets or over a part of
// them, or spreads lines as chance would; what lies between is possible, and evenness beyond what one frame
// gives takes frames that follow each other under a hash that is not perfect, which is rare.
double prior_weight(const MissShape& shape, double log2_capacity) {
  const double frame_evenness = k_frame_bytes * shape.ways / std::exp2(log2_capacity);
  const bool usual = shape.evenness >= 1 || shape.evenness <= 1.25 * frame_evenness + 0.05;
  double natural = usual ? 1 : k_unusual;
  if (std::abs(shape.evenness - frame_evenness) < 0.1) natural = 2;
  if (shape.evenness >= 1) natural = 6;
  if (shape.evenness <= 0) natural = 10;
  if (shape.policy == SetPolicy::random) natural *= 0.5;
  if (shape.policy == SetPolicy::nru) natural *= 0.1;
  return natural * (std::has_single_bit(shape.ways) ? 4 : 1);
}

struct Grid {
  double first = 0;  // log2 of the smallest capacity
  int count = 0;

  [[nodiscard]] double at(int step) const { return first + static_cast<double>(step) / k_capacity_steps; }
};

// Points that tell something of the shape, the shallow ends of the rise among them.
double rising_points(const TransitionWindow& window) {
  const auto rising = [](const TransitionPoint& point) { return point.misses > 0.005 && point.misses < 0.995; };
  return static_cast<double>(std::count_if(window.points.begin(), window.points.end(), rising));
}

// All shapes at all capacities.
struct Fits {
  Grid grid;
  std::vector<double> squares;  // by shape, then capacity
  Misfit best{std::numeric_limits<double>::infinity()};
  std::size_t best_shape = 0;
  int best_step = 0;
};

Fits fit_all(const TransitionWindow& window, const Grid& grid, const Noise& noise) {
  const auto& shapes = miss_shapes();
  Fits fits{grid, {}};
  fits.squares.reserve(shapes.size() * static_cast<std::size_t>(grid.count));
  for (std::size_t s = 0; s < shapes.size(); ++s)
    for (int c = 0; c < grid.count; ++c) {
      const auto fit = misfit(window, shapes[s], grid.at(c), noise);
      fits.squares.push_back(fit.squares);
      if (fit.squares < fits.best.squares) {
        fits.best = fit;
        fits.best_shape = s;
        fits.best_step = c;
      }
    }
  return fits;
}

// Variance of the rise as a whole for a buffer of so many bytes; 0.03 for the 36 frames of an RTX 4090's
// L2, found by placing them at random a hundred times, and less with more frames.
double shared_places(double log2_bytes) {
  const double frames = std::exp2(log2_bytes) / k_frame_bytes;
  const double sigma = std::clamp(0.03 * std::sqrt(36 / frames), 0.02, 0.12);
  return sigma * sigma;
}

// Noise as the best fit leaves it: of reading, from the points on the plateaus, and of the places, from
// what the points inside the rise are off beyond that.
struct Residuals {
  Noise noise;
  double all = 0;     // root mean square
  double places = 0;  // root mean square inside the rise, beyond reading
};

Residuals residuals_of(const TransitionWindow& window, const Fits& fits) {
  const auto& shape = miss_shapes()[fits.best_shape];
  double outside = k_expected_reading * k_expected_reading;
  double outside_count = 1;
  double total = 0;
  std::vector<std::pair<double, double>> inside;  // squared residual, f (1 - f)
  for (const auto& point : window.points) {
    const double f = shape_at(shape, point.log2_size - fits.grid.at(fits.best_step));
    const double r = point.misses - f - (1 - f) * fits.best.low_shift - f * fits.best.high_shift -
                     4 * f * (1 - f) * fits.best.rise_shift;
    total += r * r;
    if (f > 0.02 && f < 0.98) {
      inside.emplace_back(r * r, f * (1 - f));
    } else {
      outside += point.weight * r * r;
      outside_count += 1;
    }
  }
  Residuals result;
  result.noise.reading = std::max(outside / std::max(outside_count - 1, 1.0), k_least_reading * k_least_reading);
  const auto count = static_cast<double>(inside.size());
  const double free = std::max(count - k_fitted_parameters, 0.0);
  double excess = 0;
  double relative = 0;
  for (const auto& [squared, spread] : inside) {
    excess += squared - result.noise.reading;
    relative += (squared - result.noise.reading) / (4 * spread + 0.2);
  }
  result.places = count < 1 ? 0 : std::sqrt(std::max(0.0, excess) / std::max(free, 1.0));
  result.noise.places =
      (std::max(0.0, relative) + k_expected_count * k_expected_misfit * k_expected_misfit) / (free + k_expected_count);
  result.noise.shared_places = shared_places(fits.grid.at(fits.best_step));
  result.all = std::sqrt(total / static_cast<double>(window.points.size()));
  return result;
}

// What holds whatever the shape: no cache misses much before some set is full, and at its capacity
// hardly one misses more than six in ten. So where the rise is rough, or few points lie in it, the interval
// takes in all sizes from the one end to the other; where it is soft and smooth, what frames placed once
// for all sizes may move it.
void widen(Interval& interval, const TransitionWindow& window, const Residuals& residuals, double value) {
  double none = window.points.front().log2_size;
  double most = window.points.back().log2_size;
  for (const auto& point : window.points)
    if (point.misses < k_none) none = point.log2_size;
  for (auto point = window.points.rbegin(); point != window.points.rend(); ++point)
    if (point->misses > k_most) most = point->log2_size;
  const bool soft = window.first_high - window.last_low > k_soft_octaves;
  if (residuals.places > k_smooth || (window.inside > 0 && window.inside < k_few_inside)) {
    interval.low = std::min(interval.low, std::exp2(std::min(none, most)));
    interval.high = std::max(interval.high, std::exp2(std::max(none, most)));
  } else if (soft) {
    const double moved = k_moved * std::sqrt(std::max(36 * k_frame_bytes / value, 0.25));
    interval.low *= 1 - moved;
    interval.high *= 1 + moved;
  }
}

TransitionFit no_fit(std::string reason, double residual = 0) {
  return {inconclusive(std::move(reason)), {}, residual};
}

}  // namespace

TransitionFit fit_transition(std::span<const CurvePoint> points, double low_latency, double high_latency) {
  const auto window = transition_window(points, low_latency, high_latency);
  if (!window.why_not.empty()) return no_fit(window.why_not);

  const double lowest = std::min(window.last_low, window.first_high) - k_margin_below;
  const double highest = std::max(window.last_low, window.first_high) + k_margin_above;
  const Grid grid{lowest, static_cast<int>((highest - lowest) * k_capacity_steps) + 1};
  const auto residuals = residuals_of(window, fit_all(window, grid, Noise{}));
  if (residuals.places > k_largest_places)
    return no_fit(fmt::format("no shape of a cache's edge fits the rise: the miss fraction is off by {:.2f} (RMS)",
                              residuals.places),
                  residuals.all);
  const auto fits = fit_all(window, grid, residuals.noise);

  // Neighbouring points share the places of the frames, so many of them say less than their number.
  const double independent = std::min(1.0, (residuals.places > k_smooth ? k_independent_rough : k_independent_smooth) /
                                               std::max(1.0, rising_points(window)));
  const auto& shapes = miss_shapes();
  std::vector<double> weight(static_cast<std::size_t>(grid.count), 0.0);
  double random_weight = 0;
  for (std::size_t s = 0; s < shapes.size(); ++s)
    for (std::size_t c = 0; c < weight.size(); ++c) {
      const double excess = fits.squares[s * weight.size() + c] - fits.best.squares;
      const double w = prior_weight(shapes[s], grid.at(static_cast<int>(c))) * std::exp(-0.5 * independent * excess);
      weight[c] += w;
      if (shapes[s].policy == SetPolicy::random) random_weight += w;
    }
  const double all_weight = std::accumulate(weight.begin(), weight.end(), 0.0);
  const double highest_weight = *std::max_element(weight.begin(), weight.end());
  const auto counts = [&](double w) { return w >= k_least_weight * highest_weight; };
  const auto first = static_cast<int>(std::find_if(weight.begin(), weight.end(), counts) - weight.begin());
  const auto last =
      grid.count - 1 - static_cast<int>(std::find_if(weight.rbegin(), weight.rend(), counts) - weight.rbegin());
  int middle = 0;
  double below = 0;
  while (middle + 1 < grid.count && below + weight[static_cast<std::size_t>(middle)] < 0.5 * all_weight)
    below += weight[static_cast<std::size_t>(middle++)];
  const double part = (0.5 * all_weight - below) / weight[static_cast<std::size_t>(middle)];
  const double value = std::exp2(grid.at(middle) + (part - 0.5) / k_capacity_steps);
  Interval interval{std::exp2(grid.at(first - 1)), std::exp2(grid.at(last + 1))};
  widen(interval, window, residuals, value);
  if (interval.high - interval.low > k_widest_interval * value)
    return no_fit(
        fmt::format("the rise fits capacities from {:.0f} to {:.0f} KiB", interval.low / 1024, interval.high / 1024),
        residuals.all);
  const double random_part = random_weight / all_weight;
  std::string shape = "either";
  if (random_part > k_sure) shape = "random";
  if (random_part < 1 - k_sure) shape = "lru-like";
  return {{Outcome::ok, value, interval, {}}, shape, residuals.all};
}

}  // namespace gpusonde
