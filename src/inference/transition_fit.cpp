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
constexpr double k_expected_reading = 0.004;
constexpr double k_expected_misfit = 0.03;  // of the places of the frames, before seeing any ...
constexpr double k_expected_count = 4;      // ... worth that many points
constexpr double k_largest_places = 0.06;   // above it the sets fill in steps, or it is no such edge
constexpr double k_fitted_parameters = 3;   // capacity, spread, ways
constexpr double k_unusual = 0.03;          // prior of an unusual evenness
constexpr double k_margin_below = 0.4;      // octaves searched beyond the rise
constexpr double k_margin_above = 0.3;
constexpr double k_smooth = 0.02;            // misfit inside the rise that is no sign of steps
constexpr double k_independent_smooth = 12;  // points inside the rise that count, at most
constexpr double k_independent_rough = 4;
constexpr double k_least_weight = 0.05;     // of the most likely capacity's; some 2.4 sigma
constexpr double k_widest_interval = 0.35;  // of the value; wider is no answer
constexpr double k_sure = 0.9;              // when a family is named
constexpr int k_capacity_steps = 128;       // an octave

struct Misfit {
  double squares = 0;    // weighted sum of squares over all points
  double low_shift = 0;  // corrections of the two levels, in miss fractions
  double high_shift = 0;
};

double shape_at(const MissShape& shape, double log2_relative_size) {
  const double position = std::clamp(log2_relative_size * k_shape_steps + k_shape_origin, 0.0, k_shape_points - 1.001);
  const auto index = static_cast<std::size_t>(position);
  const double part = position - static_cast<double>(index);
  return (1 - part) * double{shape.misses[index]} + part * double{shape.misses[index + 1]};
}

// Variance of a miss fraction at the high level: reading it, and, inside the rise, where chance has put
// the frames.
struct Noise {
  double reading = k_first_sigma * k_first_sigma;
  double places = 0;
};

// Misfit of one shape at one capacity, with both levels free within their slack: least squares in the
// two corrections, solved by hand. -2 log likelihood, up to a constant.
Misfit misfit(const TransitionWindow& window, const MissShape& shape, double log2_capacity, const Noise& noise) {
  double s00 = 0;
  double s01 = 0;
  double s11 = 0;
  double b0 = 0;
  double b1 = 0;
  double bb = 0;
  double log_variance = 0;
  double product = 1;
  for (const auto& point : window.points) {
    const double f = shape_at(shape, point.log2_size - log2_capacity);
    const double r = point.misses - f;
    const double variance = noise.reading / point.weight + noise.places * 4 * f * (1 - f);
    const double w = 1 / variance;
    product *= variance / noise.reading;  // one logarithm for many points
    if (product > 1e200 || product < 1e-200) {
      log_variance += std::log(product);
      product = 1;
    }
    s00 += w * (1 - f) * (1 - f);
    s01 += w * (1 - f) * f;
    s11 += w * f * f;
    b0 += w * (1 - f) * r;
    b1 += w * f * r;
    bb += w * r * r;
  }
  log_variance += std::log(product);
  s00 += k_level_prior / noise.reading;
  s11 += k_level_prior / noise.reading;
  const double determinant = s00 * s11 - s01 * s01;
  const double low_shift = (s11 * b0 - s01 * b1) / determinant;
  const double high_shift = (s00 * b1 - s01 * b0) / determinant;
  return {std::max(0.0, bb - low_shift * b0 - high_shift * b1) + log_variance, low_shift, high_shift};
}

// How likely a shape is before looking: evenness between what one frame gives and all of it takes frames
// that follow each other under a hash that is not perfect, which is rare.
double prior_weight(const MissShape& shape, double log2_capacity) {
  const double frame_evenness = k_frame_bytes * shape.ways / std::exp2(log2_capacity);
  const bool usual = shape.evenness >= 1 || shape.evenness <= 1.25 * frame_evenness + 0.05;
  const bool power_of_two = std::has_single_bit(shape.ways);
  return (usual ? 1 : k_unusual) * (power_of_two ? 3 : 1) * (shape.evenness >= 1 ? 3 : 1);
}

struct Grid {
  double first = 0;  // log2 of the smallest capacity
  int count = 0;

  [[nodiscard]] double at(int step) const { return first + static_cast<double>(step) / k_capacity_steps; }
};

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
    const double r = point.misses - f - (1 - f) * fits.best.low_shift - f * fits.best.high_shift;
    total += r * r;
    if (f > 0.02 && f < 0.98) {
      inside.emplace_back(r * r, f * (1 - f));
    } else {
      outside += point.weight * r * r;
      outside_count += 1;
    }
  }
  Residuals result;
  result.noise.reading = outside / std::max(outside_count - 1, 1.0);
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
  result.all = std::sqrt(total / static_cast<double>(window.points.size()));
  return result;
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
                                               std::max(1.0, static_cast<double>(window.inside)));
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
  for (double sum = weight[0]; sum < 0.5 * all_weight && middle + 1 < grid.count;
       sum += weight[static_cast<std::size_t>(middle)])
    ++middle;

  const double value = std::exp2(grid.at(middle));
  const Interval interval{std::exp2(grid.at(first - 1)), std::exp2(grid.at(last + 1))};
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
