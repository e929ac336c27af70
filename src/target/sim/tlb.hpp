// One level of address translation caches, and the chain of them.
#pragma once

#include <cstdint>
#include <vector>

#include "core/random.hpp"
#include "model/device_model.hpp"
#include "target/sim/tag_store.hpp"

namespace gpusonde::sim {

class TlbLevel {
 public:
  TlbLevel(const TlbModel& model, double sm_mhz);
  void reset(Random random);
  /// True on a hit; afterwards the page is there.
  bool access(std::uint64_t address) {
    const std::uint64_t page = address >> m_shift;
    // Loads of one page in a row change nothing but srrip's age.
    if (page == m_last && m_repeats_are_idle) return true;
    m_last = page;
    return m_store.access(static_cast<std::uint32_t>(set_of(page)), page, 1);
  }
  [[nodiscard]] double miss_cycles() const noexcept { return m_miss_cycles; }
  [[nodiscard]] Scope scope() const noexcept { return m_scope; }

 private:
  [[nodiscard]] std::uint64_t set_of(std::uint64_t page) const noexcept {
    if (m_fold_bits == 0) return page % m_sets;
    std::uint64_t folded = 0;
    for (std::uint64_t rest = page; rest != 0; rest >>= m_fold_bits) folded ^= rest;
    return folded & (m_sets - 1);
  }

  unsigned m_shift;
  std::uint32_t m_sets;
  unsigned m_fold_bits;  ///< 0: modulo
  Scope m_scope;
  bool m_repeats_are_idle;
  double m_miss_cycles;
  std::uint64_t m_last = ~0ULL;
  TagStore m_store;
};

class TlbChain {
 public:
  TlbChain(const std::vector<TlbModel>& models, double sm_mhz);
  void reset(Random random);
  /// Empties the levels of which `keep` does not hold for their scope.
  template <class Keep>
  void reset_unless(const Keep& keep, Random random) {
    std::uint64_t stream = 0;
    for (auto& level : m_levels) {
      if (!keep(level.scope())) level.reset(random.fork(stream));
      ++stream;
    }
  }

  /// Cycles that translation adds to a load: what the model gives for the last level that misses (the
  /// model's figure is for the whole load, so the misses before it are in it). 0 if the first one hits.
  double translate(std::uint64_t address) {
    double cycles = 0;
    for (auto& level : m_levels) {
      if (level.access(address)) break;
      cycles = level.miss_cycles();
    }
    return cycles;
  }

  /// Smallest span and most entries of the levels; 0 without any.
  [[nodiscard]] std::uint64_t smallest_span_bytes() const noexcept { return m_smallest_span; }
  [[nodiscard]] std::uint64_t reach_bytes() const noexcept { return m_reach; }

 private:
  std::vector<TlbLevel> m_levels;
  std::uint64_t m_smallest_span = 0;
  std::uint64_t m_reach = 0;
};

}  // namespace gpusonde::sim
