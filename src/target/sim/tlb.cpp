#include "target/sim/tlb.hpp"

#include <algorithm>
#include <bit>

namespace gpusonde::sim {
namespace {

std::uint32_t ways_of(const TlbModel& model) noexcept { return model.ways == 0 ? model.entries : model.ways; }

}  // namespace

TlbLevel::TlbLevel(const TlbModel& model, double sm_mhz)
    : m_shift(static_cast<unsigned>(std::countr_zero(model.span_bytes))),
      m_sets(std::max(1U, model.entries / ways_of(model))),
      m_fold_bits(model.index == TlbIndex::folded && m_sets > 1 ? static_cast<unsigned>(std::countr_zero(m_sets)) : 0),
      m_scope(model.scope),
      m_repeats_are_idle(model.replacement != Replacement::srrip),
      m_miss_cycles(model.miss.cycles(sm_mhz)),
      m_store(m_sets, ways_of(model), model.replacement) {}

void TlbLevel::reset(Random random) {
  m_last = ~0ULL;
  m_store.reset(random);
}

TlbChain::TlbChain(const std::vector<TlbModel>& models, double sm_mhz) {
  for (const auto& model : models) {
    m_levels.emplace_back(model, sm_mhz);
    m_smallest_span = m_smallest_span == 0 ? model.span_bytes : std::min(m_smallest_span, model.span_bytes);
    m_reach = std::max(m_reach, model.entries * model.span_bytes);
  }
}

void TlbChain::reset(Random random) {
  std::uint64_t stream = 0;
  for (auto& level : m_levels) level.reset(random.fork(stream++));
}

}  // namespace gpusonde::sim
