// Miss fraction of a chase through a whole cache against working set over capacity, for every policy,
// number of ways and evenness that a transition may have.
//
// A set's load is X lines: each of N = mean / evenness chunks of the buffer puts one line into a part
// `evenness` of the sets. Evenness 1: all sets fill alike (contiguous frames, or a hash that spreads
// every frame over all sets). 0: each line falls anywhere (Poisson). Between them: physical frames at
// random places under a hash that is perfect within a frame; then evenness = frame / (sets * line).
// The miss fraction is E[X g(X)] / E[X], g that of one set.
#pragma once

#include <cstdint>
#include <vector>

#include "inference/set_misses.hpp"

namespace gpusonde {

struct MissShape {
  SetPolicy policy = SetPolicy::lru_like;
  std::uint32_t ways = 0;
  double evenness = 0;
  std::vector<float> misses;  ///< at size / capacity = 2^((i - k_shape_origin) / k_shape_steps)
};

inline constexpr int k_shape_steps = 64;    ///< an octave
inline constexpr int k_shape_origin = 128;  ///< index of size == capacity: the table begins two octaves below
inline constexpr int k_shape_points = 320;  ///< and ends three octaves above

/// All shapes, made on first use (some 0.1 s), then kept.
[[nodiscard]] const std::vector<MissShape>& miss_shapes();

/// One value, for tests and for other tables. `relative_size` is size / capacity.
[[nodiscard]] double miss_fraction(SetPolicy policy, std::uint32_t ways, double evenness, double relative_size);

}  // namespace gpusonde
