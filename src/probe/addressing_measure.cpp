#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <map>

#include "inference/statistics.hpp"
#include "probe/addressing_probe.hpp"
#include "probe/alias_places.hpp"
#include "probe/chase_mean.hpp"
#include "probe/tlb_probe.hpp"

namespace gpusonde {
namespace {

constexpr std::uint64_t k_lines = 8;    // of a page, each seen through two addresses
constexpr std::uint64_t k_touches = 8;  // of other lines, so that the page's translation is there
constexpr std::uint64_t k_line_bytes = 128;
constexpr std::uint64_t k_line_step = 5;  // lines apart, so that no stride of sets is met
// An index is often made of parities, so that all lines of two pages share their sets, or none do: pages count.
constexpr std::uint64_t k_l1_pages = 1024;
constexpr std::uint64_t k_l2_pages = 64;
constexpr std::uint64_t k_index_lines = 160;  // more than any set has ways

class AddressingMeasurement {
 public:
  explicit AddressingMeasurement(ProbeContext& context) : m_context(context) {}

  Result<void> run() {
    m_space = m_context.target.alias_space();
    if (m_space.page_bytes == 0) return fail(ErrorKind::unsupported, m_space.why_not);
    if (auto r = aliases(); !r) return r;
    if (auto r = index(); !r) return r;
    return sweep_over_aliases();
  }

 private:
  Result<std::vector<ChaseSamples>> chase(const std::vector<ListChaseExperiment>& chases, const char* doing) {
    if (m_context.progress) m_context.progress({"addressing", doing, m_fraction});
    const std::vector<Experiment> batch(chases.begin(), chases.end());
    auto samples = m_context.target.run(batch, {m_context.cancel, {}});
    if (!samples) return tl::unexpected(samples.error());
    std::vector<ChaseSamples> all;
    for (auto& sample : *samples) all.push_back(std::move(std::get<ChaseSamples>(sample)));
    return all;
  }

  // The same lines twice through page 0, then through another page, then through that again: four words of a
  // sector, so that each visit has a node of its own.
  [[nodiscard]] ListChaseExperiment two_addresses(std::uint64_t page, LoadPath path) const {
    const auto other = page * m_space.page_bytes;
    ListChaseExperiment chase;
    chase.region = Region::aliases;
    const auto line = [](std::uint64_t i) { return i * k_line_step * k_line_bytes; };
    for (std::uint64_t visit = 0; visit < 4; ++visit) {
      if (visit == 2)
        for (std::uint64_t i = 0; i < k_touches; ++i) chase.places.push_back(other + line(k_lines + i));
      for (std::uint64_t i = 0; i < k_lines; ++i) chase.places.push_back((visit < 2 ? 0 : other) + line(i) + 8 * visit);
    }
    chase.path = path;
    chase.hops = chase.places.size();
    chase.repetitions = 1;
    chase.timing = HopTiming::per_hop;
    return chase;
  }

  Result<void> aliases() {
    const auto most = std::min(m_space.max_pages, m_space.span_bytes / m_space.page_bytes);
    std::vector<ListChaseExperiment> chases;
    std::vector<std::pair<LoadPath, std::uint64_t>> asked;
    for (const auto path : {LoadPath::global_ca, LoadPath::global_cg}) {
      const auto pages = path == LoadPath::global_ca ? k_l1_pages : k_l2_pages;
      for (std::uint64_t i = 1; i <= pages; ++i) {
        const auto page = 1 + i * 1237 % (most - 1);  // addresses that differ in many bits
        asked.emplace_back(path, page);
        chases.push_back(two_addresses(page, path));
      }
    }
    const auto walks = chase(chases, "one page at two addresses");
    if (!walks) return tl::unexpected(walks.error());
    auto& table = m_context.measurements.table("addressing.alias");
    for (std::size_t i = 0; i < asked.size(); ++i) {
      const auto& hops = (*walks)[i].hop_cycles;
      const auto part = [&](std::uint64_t from) {
        return std::vector<double>(hops.begin() + static_cast<std::ptrdiff_t>(from),
                                   hops.begin() + static_cast<std::ptrdiff_t>(from + k_lines));
      };
      const auto first = part(2 * k_lines + k_touches);
      const auto again = part(3 * k_lines + k_touches);
      table.make<std::string>("policy").emplace_back(to_string(asked[i].first));
      table.make<std::uint64_t>("page").push_back(asked[i].second);
      table.make<double>("home_cycles").push_back(median(part(k_lines)));
      table.make<double>("first_cycles").push_back(median(first));
      table.make<double>("again_cycles").push_back(median(again));
      std::string readings;
      for (const double cycles : first) readings += fmt::format("{}{:.0f}", readings.empty() ? "" : " ", cycles);
      table.make<std::string>("first_readings").push_back(readings);
    }
    return {};
  }

