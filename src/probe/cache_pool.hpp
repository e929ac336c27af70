// Which lines the geometry probes load: at random from memory, and for L2, where the slices are known, from the
// victim's slice alone, since lines of others cannot meet it.
#pragma once

#include <cstdint>
#include <optional>
#include <unordered_map>
#include <vector>

#include "core/random.hpp"
#include "probe/cache_geometry.hpp"
#include "probe/slices_probe.hpp"

namespace gpusonde {

class CachePool {
 public:
  CachePool(ProbeContext& context, const CacheAsked& asked);

  /// Works out which lines there are to choose from. Errors: those of the target.
  [[nodiscard]] Result<void> prepare();

  /// The first byte of a line drawn at random.
  [[nodiscard]] std::uint64_t random_place(Random& random) const {
    return (m_first_line + random.below(m_lines)) * 128;
  }

  [[nodiscard]] std::uint64_t victim(Random& random) const;
  /// A line that may share the victim's set.
  [[nodiscard]] std::uint64_t candidate(std::uint64_t victim, Random& random) const;
  /// So many of them, each once, at most as many as there are.
  [[nodiscard]] std::vector<std::uint64_t> lines(std::uint64_t victim, std::size_t count, Random& random) const;

  /// How many lines to begin with, and how many to go up to.
  [[nodiscard]] std::size_t first_size() const noexcept { return m_first_size; }
  [[nodiscard]] std::size_t most_size() const noexcept { return m_most_size; }
  /// A search takes long, so there should be few.
  [[nodiscard]] bool costly() const noexcept { return m_most_size > (1U << 19); }

  /// What the set function is to be a function of: physical addresses where they are told and L2 is asked.
  [[nodiscard]] bool physical() const noexcept { return m_physical; }
  [[nodiscard]] Result<std::vector<std::uint64_t>> addresses(const std::vector<std::uint64_t>& places) const;

 private:
  [[nodiscard]] std::optional<std::uint32_t> slice(std::uint64_t place) const;
  void keep_aligned_part();
  /// Without a function of the slice: measures which class each of many lines is of.
  [[nodiscard]] Result<void> label_lines(std::uint64_t lines);

  ProbeContext& m_context;
  const CacheAsked& m_asked;
  std::uint64_t m_first_line = 0;  ///< of the memory that is drawn from
  std::uint64_t m_lines;
  bool m_physical;
  std::size_t m_first_size = 4096;
  std::size_t m_most_size = 1 << 16;
  std::uint64_t m_base_address = 0;
  std::optional<SliceLabels> m_slices;
  std::vector<std::vector<std::uint64_t>> m_by_class;  ///< places, where there is no function
  std::unordered_map<std::uint64_t, std::uint32_t> m_class;
};

}  // namespace gpusonde
