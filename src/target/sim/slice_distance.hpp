// How much farther than the mean a slice lies from an SM.
#pragma once

#include <cstdint>
#include <vector>

#include "model/device_model.hpp"

namespace gpusonde::sim {

/// Cycles to add to a hit, by slice, for one SM. SMs and slices lie along a line that the seed lays out;
/// the distance has a part of its own for each slice too. The mean over slices is 0 and the largest
/// absolute value is half of the model's spread. With one slice: 0.
[[nodiscard]] std::vector<double> slice_distances(const CacheModel& cache, std::uint32_t sm, std::uint64_t seed);

}  // namespace gpusonde::sim