  // Lines at one offset of many pages of plain memory, against lines spread over the offsets of the same pages: an
  // index made of offset bits alone sends the former to one set.
  Result<void> index() {
    m_fraction = 0.4;
    const auto page = m_space.page_bytes;
    const auto lines = std::min<std::uint64_t>(k_index_lines, m_context.target.capabilities().max_ring_bytes / page);
    if (lines < k_index_lines) return {};
    const Permutation order(lines, m_context.options.seed);
    std::vector<ListChaseExperiment> chases;
    for (const auto path : {LoadPath::global_ca, LoadPath::global_cg})
      for (const bool spread : {false, true}) {
        ListChaseExperiment chase;
        for (std::uint64_t i = 0; i < lines; ++i) {
          const auto node = order(i);
          chase.places.push_back(node * page + (spread ? node * 37 % (page / k_line_bytes) * k_line_bytes : 0));
        }
        chase.path = path;
        chase.warmup_hops = 2 * lines;
        chase.hops = lines;
        chase.repetitions = 32;
        chases.push_back(std::move(chase));
      }
    const auto walks = chase(chases, "one offset of many pages");
    if (!walks) return tl::unexpected(walks.error());
    auto& table = m_context.measurements.table("addressing.index");
    for (std::size_t i = 0; i < 2; ++i) {
      table.make<std::string>("policy").emplace_back(to_string(chases[2 * i].path));
      table.make<std::uint64_t>("lines").push_back(lines);
      table.make<double>("same_offset_cycles").push_back(mean_hop_cycles((*walks)[2 * i]));
      table.make<double>("spread_cycles").push_back(mean_hop_cycles((*walks)[2 * i + 1]));
    }
    return {};
  }

  // Where memory is too small for the sweep to leave what is translated: the same over aliases, at the stride whose
  // pages are the first to cost something.
  Result<void> sweep_over_aliases() {
    m_fraction = 0.7;
    std::map<std::uint64_t, std::map<std::uint64_t, double>> curves;
    double base = 0;
    for (const auto& point : read_alias_curves(m_context.measurements, false))
      curves[point.stride_bytes][point.nodes] = point.penalty_cycles;
    if (const auto* table = m_context.measurements.find("tlb.alias"))
      if (const auto* control = table->column<double>("control_cycles"); control != nullptr && !control->empty())
        base = control->front();
    const double least = least_step_cycles(base);
    std::uint64_t best_stride = 0;
    std::uint64_t best_nodes = std::numeric_limits<std::uint64_t>::max();
    for (const auto& [stride, curve] : curves) {
      if (stride < m_space.page_bytes) continue;
      const auto found =
          std::find_if(curve.begin(), curve.end(), [&](const auto& p) { return p.second > 1.5 * least; });
      if (found != curve.end() && found->first < best_nodes) {
        best_nodes = found->first;
        best_stride = stride;
      }
    }
    if (best_stride == 0) return {};
    std::vector<ListChaseExperiment> chases;
    std::vector<std::pair<LoadPath, std::uint64_t>> asked;
    for (const auto path : {LoadPath::global_ca, LoadPath::global_cg})
      for (const std::uint64_t nodes : {std::uint64_t{2}, std::uint64_t{3}, std::uint64_t{4}, best_nodes / 2,
                                        best_nodes, best_nodes * 5 / 4, best_nodes * 3 / 2, best_nodes * 2}) {
        if (nodes < 2 || nodes * best_stride > m_space.span_bytes ||
            nodes > most_alias_nodes(best_stride, m_space.page_bytes))
          continue;
        auto lists = alias_lists(best_stride, nodes, m_space.page_bytes, m_context.options.seed);
        auto chase = alias_chase(std::move(lists.aliased), alias_timing(nodes, 64));
        chase.path = path;
        chases.push_back(std::move(chase));
        asked.emplace_back(path, nodes);
      }
    const auto walks = chase(chases, "sweep over aliases");
    if (!walks) return tl::unexpected(walks.error());
    auto& table = m_context.measurements.table("addressing.sweep");
    for (std::size_t i = 0; i < asked.size(); ++i) {
      table.make<std::string>("policy").emplace_back(to_string(asked[i].first));
      table.make<std::uint64_t>("stride_bytes").push_back(best_stride);
      table.make<std::uint64_t>("nodes").push_back(asked[i].second);
      table.make<double>("cycles_per_access").push_back(mean_hop_cycles((*walks)[i]));
    }
    return {};
  }

  ProbeContext& m_context;
  AliasSpace m_space;
  double m_fraction = 0;
};

}  // namespace

Result<void> measure_addressing(ProbeContext& context) {
  auto measured = AddressingMeasurement(context).run();
  context.target.release_aliases();
  return measured;
}

}  // namespace gpusonde
