#include "probe/chase_mean.hpp"

#include <algorithm>
#include <numeric>

namespace gpusonde {

double mean_hop_cycles(const ChaseSamples& samples) {
  constexpr double k_alone = 1.3;
  std::vector<double> values;
  for (const auto cycles : samples.cycles)
    values.push_back(static_cast<double>(cycles) / static_cast<double>(samples.hops));
  std::sort(values.begin(), values.end());
  if (values.size() > 4 && values.back() > k_alone * values[values.size() - 2]) values.pop_back();
  return std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(values.size());
}

}  // namespace gpusonde
