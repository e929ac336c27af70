#include "report/hierarchy_rows.hpp"

#include <fmt/format.h>

#include <cmath>
#include <limits>

#include "core/units.hpp"
#include "report/quantity.hpp"

namespace gpusonde::report {
namespace {

class RowMaker {
 public:
  RowMaker(const Run& run, std::string prefix) : m_run(run) {
    m_row.prefix = std::move(prefix);
    m_row.title = level_title(m_row.prefix);
  }

  /// The finding, and remembers that the row shows it.
  const Finding* take(const std::string& id) {
    const auto* finding = m_run.finding(id);
    if (finding != nullptr) m_row.ids.push_back(id);
    return finding;
  }
  /// Text of an ok finding; `?` for one that is not, so that a hole is seen.
  std::string value(const std::string& id) {
    const auto* finding = take(id);
    if (finding == nullptr) return {};
    if (finding->value) return quantity(*finding->value, finding->unit);
    return finding->outcome == Outcome::inconclusive || finding->outcome == Outcome::failed ? "?" : "";
  }
  /// The first level's twin from the index chain stands in where only that was measured.
  void latency(const std::string& id) {
    const auto* finding = take(id);
    std::string used = id;
    if (finding == nullptr) {
      finding = take(used = id + "_index");
      if (finding != nullptr) m_row.title += " (index)";
    }
    if (finding == nullptr) return;
    if (!finding->value) {
      m_row.trouble = fmt::format("{}: {}", to_string(finding->outcome), finding->reason);
      return;
    }
    m_row.cycles = quantity(*finding->value, finding->unit);
    m_row.interval = interval_text(*finding);
    const auto* in_ns = take(used + "_ns");
    const double mhz = m_run.environment.sm_mhz_measured;
    if (in_ns != nullptr && in_ns->value)
      m_row.ns = quantity(*in_ns->value, in_ns->unit);
    else if (const auto* cycles = std::get_if<double>(&*finding->value); cycles != nullptr && mhz > 0)
      m_row.ns = quantity(cycles_to_ns(*cycles, mhz), "ns");
  }
  HierarchyRow& row() { return m_row; }
  [[nodiscard]] bool empty() const { return m_row.ids.empty(); }

 private:
  const Run& m_run;
  HierarchyRow m_row;
};

void append_part(std::string& out, const std::string& part, std::string_view between) {
  if (part.empty()) return;
  if (!out.empty()) out += between;
  out += part;
}

std::string cache_geometry(RowMaker& maker, const std::string& prefix) {
  std::string out;
  const auto counted = [&](const std::string& id, std::string_view noun) {
    const auto text = maker.value(prefix + id);
    return text.empty() ? text : fmt::format("{} {}", text, noun);
  };
  const auto slices = counted(".slices", "slices");
  const auto ways = maker.value(prefix + ".ways");
  const auto sets = maker.value(prefix + ".sets_per_slice");
  append_part(out, slices, " × ");
  // Slices × sets × ways, without the nouns only where none of them is missing.
  const bool all = !slices.empty() && !ways.empty() && !sets.empty();
  append_part(out, all ? fmt::format("{} × {}", sets, ways) : ways.empty() ? "" : ways + " ways", " × ");
  append_part(out, counted(".sets", "sets"), " × ");
  append_part(out, all || sets.empty() ? "" : sets + " sets a slice", " × ");
  append_part(out, maker.value(prefix + ".line_size"), " × ");
  append_part(out, maker.value(prefix + ".sector_size"), " / ");
  append_part(out, maker.value(prefix + ".replacement"), ", ");
  append_part(out, maker.value(prefix + ".addressing"), ", ");
  return out;
}

std::string stated(std::uint64_t bytes) { return bytes == 0 ? std::string() : format_bytes(bytes); }

bool has_value(const Run& run, const std::string& id) {
  const auto* finding = run.finding(id);
  return finding != nullptr && finding->value;
}

}  // namespace

std::vector<HierarchyRow> hierarchy_rows(const Run& run) {
  std::vector<HierarchyRow> rows;
  const auto keep = [&](RowMaker& maker) {
    if (!maker.empty()) rows.push_back(std::move(maker.row()));
  };

  RowMaker l1(run, "l1");
  l1.latency("l1.hit_latency");
  l1.row().size = l1.value("l1.capacity");
  l1.row().geometry = cache_geometry(l1, "l1");
  keep(l1);

  RowMaker shared(run, "shared");
  shared.latency("shared.hit_latency");
  if (!shared.empty()) shared.row().stated = stated(run.device.nominal.shared_per_sm_bytes);
  keep(shared);

  for (int n = 1; n <= 3; ++n) {
    const auto prefix = fmt::format("tlb.{}", n);
    RowMaker tlb(run, prefix);
    const auto cost = tlb.value(prefix + ".miss_cost");
    if (!cost.empty()) tlb.row().cycles = cost == "?" ? cost : "+" + cost;
    tlb.row().size = tlb.value(prefix + ".reach");
    auto& geometry = tlb.row().geometry;
    const auto entries = tlb.value(prefix + ".entries");
    append_part(geometry, entries.empty() ? "" : entries + " entries", "");
    append_part(geometry, tlb.value(prefix + ".span"), " × ");
    const auto ways = tlb.value(prefix + ".ways");
    append_part(geometry, ways.empty() ? "" : ways + " ways", ", ");
    append_part(geometry, tlb.value(prefix + ".replacement"), ", ");
    const auto scope = tlb.value(prefix + ".scope");
    append_part(geometry, scope.empty() ? "" : "one a " + scope, ", ");
    keep(tlb);
  }

  const bool two_partitions = has_value(run, "l2.far_latency") || has_value(run, "l2.far_latency_index");
  RowMaker l2(run, "l2");
  l2.latency("l2.hit_latency");
  if (two_partitions) l2.row().title = "L2 near";
  l2.row().size = l2.value(two_partitions ? "l2.near_capacity" : "l2.capacity");
  if (!two_partitions && !l2.empty()) l2.row().stated = stated(run.device.nominal.l2_bytes);
  l2.row().geometry = cache_geometry(l2, "l2");
  keep(l2);

  if (two_partitions) {
    RowMaker far(run, "l2.far");
    far.latency("l2.far_latency");
    far.row().size = far.value("l2.capacity");
    far.row().stated = stated(run.device.nominal.l2_bytes);
    keep(far);
  }

  RowMaker dram(run, "dram");
  dram.latency("dram.latency");
  if (!dram.empty()) {
    dram.row().stated = stated(run.device.memory_bytes);
    const auto row_size = dram.value("dram.row_size");
    append_part(dram.row().geometry, row_size.empty() ? "" : "rows of " + row_size, "");
    const auto banks = dram.value("dram.banks");
    append_part(dram.row().geometry, banks.empty() ? "" : banks + " banks", ", ");
  }
  keep(dram);
  return rows;
}

TruthCount truth_count(const Run& run, const std::string& prefix) {
  TruthCount out;
  for (const auto& finding : run.findings) {
    const bool far = finding.id.starts_with("l2.far");
    const bool belongs = finding.id.starts_with(prefix + ".") || finding.id.starts_with(prefix + "_");
    if (prefix == "l2.far" ? !far : (!belongs || far)) continue;
    if (!finding.truth) continue;
    ++out.known;
    if (finding.agrees.value_or(false)) ++out.agreeing;
    if (finding.outcome == Outcome::ok && finding.agrees == false) ++out.wrong;
  }
  return out;
}

}  // namespace gpusonde::report
