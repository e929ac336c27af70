// Working-set curves for the tests: measured ones from CSV, and made ones whose truth is known.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <fstream>
#include <functional>
#include <sstream>
#include <string>
#include <vector>

#include "core/random.hpp"
#include "core/units.hpp"
#include "inference/levels.hpp"

namespace gpusonde::test {

/// The 206 sizes of the dense preset.
inline std::vector<double> dense_sizes() {
  std::vector<double> sizes;
  const auto piece = [&](std::uint64_t first, std::uint64_t last, std::uint64_t step) {
    for (auto size = first; size <= last; size += step) sizes.push_back(static_cast<double>(size));
  };
  piece(4 * k_kib, 256 * k_kib, 4 * k_kib);
  piece(320 * k_kib, 4 * k_mib, 64 * k_kib);
  piece(5 * k_mib, 32 * k_mib, k_mib);
  piece(36 * k_mib, 128 * k_mib, 4 * k_mib);
  piece(160 * k_mib, 2048 * k_mib, 64 * k_mib);
  return sizes;
}

/// The logarithmic preset, in whole lines of 128 bytes.
inline std::vector<double> log_sizes(double first = 4096, double last = 0x1p31, int per_octave = 16) {
  std::vector<double> sizes;
  for (int i = 0; first * std::exp2(double(i) / per_octave) <= last * 1.0001; ++i)
    sizes.push_back(std::round(first * std::exp2(double(i) / per_octave) / 128) * 128);
  return sizes;
}

/// Latency at every size, with relative normal noise.
inline std::vector<CurvePoint> make_curve(const std::vector<double>& sizes,
                                          const std::function<double(double)>& latency, double noise, Random& random) {
  std::vector<CurvePoint> curve;
  for (const double size : sizes) {
    const double value = latency(size) * (1 + noise * random.normal());
    curve.push_back({size, value, value, value});
  }
  return curve;
}

/// Miss fraction of random replacement in a cyclic chase: the root of 1 - f = exp(-f x), x = size / capacity.
inline double random_replacement_misses(double x) {
  if (x <= 1) return 0;
  double f = 1;
  for (int i = 0; i < 2000; ++i) f = 1 - std::exp(-f * x);
  return f;
}

/// How a level's misses rise around its capacity.
enum class Edge { step, even_lru, spread_lru, random };

struct MadeLevel {
  double latency = 0;
  double capacity = 0;  ///< of the cache that answers; the last level's is not used
  Edge edge = Edge::step;
  double shape = 16;  ///< ways of even_lru; relative standard deviation of spread_lru
};

inline double made_misses(const MadeLevel& level, double size) {
  const double x = size / level.capacity;
  switch (level.edge) {
    case Edge::step: return x > 1 ? 1 : 0;
    case Edge::even_lru: return std::clamp((level.shape + 1) * (x - 1) * level.shape / (x * level.shape), 0.0, 1.0);
    case Edge::spread_lru: return 0.5 * std::erfc(-(x - 1) / (level.shape * std::sqrt(x)) / std::sqrt(2.0));
    case Edge::random: break;
  }
  return random_replacement_misses(x);
}

inline double made_latency(const std::vector<MadeLevel>& levels, double size) {
  double latency = levels.front().latency;
  for (std::size_t k = 0; k + 1 < levels.size(); ++k)
    latency += made_misses(levels[k], size) * (levels[k + 1].latency - levels[k].latency);
  return latency;
}

/// Rows of a CSV file of this folder, as text.
inline std::vector<std::vector<std::string>> read_csv(const std::string& name) {
  std::ifstream file(std::string(GPUSONDE_SOURCE_DIR) + "/tests/unit/inference/data/" + name);
  std::vector<std::vector<std::string>> rows;
  std::string line;
  std::getline(file, line);
  while (std::getline(file, line)) {
    std::vector<std::string> row;
    std::istringstream fields(line);
    for (std::string field; std::getline(fields, field, ',');) row.push_back(field);
    rows.push_back(row);
  }
  return rows;
}

inline CurvePoint point(double kib, double latency) { return {kib * 1024, latency, latency, latency}; }

}  // namespace gpusonde::test
