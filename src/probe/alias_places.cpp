#include "probe/alias_places.hpp"

#include <algorithm>

namespace gpusonde {
namespace {

constexpr std::uint64_t k_line_bytes = 128;
constexpr std::uint64_t k_most_lines = 2048;  // of a page: 256 KiB stay in any L2
constexpr std::uint64_t k_least_hops = 2048;
constexpr std::uint64_t k_least_hops_a_part = 16;

AliasLists with_control(std::vector<std::uint64_t> aliased, std::uint64_t cell_bytes, std::uint64_t page_bytes) {
  AliasLists lists{std::move(aliased), {}};
  for (const auto place : lists.aliased) lists.control.push_back(place % page_bytes);
  if (cell_bytes < page_bytes)
    std::stable_sort(lists.control.begin(), lists.control.end(),
                     [cell_bytes](std::uint64_t a, std::uint64_t b) { return a / cell_bytes < b / cell_bytes; });
  return lists;
}

}  // namespace

SlotAllocator::SlotAllocator(std::uint64_t page_bytes, std::uint64_t cell_bytes)
    : m_page_bytes(page_bytes),
      m_lines(std::max<std::uint64_t>(1, std::min(std::min(cell_bytes, page_bytes) / k_line_bytes,
                                                  k_most_lines * std::min(cell_bytes, page_bytes) / page_bytes))) {}

std::uint64_t SlotAllocator::place(std::uint64_t base) {
  const std::uint64_t visit = m_visits[base % m_page_bytes]++;
  m_most_visits = std::max(m_most_visits, visit + 1);
  const std::uint64_t line = visit * 37 & (m_lines - 1);  // odd, so each line once a round
  return base + line * k_line_bytes + visit / m_lines * 8;
}

std::uint64_t most_alias_nodes(std::uint64_t stride_bytes, std::uint64_t page_bytes) {
  const std::uint64_t cell = std::min(stride_bytes, page_bytes);
  return SlotAllocator(page_bytes, cell).capacity() * (page_bytes / cell);
}

AliasLists alias_lists(std::uint64_t stride_bytes, std::uint64_t nodes, std::uint64_t page_bytes, std::uint64_t seed) {
  const std::uint64_t cell = std::min(stride_bytes, page_bytes);
  SlotAllocator slots(page_bytes, cell);
  std::vector<std::uint64_t> by_node;
  for (std::uint64_t i = 0; i < nodes; ++i) by_node.push_back(slots.place(i * stride_bytes));
  const Permutation order(nodes, seed ^ nodes);
  std::vector<std::uint64_t> places;
  for (std::uint64_t i = 0; i < nodes; ++i) places.push_back(by_node[order(i)]);
  return with_control(std::move(places), cell, page_bytes);
}

AliasLists hot_and_cold_lists(std::uint32_t entries, std::uint64_t span_bytes, std::uint64_t page_bytes) {
  const std::uint64_t hot = std::max<std::uint32_t>(1, entries / 2);
  const std::uint64_t cell = std::min(span_bytes, page_bytes);
  SlotAllocator slots(page_bytes, cell);
  std::vector<std::uint64_t> places;
  for (std::uint64_t i = 0; i < 4 * hot; ++i) {
    places.push_back(slots.place(i % hot * span_bytes));
    places.push_back(slots.place((hot + i) * span_bytes));
  }
  if (slots.overfull()) return {};
  return with_control(std::move(places), cell, page_bytes);
}

AliasTiming alias_timing(std::uint64_t nodes, std::uint32_t repetitions) {
  const std::uint64_t total = nodes < k_least_hops ? std::max(2 * nodes, k_least_hops) : nodes;
  const std::uint64_t part = (total + repetitions - 1) / repetitions;
  return {round_up_to_8(2 * nodes), round_up_to_8(std::max(part, k_least_hops_a_part)), repetitions};
}

ListChaseExperiment alias_chase(std::vector<std::uint64_t> places, const AliasTiming& timing) {
  ListChaseExperiment chase;
  chase.region = Region::aliases;
  chase.places = std::move(places);
  chase.path = LoadPath::global_cg;
  chase.warmup_hops = timing.warmup_hops;
  chase.hops = timing.hops;
  chase.repetitions = timing.repetitions;
  return chase;
}

}  // namespace gpusonde
