#include "target/sim/cache_level.hpp"

#include <algorithm>

namespace gpusonde::sim {

CacheLevel::CacheLevel(const CacheModel& model, double sm_mhz)
    : m_line_shift(static_cast<unsigned>(std::countr_zero(model.line_bytes))),
      m_sector_shift(static_cast<unsigned>(std::countr_zero(model.sector_bytes))),
      m_sector_mask(model.line_bytes / model.sector_bytes - 1),
      m_sets(model.sets),
      m_slices(model.slices),
      m_partitions(model.partitions),
      m_model_fetch_sectors(std::max(1U, model.fetch_bytes / model.sector_bytes)),
      m_fetch_sectors(m_model_fetch_sectors),
      m_physical_index(model.index == AddressSpace::physical_address),
      m_physical_tag(model.tag == AddressSpace::physical_address),
      m_allocates_cg(model.allocates_cg),
      m_hit_cycles(model.hit.cycles(sm_mhz)),
      m_set_function(model.set_function),
      m_slice_function(model.slice_function),
      m_home_function(model.home_function),
      m_store(model.sets * model.slices, model.ways, model.replacement),
      m_distance_cycles(model.slices, 0.0) {}

void CacheLevel::set_fetch_bytes(std::uint32_t bytes) noexcept {
  m_fetch_sectors =
      bytes == 0 ? m_model_fetch_sectors : std::clamp<std::uint64_t>(bytes >> m_sector_shift, 1, m_sector_mask + 1);
}

void CacheLevel::reset(std::uint32_t sets, Random random) {
  m_store.reset(random);
  m_sets = sets;
}

}  // namespace gpusonde::sim
