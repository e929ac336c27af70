#include <algorithm>

#include "probe/dram_probe.hpp"
#include "probe/run_one.hpp"

namespace gpusonde {
namespace {

constexpr std::uint64_t k_page_bytes = 2ULL << 20;
constexpr std::uint64_t k_pages = 4;
constexpr std::uint64_t k_closers = 1 << 15;  // some for each of 12,000 banks, the most that a GPU is known to have
constexpr std::uint64_t k_closer_bytes = 1ULL << 30;
constexpr std::uint64_t k_most_apart_pages = 37;  // so that pages of one stretch of physical memory are rare

}  // namespace

SequenceExperiment TestList::empty() {
  SequenceExperiment e;
  e.tests.clear();
  return e;
}

void TestList::begin_test() { m_sequence.tests.push_back(static_cast<std::uint32_t>(m_sequence.steps.size())); }

std::uint32_t TestList::add(std::span<const std::uint64_t> places) {
  const auto first = static_cast<std::uint32_t>(m_sequence.places.size());
  m_sequence.places.insert(m_sequence.places.end(), places.begin(), places.end());
  return first;
}

void TestList::step(StepKind kind, std::uint32_t first, std::uint32_t count) {
  m_sequence.steps.push_back({kind, first, count, 1});
}

SequenceExperiment TestList::take() { return std::exchange(m_sequence, empty()); }

DramBench::DramBench(ProbeContext& context) : m_context(context) {
  const auto& capabilities = context.target.capabilities();
  const auto aliases = context.target.alias_space().page_bytes;
  m_page_bytes = std::min(aliases == 0 ? k_page_bytes : aliases, k_page_bytes);
  const auto there = capabilities.max_ring_bytes / m_page_bytes;
  const auto apart = std::clamp<std::uint64_t>(there / k_pages, 1, k_most_apart_pages);
  for (std::uint64_t i = 0; i < k_pages && i * apart < there; ++i) m_pages.push_back(i * apart * m_page_bytes);
  const auto& limits = capabilities.fetch_limits_bytes;
  if (std::find(limits.begin(), limits.end(), 32U) != limits.end()) m_fetch_limit_bytes = 32;
}

std::uint32_t DramBench::add_closers(TestList& tests) {
  if (m_closers.empty()) {
    const auto bytes = std::min(m_context.target.capabilities().max_ring_bytes, k_closer_bytes);
    auto random = this->random(5);
    while (m_closers.size() < k_closers) {
      const auto place = random.below(bytes / k_dram_line_bytes) * k_dram_line_bytes;
      const auto page = place / m_page_bytes * m_page_bytes;
      if (std::find(m_pages.begin(), m_pages.end(), page) == m_pages.end()) m_closers.push_back(place);
    }
  }
  return tests.add(m_closers);
}

void DramBench::close_rows(TestList& tests, std::uint32_t closers) {
  tests.step(StepKind::drop, closers, k_closers);
  tests.step(StepKind::touch, closers, k_closers);
}

Random DramBench::random(std::uint64_t stream) const {
  return Random(mix64(m_context.options.seed ^ 0xD7A3)).fork(stream);
}

std::vector<std::uint64_t> DramBench::random_lines(std::uint64_t most, std::uint64_t stream) const {
  const auto lines = m_pages.size() * lines_of_page();
  const Permutation order(std::max<std::uint64_t>(lines, 1), random(stream).next());
  std::vector<std::uint64_t> places;
  for (std::uint64_t i = 0; i < std::min(lines, most); ++i) {
    const auto line = order(i);
    places.push_back(m_pages[line / lines_of_page()] + line % lines_of_page() * k_dram_line_bytes);
  }
  return places;
}

Result<SequenceSamples> DramBench::run(TestList& tests, bool stamps) {
  auto e = tests.take();
  e.path = LoadPath::global_cg;
  e.fetch_limit_bytes = m_fetch_limit_bytes;
  e.stamps = stamps;
  if (m_context.target.capabilities().sm_choice) e.sm = 0;
  return run_one<SequenceSamples>(m_context.target, m_context.cancel, std::move(e));
}

void DramBench::say(const char* doing, double fraction) {
  if (m_context.progress) m_context.progress({"dram", doing, fraction});
}

}  // namespace gpusonde
