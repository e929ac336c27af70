// The loads of a ring in chasing order, in blocks that carry addresses and sets worked out ahead.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "experiment/experiment.hpp"
#include "target/sim/machine.hpp"

namespace gpusonde::sim {

class Trace {
 public:
  /// `visits`: how many loads are to come; a small ring visited often is worked out once and kept.
  Trace(const Ring& ring, const Machine& machine, std::uint64_t visits);
  /// Loads whose places are given one by one.
  Trace(Region region, const std::vector<std::uint64_t>& places, const Machine& machine);

  /// The loads from a position of the ring on: at most `most`, never past the end of the ring. Valid until
  /// the next call. Preconditions: position < node count, most > 0.
  [[nodiscard]] LoadBlock at(std::uint64_t position, std::uint64_t most);

  [[nodiscard]] std::uint64_t nodes() const noexcept { return m_nodes; }

 private:
  void resize(std::size_t capacity);
  void find_sets(std::size_t count);
  void fill(std::uint64_t position, std::size_t count);
  [[nodiscard]] LoadBlock block(std::size_t first, std::size_t count) const noexcept;

  std::uint64_t m_nodes;
  Ring m_ring;
  RingOrder m_order;
  const Machine& m_machine;
  bool m_kept;
  std::vector<std::uint64_t> m_virtual;
  std::vector<std::uint64_t> m_physical;
  std::array<std::vector<std::uint32_t>, k_max_levels> m_sets;
  std::array<std::vector<std::uint16_t>, k_max_levels> m_slices;
};

}  // namespace gpusonde::sim
