// Models made at random, for tests that recover a model's parameters from measurements of it.
#pragma once

#include <cstdint>

#include "model/device_model.hpp"

namespace gpusonde {

struct RandomModelOptions {
  unsigned least_cache_levels = 1;
  unsigned most_cache_levels = 3;  ///< at most 3
  double max_noise = 0;            ///< noise.run_fraction is uniform from 0 to this
  bool with_tlb = true;            ///< false: translation is free
  bool any_translation = false;    ///< 1 to 3 TLB levels of any kind, caches addressed in any way, 1 to 144 SMs
  std::uint64_t most_capacity_bytes = 64ULL << 20;  ///< of the last cache; at least 16 MiB
  bool any_geometry = false;   ///< an L1 and an L2 of any kind; levels and capacities above are void
  bool any_pipelines = false;  ///< pipelines, constants, textures, shared memory and clusters
};

/// A valid model; the same for the same seed. L1 belongs to an SM, is virtual and passed by `.cg`; the other
/// levels belong to the GPU and are physical. Capacities rise at least fourfold and latencies by at least
/// 25 % and 20 cycles from level to level; 16 KiB to 64 MiB of cache, 4 GiB of memory.
///
/// With `any_translation`: TLBs of 8 to 4096 entries, fully or set associative, lru, fifo or random, modulo or folded,
/// spans 64 KiB to 512 MiB, entries at least double and spans do not shrink from level to level; pages of 64 KiB or
/// 2 MiB; L1 VIVT, VIPT or PIPT, L2 PIPT or VIPT or (rarely) VIVT.
///
/// With `any_geometry`: L1 of 2 to 64 ways, 1 to 2048 sets and 1 KiB to 1 MiB, sets by remainder or by parity masks
/// over bits 7 to 31; L2 of 2 to 96 slices and 2 to 16 ways, 512 KiB to 16 MiB and at least 4 times L1, slices by
/// remainder, parities or both, in units of 128 B to 4 KiB, sets by remainder or parities; lru, fifo, tree-plru or
/// random. A stretch of `slices * sets` lines that begins at a multiple of its size fills each set of each slice by
/// one line. L2 fetches 32, 64 or 128 B, its slices lie 40 to 80 cycles apart, atomics take up to 60 cycles more;
/// every fourth L2 has two partitions, the home a parity of bits 12 to 21, 100 to 250 cycles to the far one. 8 to 144
/// SMs, if not by `any_translation`.
///
/// With `any_pipelines`: most operations, an interval of 0.5 to 32 cycles and a latency of 1 to 18 times that; up to
/// three caches for constants from 1 KiB on, lines of 32 to 512 B, at least 1.4 times slower and five times larger from
/// level to level; shared memory, a register's read of 0 to 2 cycles; perhaps textures, perhaps clusters of 2 to 16.
[[nodiscard]] DeviceModel random_model(std::uint64_t seed, const RandomModelOptions& options = {});

}  // namespace gpusonde
