// Latencies of many lines from many SMs, and how much of them an SM and a line explain each on its own. What is left
// over is where an SM and a line lie to each other: the fingerprint by which lines fall into slices.
#pragma once

#include <cstddef>
#include <vector>

namespace gpusonde {

/// Cycles of a dependent load (or atomic) of one line from one SM, smallest of a few repetitions.
struct LineMap {
  std::size_t sms = 0;
  std::size_t lines = 0;
  std::vector<float> cycles;  ///< [sm][line]

  [[nodiscard]] float at(std::size_t sm, std::size_t line) const { return cycles[sm * lines + line]; }
};

/// Whether there is at least one reading, as many as sms * lines, and each is finite and above 0.
[[nodiscard]] bool well_formed(const LineMap& map) noexcept;

/// cycles = mean + sm + line + residual; both effects have mean 0.
struct AdditiveFit {
  double mean_cycles = 0;
  std::vector<double> sm_cycles;    ///< effect of each SM
  std::vector<double> line_cycles;  ///< effect of each line
  double sigma_cycles = 0;          ///< of the residual: interaction and noise together
  double explained = 0;             ///< share of the variance that the effects explain, 0 to 1
};

/// Two-way analysis of variance without interaction. Residuals beyond 4 sigma (by their MAD) are pulled in to there
/// and the effects fitted again, so a few evicted lines or late readings move nothing. A map that is not well formed
/// gives empty effects.
[[nodiscard]] AdditiveFit fit_additive(const LineMap& map);

}  // namespace gpusonde
