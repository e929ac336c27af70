// Centres and noise of classes of lines, and the class nearest to a line.
#include "inference/line_model.hpp"

#include <algorithm>
#include <cmath>

#include "inference/statistics.hpp"

namespace gpusonde {
namespace {

// A reading this many sigmas off says that something happened, not how far the line is from the class.
constexpr float k_cap_sigmas = 6;
// Clocks count whole cycles and a reading is a mean of tens of loads.
constexpr double k_least_sigma_cycles = 0.05;
// More lines than this sharpen no centre and no noise that matters.
constexpr std::size_t k_lines_a_centre = 256;
constexpr std::size_t k_lines_for_noise = 4096;
// The mean of the middle half has this much of the efficiency of the mean, for normal noise.
constexpr double k_middle_half_efficiency = 0.84;
// A class may be this much noisier than the others: its slice may be busy with something else.
constexpr double k_most_spread = 16;

// The mean of the values between the quartiles. Reorders values.
double middle_half_mean(std::vector<float>& values) {
  const std::size_t cut = values.size() / 4;
  const auto first = values.begin() + static_cast<std::ptrdiff_t>(cut);
  const auto last = values.end() - static_cast<std::ptrdiff_t>(cut);
  if (cut > 0) {
    std::nth_element(values.begin(), first, values.end());
    std::nth_element(first, last - 1, values.end());
  }
  double sum = 0;
  for (auto it = first; it != last; ++it) sum += *it;
  return sum / static_cast<double>(last - first);
}

// mad_sigma() without a full sort: this runs once an SM and round. Reorders values.
double quick_mad_sigma(std::vector<double>& values) {
  constexpr double k_mad_to_sigma = 1.4826;
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  const double centre = *middle;
  for (double& value : values) value = std::abs(value - centre);
  std::nth_element(values.begin(), middle, values.end());
  return k_mad_to_sigma * *middle;
}

LineTable estimate_centres(const LineTable& table, std::span<const std::size_t> lines,
                           const std::vector<std::vector<std::size_t>>& members) {
  LineTable centres(table.sms(), members.size());
  std::vector<float> values;
  for (std::size_t k = 0; k < members.size(); ++k) {
    const std::size_t step = (members[k].size() + k_lines_a_centre - 1) / k_lines_a_centre;
    for (std::size_t sm = 0; sm < table.sms(); ++sm) {
      values.clear();
      for (std::size_t i = 0; i < members[k].size(); i += step) values.push_back(table.row(lines[members[k][i]])[sm]);
      centres.row(k)[sm] = static_cast<float>(middle_half_mean(values));
    }
  }
  return centres;
}

std::vector<double> estimate_sigmas(const LineTable& table, std::span<const std::size_t> lines,
                                    std::span<const std::size_t> labels, const LineTable& centres,
                                    const std::vector<std::vector<std::size_t>>& members) {
  std::vector<std::size_t> used;
  const std::size_t step = (lines.size() + k_lines_for_noise - 1) / k_lines_for_noise;
  for (std::size_t i = 0; i < lines.size(); i += std::max<std::size_t>(step, 1))
    if (labels[i] != k_loose && members[labels[i]].size() > 1) used.push_back(i);
  std::vector<double> sigmas(table.sms(), k_least_sigma_cycles);
  std::vector<double> residuals(used.size());
  for (std::size_t sm = 0; sm < table.sms() && !used.empty(); ++sm) {
    for (std::size_t i = 0; i < used.size(); ++i) {
      const std::size_t label = labels[used[i]];
      const auto n = static_cast<double>(members[label].size());
      // A centre follows its own lines; with few of them residuals come out smaller than the noise.
      residuals[i] = (table.row(lines[used[i]])[sm] - centres.row(label)[sm]) * std::sqrt(n / (n - 1));
    }
    sigmas[sm] = std::max(quick_mad_sigma(residuals), k_least_sigma_cycles);
  }
  return sigmas;
}

}  // namespace

LineModel make_model(LineTable centres, std::vector<double> sigma_cycles, std::vector<double> spread) {
  LineModel model{std::move(centres), std::move(sigma_cycles), {}, std::move(spread), {}, {}};
  model.weight.assign(model.centres.width(), 0.0F);
  for (std::size_t sm = 0; sm < model.sigma_cycles.size(); ++sm)
    model.weight[sm] = static_cast<float>(1 / model.sigma_cycles[sm]);
  const std::size_t count = model.count();
  model.sizes.assign(count, 0);
  model.between.assign(count * count, 0.0);
  for (std::size_t a = 0; a < count; ++a)
    for (std::size_t b = 0; b < a; ++b)
      model.between[a * count + b] = model.between[b * count + a] =
          std::sqrt(capped_distance(model.centres.row(a), model.centres.row(b), model.weight, k_cap_sigmas));
  return model;
}

LineModel estimate_model(const LineTable& table, std::span<const std::size_t> lines,
                         std::span<const std::size_t> labels, std::size_t count) {
  std::vector<std::vector<std::size_t>> members(count);
  for (std::size_t i = 0; i < lines.size(); ++i)
    if (labels[i] != k_loose) members[labels[i]].push_back(i);
  LineTable centres = estimate_centres(table, lines, members);
  std::vector<double> sigmas = estimate_sigmas(table, lines, labels, centres, members);
  LineModel model = make_model(std::move(centres), std::move(sigmas), std::vector<double>(count, 1.0));
  for (std::size_t k = 0; k < count; ++k) {
    model.sizes[k] = members[k].size();
    std::vector<double> squares;
    const std::size_t step = (members[k].size() + k_lines_a_centre - 1) / k_lines_a_centre;
    for (std::size_t i = 0; i < members[k].size(); i += step)
      squares.push_back(
          capped_distance(table.row(lines[members[k][i]]), model.centres.row(k), model.weight, k_cap_sigmas));
    model.spread[k] = std::clamp(median(squares) / static_cast<double>(table.sms()), 1.0, k_most_spread);
  }
  return model;
}

LinePlace place_line(const LineModel& model, std::span<const float> row) {
  constexpr double k_nowhere = std::numeric_limits<double>::infinity();
  LinePlace place;
  place.square = k_nowhere;
  double second_square = k_nowhere;
  std::size_t second = 0;
  for (std::size_t k = 0; k < model.count(); ++k) {
    const double square =
        capped_distance_up_to(row, model.centres.row(k), model.weight, k_cap_sigmas, static_cast<float>(second_square));
    if (square < place.square) {
      second_square = place.square;
      second = place.nearest;
      place.square = square;
      place.nearest = k;
    } else if (square < second_square) {
      second_square = square;
      second = k;
    }
  }
  const double between = model.between[place.nearest * model.count() + second];
  place.beyond_middle = model.count() < 2 ? k_nowhere : (second_square - place.square) / (2 * std::max(between, 1e-6));

  const std::size_t sms = model.centres.sms();
  std::size_t late = 0;
  for (std::size_t sm = 0; sm < sms; ++sm)
    if (std::abs(row[sm] - model.centres.row(place.nearest)[sm]) * model.weight[sm] >= k_cap_sigmas) ++late;
  const double explained = place.square - static_cast<double>(late) * k_cap_sigmas * k_cap_sigmas;
  const auto n = static_cast<double>(sms);
  const double most = model.spread[place.nearest] * (n + 8 * std::sqrt(2 * n));
  place.far = explained > most || 3 * late > sms;
  return place;
}

double centre_distance(const LineModel& model, std::size_t a, std::size_t b) {
  double square = 0;
  for (std::size_t sm = 0; sm < model.centres.sms(); ++sm) {
    const double x = (model.centres.row(a)[sm] - model.centres.row(b)[sm]) * model.weight[sm];
    square += x * x;
  }
  const auto error = [&](std::size_t k) {
    return 1 / (k_middle_half_efficiency * static_cast<double>(std::max<std::size_t>(model.sizes[k], 1)));
  };
  return std::sqrt(std::max(0.0, square - static_cast<double>(model.centres.sms()) * (error(a) + error(b))));
}

double centre_distance_cycles(const LineModel& model, std::size_t a, std::size_t b) {
  double square = 0;
  for (std::size_t sm = 0; sm < model.centres.sms(); ++sm) {
    const double x = model.centres.row(a)[sm] - model.centres.row(b)[sm];
    square += x * x;
  }
  return std::sqrt(square / static_cast<double>(model.centres.sms()));
}

double line_distance_cycles(const LineModel& model, std::span<const float> row, std::size_t a) {
  double square = 0;
  std::size_t used = 0;
  for (std::size_t sm = 0; sm < model.centres.sms(); ++sm) {
    const double x = row[sm] - model.centres.row(a)[sm];
    if (std::abs(x) * model.weight[sm] >= k_cap_sigmas) continue;
    square += x * x;
    ++used;
  }
  return used == 0 ? 0 : std::sqrt(square / static_cast<double>(used));
}

}  // namespace gpusonde
