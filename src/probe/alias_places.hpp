// Where the nodes of the alias probe lie. Measuring and analysing build the same lists from the same few
// numbers, so that an inference knows every load that was timed.
#pragma once

#include <cstdint>
#include <map>
#include <vector>

#include "experiment/experiment.hpp"
#include "inference/tlb_forward.hpp"

namespace gpusonde {

/// Gives each visit 8 bytes of its own: visits of one place of the page (a cell: the page, or a part of it) go
/// round its lines first, then round the 16 words of a line.
class SlotAllocator {
 public:
  /// `cell_bytes`: a power of two of at least a line, at most the page.
  SlotAllocator(std::uint64_t page_bytes, std::uint64_t cell_bytes);

  /// A place in the cell that begins at `base`, a multiple of cell_bytes.
  [[nodiscard]] std::uint64_t place(std::uint64_t base);
  /// Whether some part of the page was visited more often than it has room: places then coincide.
  [[nodiscard]] bool overfull() const noexcept { return m_most_visits > capacity(); }
  /// Most visits of one place of the page.
  [[nodiscard]] std::uint64_t capacity() const noexcept { return m_lines * 16; }

 private:
  std::uint64_t m_page_bytes;
  std::uint64_t m_lines;  ///< used of a cell; a power of two
  std::map<std::uint64_t, std::uint64_t> m_visits;
  std::uint64_t m_most_visits = 0;
};

/// Loads through many translations, and the same memory through as few as can be: the control.
struct AliasLists {
  std::vector<std::uint64_t> aliased;
  std::vector<std::uint64_t> control;  ///< in the same order, unless parts of the page are apart: then part by part
};

/// `nodes` nodes, each `stride_bytes` from the next, in a random order. Both are powers of two where they meet
/// the page's size; the stride is at least a line.
[[nodiscard]] AliasLists alias_lists(std::uint64_t stride_bytes, std::uint64_t nodes, std::uint64_t page_bytes,
                                     std::uint64_t seed);
/// Most nodes that alias_lists can place at a stride.
[[nodiscard]] std::uint64_t most_alias_nodes(std::uint64_t stride_bytes, std::uint64_t page_bytes);

/// Half of what a table of `entries` holds is visited again and again, each time after one page that is not seen
/// again for a lap: lru keeps the former, fifo and random lose them.
/// Empty where the page has no room for so many visits.
[[nodiscard]] AliasLists hot_and_cold_lists(std::uint32_t entries, std::uint64_t span_bytes, std::uint64_t page_bytes);

/// How long a list is walked: two laps untimed, then one, or two of a short list, and at least 2048 loads, in
/// `repetitions` parts.
struct AliasTiming {
  std::uint64_t warmup_hops = 0;
  std::uint64_t hops = 0;
  std::uint32_t repetitions = 0;
};
[[nodiscard]] AliasTiming alias_timing(std::uint64_t nodes, std::uint32_t repetitions);

[[nodiscard]] ListChaseExperiment alias_chase(std::vector<std::uint64_t> places, const AliasTiming& timing);

}  // namespace gpusonde
