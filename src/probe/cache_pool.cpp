#include "probe/cache_pool.hpp"

#include <algorithm>
#include <unordered_set>

namespace gpusonde {
namespace {

constexpr std::uint64_t k_line_bytes = 128;
constexpr std::uint64_t k_l1_memory_bytes = 32ULL << 30;
constexpr std::uint64_t k_l2_memory_bytes = 2ULL << 30;

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
  e.places = {last_place()};
  e.steps = {{StepKind::walk, 0, 1, 1}};
  const Experiment experiment = std::move(e);
  const auto samples = m_context.target.run(std::span(&experiment, 1), {m_context.cancel, {}});
  if (!samples) return tl::unexpected(samples.error());
  m_base_address = std::get<SequenceSamples>(samples->front()).base_address;
  if (m_asked.own) return {};
  auto labels = slice_labels(m_context.measurements, m_context.target);
  if (!labels) return tl::unexpected(labels.error());
  m_slices = std::move(*labels);
  std::uint64_t cache_lines = m_context.target.device().nominal.l2_bytes / k_line_bytes;
  if (cache_lines == 0) cache_lines = 1 << 19;
  if (m_slices) cache_lines = std::max<std::uint64_t>(cache_lines / m_slices->slices(), 64);
  m_first_size = static_cast<std::size_t>(cache_lines * 3 / 2);
  m_most_size = static_cast<std::size_t>(cache_lines * 4);
  return {};
}

std::optional<std::uint32_t> CachePool::slice(std::uint64_t place) const { return (*m_slices)(place); }

std::uint64_t CachePool::victim(Random& random) const {
  if (!m_slices) return random_place(random);
  return m_slices->random_place(random);
}

std::uint64_t CachePool::candidate(std::uint64_t victim, Random& random) const {
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
