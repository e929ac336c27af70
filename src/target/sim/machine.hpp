// The memory path of one SM: caches, translation and DRAM behind each other, as a load meets them.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <vector>

#include "core/random.hpp"
#include "experiment/experiment.hpp"
#include "model/device_model.hpp"
#include "target/sim/cache_level.hpp"
#include "target/sim/dram.hpp"
#include "target/sim/page_table.hpp"
#include "target/sim/tlb.hpp"

namespace gpusonde::sim {

inline constexpr std::size_t k_max_levels = 6;

/// What places pages, of a device's seed.
[[nodiscard]] constexpr std::uint64_t page_seed(std::uint64_t seed) noexcept { return mix64(seed ^ 1); }

/// Consecutive loads with all that follows from their addresses alone, so that it is worked out ahead, in
/// bulk, and only once for small rings. Levels are those of the machine's path.
struct LoadBlock {
  struct Level {
    const std::uint32_t* set;
    const std::uint16_t* slice;
  };
  const std::uint64_t* virtual_bytes;
  const std::uint64_t* physical_bytes;
  std::array<Level, k_max_levels> levels;
  std::size_t count;
};

class Machine {
 public:
  /// Precondition: the model is valid and inside the limits of `check_limits`.
  Machine(const DeviceModel& model, double sm_mhz, std::uint64_t seed);

  /// Prepares for an experiment: everything empty, the levels that this path uses, the distances of the SM.
  void begin(LoadPath path, std::uint32_t sm, std::uint64_t shared_bytes, Random random);
  /// Empties everything again, as `begin` with the same arguments.
  void reset();
  /// The chase goes on from another SM: what the two do not share is empty there.
  void move_to(std::uint32_t sm);
  /// The partition that an SM belongs to, of the two halves that Scope::partition means.
  [[nodiscard]] std::uint32_t side(std::uint32_t sm) const noexcept { return 2 * sm / m_model.sm_count; }
  /// What belongs to the SM alone and does not outlive a launch: its caches, not its translations.
  void drop_sm_caches();

  [[nodiscard]] const std::vector<CacheLevel*>& path() const noexcept { return m_path; }
  [[nodiscard]] const PageTable& pages() const noexcept { return m_pages; }
  [[nodiscard]] TlbChain& tlbs() noexcept { return m_tlbs; }
  [[nodiscard]] const Dram& dram() const noexcept { return m_dram; }
  [[nodiscard]] Dram& dram() noexcept { return m_dram; }
  /// What the last cache gets from DRAM on a miss, until the next `begin`; 0: as the model has it.
  void limit_fetches(std::uint32_t bytes) noexcept { m_caches.back().set_fetch_bytes(bytes); }

  /// A load that is not timed. DRAM rows are followed only if `rows`.
  void touch(const LoadBlock& block, std::size_t i, bool rows) {
    bool translate = true;
    for (std::size_t level = 0; level < m_path.size(); ++level) {
      CacheLevel& cache = *m_path[level];
      if (translate && cache.translated()) {
        m_tlbs.translate(block.virtual_bytes[i]);
        translate = false;
      }
      if (cache.access(block.levels[level].set[i], block.virtual_bytes[i], block.physical_bytes[i])) return;
    }
    if (translate) m_tlbs.translate(block.virtual_bytes[i]);
    if (rows) m_dram.touch(block.physical_bytes[i]);
  }

  /// The line leaves the caches that all SMs share.
  void drop(const LoadBlock& block, std::size_t i) {
    for (std::size_t level = 0; level < m_path.size(); ++level)
      m_path[level]->drop(block.levels[level].set[i], block.virtual_bytes[i], block.physical_bytes[i]);
  }

  /// Cycles of a load that begins at a time. The last level's distance is part of the way to DRAM.
  double load(const LoadBlock& block, std::size_t i, double now_ns) {
    double extra_cycles = 0;
    bool translate = true;
    for (std::size_t level = 0; level < m_path.size(); ++level) {
      CacheLevel& cache = *m_path[level];
      if (translate && cache.translated()) {
        extra_cycles = m_tlbs.translate(block.virtual_bytes[i]);
        translate = false;
      }
      if (cache.access(block.levels[level].set[i], block.virtual_bytes[i], block.physical_bytes[i]))
        return cache.hit_cycles(block.levels[level].slice[i]) + extra_cycles;
    }
    if (translate) extra_cycles = m_tlbs.translate(block.virtual_bytes[i]);
    if (!m_path.empty()) extra_cycles += m_path.back()->distance_cycles(block.levels[m_path.size() - 1].slice[i]);
    return m_dram.load(block.physical_bytes[i], now_ns) + extra_cycles;
  }

 private:
  void set_sm(std::uint32_t sm);

  const DeviceModel& m_model;
  std::uint64_t m_seed;
  std::vector<CacheLevel> m_caches;
  std::vector<CacheLevel*> m_path;
  TlbChain m_tlbs;
  PageTable m_pages;
  Dram m_dram;
  std::uint32_t m_first_sets;
  std::optional<std::uint32_t> m_sm;
  std::uint64_t m_drops = 0;
  Random m_random{0};
};

/// What this simulator asks of a model beyond `validate`. Errors: bad_input.
[[nodiscard]] Result<void> check_limits(const DeviceModel& model);

}  // namespace gpusonde::sim
