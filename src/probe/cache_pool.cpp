#include "probe/cache_pool.hpp"

#include <algorithm>
#include <bit>
#include <unordered_set>

#include "probe/run_one.hpp"

namespace gpusonde {
namespace {

constexpr std::uint64_t k_line_bytes = 128;
constexpr std::uint64_t k_l1_memory_bytes = 32ULL << 30;
constexpr std::uint64_t k_l2_memory_bytes = 2ULL << 30;
constexpr std::size_t k_label_sms = 24;
constexpr std::uint64_t k_label_lines = 1 << 16;

std::uint64_t lines_of(const ProbeContext& context, const CacheAsked& asked) {
  const auto& capabilities = context.target.capabilities();
  const auto wanted = asked.own || capabilities.physical_addresses ? k_l1_memory_bytes : k_l2_memory_bytes;
  return std::min(capabilities.max_ring_bytes, wanted) / k_line_bytes;
}

}  // namespace

CachePool::CachePool(ProbeContext& context, const CacheAsked& asked)
    : m_context(context),
      m_asked(asked),
      m_lines(lines_of(context, asked)),
      m_physical(!asked.own && context.target.capabilities().physical_addresses) {}

Result<void> CachePool::prepare() {
  SequenceExperiment e;  // makes the buffer as large as it is to be, and tells where it begins
  e.places = {m_lines * k_line_bytes - k_line_bytes};
  e.steps = {{StepKind::walk, 0, 1, 1}};
  const auto samples = run_one<SequenceSamples>(m_context.target, m_context.cancel, std::move(e));
  if (!samples) return tl::unexpected(samples.error());
  m_base_address = samples->base_address;
  if (m_asked.own) {
    keep_aligned_part();
    return {};
  }
  auto labels = slice_labels(m_context.measurements, m_context.target);
  if (!labels) return tl::unexpected(labels.error());
  m_slices = std::move(*labels);
  std::uint64_t cache_lines = m_context.target.device().nominal.l2_bytes / k_line_bytes;
  if (cache_lines == 0) cache_lines = 1 << 19;
  if (!m_slices) {
    if (auto r = label_lines(cache_lines * 3 / 2); !r) return r;
  }
  if (m_slices) cache_lines = std::max<std::uint64_t>(cache_lines / m_slices->slices(), 64);
  if (!m_by_class.empty()) cache_lines = std::max<std::uint64_t>(cache_lines / m_by_class.size(), 64);
  m_first_size = static_cast<std::size_t>(cache_lines * 3 / 2);
  m_most_size = static_cast<std::size_t>(cache_lines * 4);
  return {};
}

// Of the virtual addresses: the largest stretch with 2^k bytes that begins at a multiple of that. Bits above it are
// then the same in all of them; else the lowest of those would stand for all that change with it.
void CachePool::keep_aligned_part() {
  const std::uint64_t begin = m_base_address;
  const std::uint64_t end = begin + m_lines * k_line_bytes;
  for (std::uint64_t size = std::bit_floor(end - begin); size >= k_line_bytes; size /= 2) {
    const std::uint64_t first = (begin + size - 1) / size * size;
    if (first + size > end) continue;
    m_first_line = (first - begin) / k_line_bytes;
    m_lines = size / k_line_bytes;
    return;
  }
}

Result<void> CachePool::label_lines(std::uint64_t lines) {
  const auto* load = m_context.measurements.find("slices.load");
  if (load == nullptr || load->rows() == 0) return {};
  auto stored = read_map(*load);
  const auto all = clusters_of(stored, m_context.measurements);
  if (all.count < 2 || stored.sms.size() < k_label_sms) return {};
  // Some SMs, evenly over all: enough to put a line to a class that is known.
  std::vector<std::uint32_t> sms;
  LineClusters some = all;
  some.sigma_cycles.clear();
  for (auto& centre : some.centre_cycles) centre.clear();
  for (std::size_t i = 0; i < k_label_sms; ++i) {
    const auto at = i * stored.sms.size() / k_label_sms;
    sms.push_back(stored.sms[at]);
    some.sigma_cycles.push_back(all.sigma_cycles[at]);
    for (std::size_t c = 0; c < all.count; ++c) some.centre_cycles[c].push_back(all.centre_cycles[c][at]);
  }
  m_by_class.resize(all.count);
  lines = std::min(lines, m_lines);
  for (std::uint64_t first = 0; first < lines; first += k_label_lines) {
    LineMapExperiment e;
    for (auto line = first; line < std::min(lines, first + k_label_lines); ++line)
      e.places.push_back(line * k_line_bytes);
    e.sms = sms;
    e.sms_at_once = k_label_sms / 2;
    const auto places = e.places;
    const auto samples = run_one<LineMapSamples>(m_context.target, m_context.cancel, std::move(e));
    if (!samples) return tl::unexpected(samples.error());
    const auto labels = assign(some, line_map_of(*samples));
    for (std::size_t i = 0; i < places.size(); ++i) {
      if (labels[i] < 0) continue;
      m_by_class[static_cast<std::size_t>(labels[i])].push_back(places[i]);
      m_class.emplace(places[i], static_cast<std::uint32_t>(labels[i]));
    }
  }
  std::erase_if(m_by_class, [](const auto& places) { return places.empty(); });
  if (m_by_class.size() < 2) m_by_class.clear();
  return {};
}

std::optional<std::uint32_t> CachePool::slice(std::uint64_t place) const { return (*m_slices)(place); }

std::uint64_t CachePool::victim(Random& random) const {
  if (!m_by_class.empty()) {
    const auto& places = m_by_class[random.below(m_by_class.size())];
    return places[random.below(places.size())];
  }
  if (!m_slices) return random_place(random);
  return m_slices->random_place(random);
}

std::uint64_t CachePool::candidate(std::uint64_t victim, Random& random) const {
  if (!m_by_class.empty()) {
    const auto known = m_class.find(victim);
    for (const auto& places : m_by_class)
      if (known != m_class.end() && m_class.at(places.front()) == known->second)
        return places[random.below(places.size())];
    return victim;
  }
  if (!m_slices) return random_place(random);
  const auto wanted = slice(victim);
  // A slice is at least some hundredth of all lines.
  for (int tries = 0; tries < 100'000; ++tries) {
    const auto place = m_slices->random_place(random);
    if (slice(place) == wanted) return place;
  }
  return random_place(random);
}

std::vector<std::uint64_t> CachePool::lines(std::uint64_t victim, std::size_t count, Random& random) const {
  std::unordered_set<std::uint64_t> seen{victim};
  std::vector<std::uint64_t> chosen;
  for (std::size_t tries = 0; chosen.size() < count && tries < 8 * count; ++tries) {
    const auto place = candidate(victim, random);
    if (seen.insert(place).second) chosen.push_back(place);
  }
  return chosen;
}

Result<std::vector<std::uint64_t>> CachePool::addresses(const std::vector<std::uint64_t>& places) const {
  if (m_physical) return m_context.target.physical_addresses(places);
  std::vector<std::uint64_t> result;
  for (const auto place : places) result.push_back(m_base_address + place);
  return result;
}

}  // namespace gpusonde
