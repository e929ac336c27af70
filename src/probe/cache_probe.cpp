#include <array>

#include "probe/cache_geometry.hpp"
#include "probe/probes.hpp"

namespace gpusonde {
namespace {

constexpr std::array k_l1_findings{
    FindingSpec{"l1.line_size", "bytes", "bytes that share a tag"},
    FindingSpec{"l1.sector_size", "bytes", "bytes that one miss brings; a slot may hold part of its line"},
    FindingSpec{"l1.ways", "count", "lines of one set that stay together"},
    FindingSpec{"l1.sets", "count", "sets of the whole storage"},
    FindingSpec{"l1.set_masks", "hex list", "canonical basis of the parity masks over virtual address bits"},
    FindingSpec{"l1.replacement", "name", "policy inside a set"},
};
constexpr std::array k_l2_findings{
    FindingSpec{"l2.line_size", "bytes", "likewise of L2, as all that follows"},
    FindingSpec{"l2.sector_size", "bytes", "least that a miss brings"},
    FindingSpec{"l2.fetch_granularity", "bytes", "what a miss brings from memory when nothing else is asked for"},
    FindingSpec{"l2.ways", "count", "lines of one set that stay together"},
    FindingSpec{"l2.sets_per_slice", "count", "sets of a slice"},
    FindingSpec{"l2.set_function", "text", "program that gives the set of an address inside its slice"},
    FindingSpec{"l2.replacement", "name", "policy inside a set"},
};
constexpr std::array<std::string_view, 7> k_l1_tables{"cache.l1.readings", "cache.l1.sectors", "cache.l1.searches",
                                                      "cache.l1.lines",    "cache.l1.tags",    "cache.l1.profile",
                                                      "cache.l1.policy"};
constexpr std::array<std::string_view, 7> k_l2_tables{"cache.l2.readings", "cache.l2.sectors", "cache.l2.searches",
                                                      "cache.l2.lines",    "cache.l2.tags",    "cache.l2.profile",
                                                      "cache.l2.policy"};

class CacheProbe final : public Probe {
 public:
  CacheProbe(const CacheAsked& asked, std::string_view summary, std::span<const FindingSpec> findings,
             std::span<const std::string_view> tables)
      : m_asked(asked), m_summary(summary), m_findings(findings), m_tables(tables) {}

  [[nodiscard]] std::string_view name() const noexcept override { return m_asked.level; }
  [[nodiscard]] std::string_view summary() const noexcept override { return m_summary; }
  [[nodiscard]] std::span<const FindingSpec> findings() const noexcept override { return m_findings; }
  [[nodiscard]] std::span<const std::string_view> tables() const noexcept override { return m_tables; }
  [[nodiscard]] Result<void> measure(ProbeContext& context) const override { return measure_cache(context, m_asked); }
  [[nodiscard]] Analysis analyze(const AnalysisInput& input) const override { return analyze_cache(input, m_asked); }

 private:
  const CacheAsked& m_asked;
  std::string_view m_summary;
  std::span<const FindingSpec> m_findings;
  std::span<const std::string_view> m_tables;
};

}  // namespace

const Probe& l1_probe() {
  static const CacheProbe probe(k_l1_asked, "geometry of L1: lines, sectors, ways, sets, hash, replacement",
                                k_l1_findings, k_l1_tables);
  return probe;
}

const Probe& l2_probe() {
  static const CacheProbe probe(k_l2_asked, "geometry of L2, slice by slice where slices are known", k_l2_findings,
                                k_l2_tables);
  return probe;
}

}  // namespace gpusonde
