// Where the mean of a sequence changes: optimal partitioning with pruning (PELT).
#include <cmath>
#include <limits>
#include <vector>

#include "inference/levels.hpp"
#include "inference/statistics.hpp"

namespace gpusonde {
namespace {

// Sum of squared deviations from the mean of any stretch, in constant time.
class SquaredError {
 public:
  explicit SquaredError(std::span<const double> values) : m_sum(values.size() + 1), m_square(values.size() + 1) {
    const double centre = median(values);  // keeps the sums small
    for (std::size_t i = 0; i < values.size(); ++i) {
      const double value = values[i] - centre;
      m_sum[i + 1] = m_sum[i] + value;
      m_square[i + 1] = m_square[i] + value * value;
    }
  }
  [[nodiscard]] double operator()(std::size_t first, std::size_t end) const {
    const double sum = m_sum[end] - m_sum[first];
    return std::max(0.0, m_square[end] - m_square[first] - sum * sum / static_cast<double>(end - first));
  }

 private:
  std::vector<double> m_sum;
  std::vector<double> m_square;
};

double default_penalty(std::span<const double> values) {
  const double sigma = difference_sigma(values);
  const double noise = 3 * sigma * sigma * std::log(static_cast<double>(values.size()));
  // Without any noise a penalty must still outweigh rounding.
  const double range = quantile(values, 1) - quantile(values, 0);
  return std::max(noise, 1e-9 * range * range + std::numeric_limits<double>::min());
}

}  // namespace

std::vector<std::size_t> change_points(std::span<const double> values, double penalty) {
  const std::size_t count = values.size();
  if (count < 2) return {};
  if (penalty <= 0) penalty = default_penalty(values);
  const SquaredError error(values);

  std::vector<double> best(count + 1, std::numeric_limits<double>::infinity());
  std::vector<std::size_t> previous(count + 1, 0);
  std::vector<std::size_t> candidates{0};
  best[0] = -penalty;
  for (std::size_t end = 1; end <= count; ++end) {
    for (const auto first : candidates) {
      const double cost = best[first] + error(first, end) + penalty;
      if (cost < best[end]) {
        best[end] = cost;
        previous[end] = first;
      }
    }
    // A start that already loses by more than the penalty can never win again.
    std::erase_if(candidates, [&](std::size_t first) { return best[first] + error(first, end) > best[end]; });
    candidates.push_back(end);
  }

  std::vector<std::size_t> points;
  for (auto end = previous[count]; end != 0; end = previous[end]) points.push_back(end);
  return {points.rbegin(), points.rend()};
}

}  // namespace gpusonde
