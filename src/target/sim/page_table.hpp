// Where virtual pages lie in physical memory: one frame each, in order or shuffled by the seed.
#pragma once

#include <bit>
#include <cstdint>
#include <vector>

#include "experiment/ring_order.hpp"
#include "model/device_model.hpp"

namespace gpusonde::sim {

/// Virtual address of the target's buffer. Aligned far beyond any page or TLB span, so that byte 0 of the
/// buffer begins a page of every size.
inline constexpr std::uint64_t k_buffer_address = 1ULL << 40;

/// And of the alias space, which lies far from the buffer.
inline constexpr std::uint64_t k_alias_address = 1ULL << 46;
inline constexpr std::uint64_t k_alias_span_bytes = 1ULL << 44;

class PageTable {
 public:
  /// Preconditions: frame_bytes is a power of two and at most memory_bytes.
  PageTable(const PagingModel& model, std::uint64_t memory_bytes, std::uint64_t seed)
      : m_shift(static_cast<unsigned>(std::countr_zero(model.frame_bytes))),
        m_offset_mask(model.frame_bytes - 1),
        m_shuffled(model.placement == Placement::random),
        m_frames(memory_bytes >> m_shift, seed) {
    if (m_frames.n > k_most_tabled_frames) return;
    m_table.resize(m_frames.n);
    for (std::uint64_t page = 0; page < m_frames.n; ++page)
      m_table[page] = static_cast<std::uint32_t>(m_shuffled ? m_frames(page) : page);
  }

  /// Bytes that can be mapped: memory in whole frames.
  [[nodiscard]] std::uint64_t mapped_bytes() const noexcept { return m_frames.n << m_shift; }

  /// Physical address of a byte of the alias space: all its pages are the last frame.
  [[nodiscard]] std::uint64_t physical_alias(std::uint64_t place) const noexcept {
    return physical(mapped_bytes() - 1) - m_offset_mask + (place & m_offset_mask);
  }

  /// Physical address of a byte of the buffer. Precondition: offset < mapped_bytes(). Placement is a
  /// bijection that can be computed, so small frames in a large memory need no table.
  [[nodiscard]] std::uint64_t physical(std::uint64_t offset) const noexcept {
    const std::uint64_t page = offset >> m_shift;
    std::uint64_t frame = page;
    if (!m_table.empty())
      frame = m_table[page];
    else if (m_shuffled)
      frame = m_frames(page);
    return frame << m_shift | (offset & m_offset_mask);
  }

 private:
  static constexpr std::uint64_t k_most_tabled_frames = 1 << 16;

  unsigned m_shift;
  std::uint64_t m_offset_mask;
  bool m_shuffled;
  Permutation m_frames;
  std::vector<std::uint32_t> m_table;  ///< frame by page, where there are few
};

}  // namespace gpusonde::sim
