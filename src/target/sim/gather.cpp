#include "target/sim/gather.hpp"

#include <algorithm>
#include <bit>

namespace gpusonde::sim {
namespace {

constexpr std::uint32_t k_plain_line_bytes = 128;
constexpr std::uint32_t k_plain_sector_bytes = 32;
/// Keeps times at DRAM's queues above 0 where slices are nearer than the mean.
constexpr double k_way_cycles = 1000;

}  // namespace

Gather::Gather(Machine& machine, const DeviceModel& model, double ns_per_cycle)
    : m_machine(machine),
      m_model(model),
      m_ns_per_cycle(ns_per_cycle),
      m_line_bytes(k_plain_line_bytes),
      m_sector_bytes(k_plain_sector_bytes) {
  const bool all = machine.path().size() == model.caches.size();
  for (const auto& cache : model.caches)
    if (all || cache.allocates_cg) m_levels.push_back(&cache);
  if (m_levels.empty()) return;
  m_line_bytes = m_levels.front()->line_bytes;
  m_sector_bytes = m_levels.front()->sector_bytes;
}

double Gather::load(const LoadBlock& lanes, double now_ns) {
  m_done_cycles = 0;
  make_requests(lanes);
  bool translated = false;
  for (std::size_t level = 0; level < m_levels.size() && !m_requests.empty(); ++level) {
    if (!translated && m_machine.path()[level]->translated()) {
      translate(lanes);
      translated = true;
    }
    pass(level, lanes);
    answer(level, lanes);
  }
  if (!translated) translate(lanes);
  if (!m_requests.empty()) from_dram(lanes, now_ns);
  return m_done_cycles;
}

void Gather::make_requests(const LoadBlock& lanes) {
  m_requests.clear();
  for (std::size_t i = 0; i < lanes.count; ++i) {
    const auto line = lanes.virtual_bytes[i] / m_line_bytes;
    auto request = std::find_if(m_requests.begin(), m_requests.end(),
                                [&](const Request& r) { return lanes.virtual_bytes[r.lane] / m_line_bytes == line; });
    if (request == m_requests.end()) {
      request = m_requests.emplace(m_requests.end());
      request->lane = i;
    }
    request->sectors |= 1U << (lanes.virtual_bytes[i] % m_line_bytes / m_sector_bytes);
  }
}

void Gather::translate(const LoadBlock& lanes) {
  for (Request& request : m_requests)
    request.extra_cycles = m_machine.tlbs().translate(lanes.virtual_bytes[request.lane]);
}

template <class Number>
void Gather::queue(double cycles_each, Number server) {
  std::stable_sort(m_requests.begin(), m_requests.end(),
                   [](const Request& a, const Request& b) { return a.arrival_cycles < b.arrival_cycles; });
  for (Request& request : m_requests) {
    double& free = m_free[server(request)];
    const double begin = std::max(free, request.arrival_cycles);
    request.late_cycles += begin - request.arrival_cycles;
    free = begin + cycles_each;
  }
}

/// The queues before a level.
void Gather::pass(std::size_t level, const LoadBlock& lanes) {
  constexpr double k_long_ago = -1e9;
  const auto one = [](const Request&) { return std::size_t{0}; };
  const CacheModel& model = *m_levels[level];
  const bool of_sm = model.scope == Scope::sm;
  for (Request& request : m_requests) request.arrival_cycles = request.late_cycles;
  m_free.assign(std::max<std::size_t>(1, model.slices), k_long_ago);
  if (of_sm) {
    queue(1 / model.lines_per_cycle, one);
    return;
  }
  if (level == 0 || m_levels[level - 1]->scope == Scope::sm) {
    queue(1 / m_model.timing.crossbar_lines_per_cycle, one);
    m_free.assign(m_free.size(), k_long_ago);
  }
  const CacheLevel& cache = *m_machine.path()[level];
  const auto slice = [&](const Request& r) { return std::size_t{lanes.levels[level].slice[r.lane]}; };
  for (Request& request : m_requests)
    request.arrival_cycles = request.late_cycles + cache.distance_cycles(lanes.levels[level].slice[request.lane]) / 2;
  queue(1 / model.lines_per_cycle, slice);
}

/// Of the sectors of one fetch that were not there, the first one's miss brings all.
std::uint32_t Gather::hits(CacheLevel& cache, const Request& request, std::uint32_t set, const LoadBlock& lanes) {
  const auto line_virtual = lanes.virtual_bytes[request.lane] / m_line_bytes * m_line_bytes;
  const auto line_physical = lanes.physical_bytes[request.lane] / m_line_bytes * m_line_bytes;
  const auto fetch_sectors = cache.fetch_sectors();
  std::uint32_t there = 0;
  for (std::uint32_t left = request.sectors; left != 0;) {
    const auto first = static_cast<std::uint32_t>(std::countr_zero(left));
    bool missed = false;
    for (std::uint32_t s = first; s < 32 && s / fetch_sectors == first / fetch_sectors; ++s) {
      if ((left >> s & 1) == 0) continue;
      left &= ~(1U << s);
      const std::uint64_t offset = std::uint64_t{s} * m_sector_bytes;
      const bool hit = cache.access(set, line_virtual + offset, line_physical + offset);
      if (!hit) missed = true;
      if (hit && !missed) there |= 1U << s;
    }
  }
  return there;
}

void Gather::answer(std::size_t level, const LoadBlock& lanes) {
  CacheLevel& cache = *m_machine.path()[level];
  for (Request& request : m_requests) {
    const std::uint32_t there = hits(cache, request, lanes.levels[level].set[request.lane], lanes);
    if (there == 0) continue;
    request.sectors &= ~there;
    const auto slice = lanes.levels[level].slice[request.lane];
    m_done_cycles = std::max(m_done_cycles, request.late_cycles + cache.hit_cycles(slice) + request.extra_cycles);
  }
  std::erase_if(m_requests, [](const Request& request) { return request.sectors == 0; });
}

void Gather::from_dram(const LoadBlock& lanes, double now_ns) {
  const auto half_way = [&](const Request& request) {
    if (m_levels.empty()) return 0.0;
    const auto last = m_levels.size() - 1;
    return m_machine.path()[last]->distance_cycles(lanes.levels[last].slice[request.lane]) / 2;
  };
  for (Request& request : m_requests) request.arrival_cycles = request.late_cycles + half_way(request);
  std::stable_sort(m_requests.begin(), m_requests.end(),
                   [](const Request& a, const Request& b) { return a.arrival_cycles < b.arrival_cycles; });
  m_machine.dram().clear_queues();
  const std::uint32_t sectors_a_column = std::max(1U, m_model.dram.column_bytes / m_sector_bytes);
  for (const Request& request : m_requests) {
    std::uint32_t columns = 0;
    for (std::uint32_t s = 0; s < 32; s += sectors_a_column)
      if ((request.sectors >> s & ((1ULL << sectors_a_column) - 1)) != 0) ++columns;
    const double way = half_way(request);
    const double back =
        m_machine.dram().serve(lanes.physical_bytes[request.lane], columns, k_way_cycles + request.arrival_cycles,
                               now_ns - (k_way_cycles + way) * m_ns_per_cycle);
    m_done_cycles = std::max(m_done_cycles, back - k_way_cycles + way + request.extra_cycles);
  }
}

}  // namespace gpusonde::sim
