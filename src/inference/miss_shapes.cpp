#include "inference/miss_shapes.hpp"

#include <algorithm>
#include <array>
#include <cmath>

namespace gpusonde {
namespace {

constexpr std::array<std::uint32_t, 10> k_ways{2, 3, 4, 6, 8, 12, 16, 24, 32, 48};
constexpr std::array k_evenness{0.0, 0.2, 0.4, 0.6, 0.8, 1.0};
constexpr std::array k_policies{SetPolicy::lru_like, SetPolicy::nru, SetPolicy::random};
constexpr double k_negligible = 1e-12;
constexpr double k_far_beyond = 6;  // times the ways: past it a set's misses no longer change much

// Probabilities of 0, 1, 2, ... lines in a set.
std::vector<double> load_distribution(double mean, double evenness) {
  std::vector<double> probability;
  if (evenness <= 0) {
    double term = std::exp(-mean);
    for (int k = 0; k <= mean || term > k_negligible; term *= mean / ++k) probability.push_back(term);
    return probability;
  }
  const double chunks = mean / evenness;
  const auto whole = static_cast<int>(chunks);
  const double miss_one = 1 - evenness;
  probability.assign(static_cast<std::size_t>(whole) + 2, 0.0);
  for (int k = 0; k <= whole; ++k) {
    const double choose = std::lgamma(whole + 1.0) - std::lgamma(k + 1.0) - std::lgamma(whole - k + 1.0);
    const double none = k == whole ? 1 : std::pow(miss_one, whole - k);
    probability[static_cast<std::size_t>(k)] = std::exp(choose + k * std::log(evenness)) * none;
  }
  // The chunk that is only partly in the buffer.
  const double partial = (chunks - whole) * evenness;
  for (auto k = probability.size() - 1; k > 0; --k)
    probability[k] = probability[k] * (1 - partial) + probability[k - 1] * partial;
  probability[0] *= 1 - partial;
  return probability;
}

// g(X) of one policy and number of ways, up to where it is as good as constant.
class SetMisses {
 public:
  SetMisses(SetPolicy policy, std::uint32_t ways) {
    const auto last = static_cast<std::uint32_t>(k_far_beyond * ways) + 2;
    for (std::uint32_t lines = 0; lines <= last; ++lines)
      m_fraction.push_back(policy == SetPolicy::lru_like && lines > ways ? 1 : set_miss_fraction(policy, ways, lines));
  }
  [[nodiscard]] double operator()(std::size_t lines) const {
    return lines < m_fraction.size() ? m_fraction[lines] : m_fraction.back();
  }

 private:
  std::vector<double> m_fraction;
};

double expected_misses(const std::vector<double>& probability, double mean, const SetMisses& set) {
  double sum = 0;
  for (std::size_t k = 1; k < probability.size(); ++k) sum += probability[k] * static_cast<double>(k) * set(k);
  return std::clamp(sum / mean, 0.0, 1.0);
}

double relative_size(int index) { return std::exp2(static_cast<double>(index - k_shape_origin) / k_shape_steps); }

std::vector<MissShape> make_shapes() {
  std::vector<MissShape> shapes;
  for (const auto ways : k_ways) {
    std::vector<std::pair<SetPolicy, SetMisses>> sets;
    for (const auto policy : k_policies) {
      if (policy != SetPolicy::nru || ways > 2) sets.emplace_back(policy, SetMisses(policy, ways));
    }
    for (const double evenness : k_evenness) {
      const auto first = shapes.size();
      for (const auto& [policy, set] : sets) shapes.push_back({policy, ways, evenness, {}});
      for (int i = 0; i < k_shape_points; ++i) {
        const double mean = ways * relative_size(i);
        const auto probability = load_distribution(mean, evenness);
        for (std::size_t s = 0; s < sets.size(); ++s)
          shapes[first + s].misses.push_back(static_cast<float>(expected_misses(probability, mean, sets[s].second)));
      }
    }
  }
  return shapes;
}

}  // namespace

const std::vector<MissShape>& miss_shapes() {
  static const std::vector<MissShape> shapes = make_shapes();
  return shapes;
}

double miss_fraction(SetPolicy policy, std::uint32_t ways, double evenness, double relative_size) {
  const double mean = ways * relative_size;
  return expected_misses(load_distribution(mean, evenness), mean, SetMisses(policy, ways));
}

}  // namespace gpusonde
