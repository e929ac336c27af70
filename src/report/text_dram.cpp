// What `coalesce` and `dram` say on a terminal.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "report/columns.hpp"
#include "report/dram_view.hpp"
#include "report/finding_text.hpp"
#include "report/quantity.hpp"
#include "report/report.hpp"
#include "report/text_page.hpp"
#include "report/text_table.hpp"

namespace gpusonde {
namespace {

using namespace report;

constexpr std::array<std::pair<std::string_view, std::string_view>, 8> k_parts{{
    {"dram.row_size", "row"},
    {"dram.banks", "banks of a channel"},
    {"dram.column_ns", "further column of a row"},
    {"dram.row_miss_extra_ns", "another row, on top"},
    {"dram.refresh_fraction", "loads in a refresh"},
    {"dram.refresh_stall_ns", "wait in a refresh"},
    {"dram.refresh_interval_ns", "refresh interval"},
    {"dram.refresh_waits", "kind of wait"},
}};
constexpr std::array<std::pair<std::string_view, std::string_view>, 3> k_latencies{{
    {"dram.latency_tlb_hit", "translation there"},
    {"dram.latency_tlb_miss", "first level missed"},
    {"dram.latency_cold", "every level missed"},
}};

template <std::size_t N>
std::vector<FindingLine> lines_of(const Run& run,
                                  const std::array<std::pair<std::string_view, std::string_view>, N>& ids) {
  std::vector<FindingLine> lines;
  for (const auto& [id, title] : ids)
    if (const auto* finding = run.finding(id)) lines.push_back({std::string(title), finding, {}});
  return lines;
}

void add_table(TextPage& page, const std::vector<TextColumn>& columns, std::vector<std::vector<std::string>> rows) {
  for (auto& row : rows)
    for (auto& text : row) text = page.shown(text);
  for (const auto& text : text_table(columns, std::move(rows), page.width(), 2)) page.line(text);
}

/// What most loads of each kind took.
void add_peaks(TextPage& page, const Run& run) {
  std::vector<std::vector<std::string>> rows;
  for (const auto& state : latency_states(run.measurements))
    rows.push_back({state.title, fmt::format("{:.0f}", state.loads), quantity(state.peak_cycles, "cycles"),
                    quantity(state.low_cycles, "cycles"), quantity(state.high_cycles, "cycles")});
  if (rows.empty()) return;
  page.blank();
  page.line("readings of single loads", k_bold);
  add_table(page, {{"", false, 0}, {"loads", true, 2}, {"median", true, 0}, {"5 %", true, 1}, {"95 %", true, 1}},
            std::move(rows));
}

}  // namespace

std::string dram_text(const Run& run, const TextStyle& style) {
  TextPage page(style);
  add_device_line(page, run);
  const auto parts = lines_of(run, k_parts);
  const auto latencies = lines_of(run, k_latencies);
  if (parts.empty() && latencies.empty()) {
    page.line("nothing was measured");
    return std::move(page).finish();
  }
  add_findings(page, parts);
  page.blank();
  page.line("latency of a load with a row to open", k_bold);
  add_findings(page, latencies);
  add_peaks(page, run);
  return std::move(page).finish();
}

std::string coalesce_text(const Run& run, const TextStyle& style) {
  TextPage page(style);
  add_device_line(page, run);
  const auto* table = run.measurements.find("derived.coalesce");
  if (table == nullptr || table->rows() == 0) {
    page.line("nothing was measured");
    return std::move(page).finish();
  }
  const auto pattern = texts(*table, "pattern");
  const auto width = numbers(*table, "width_bytes");
  const auto lines = numbers(*table, "lines");
  const auto sectors = numbers(*table, "sectors");
  const auto wavefronts = numbers(*table, "wavefronts");
  const auto l1 = numbers(*table, "l1_cycles");
  const auto l2 = numbers(*table, "l2_cycles");
  std::vector<std::vector<std::string>> rows;
  for (std::size_t i = 0;
       i < std::min({pattern.size(), width.size(), lines.size(), sectors.size(), l1.size(), l2.size()}); ++i)
    rows.push_back({pattern[i], plain_number(width[i]), plain_number(sectors[i]), plain_number(lines[i]),
                    i < wavefronts.size() ? plain_number(wavefronts[i]) : "", fmt::format("{:.0f}", l1[i]),
                    fmt::format("{:.0f}", l2[i])});
  add_table(page,
            {{"lanes", false, 0},
             {"bytes a lane", true, 0},
             {"sectors", true, 0},
             {"lines", true, 0},
             {"wavefronts", true, 0},
             {"L1, cycles", true, 0},
             {"L2, cycles", true, 0}},
            std::move(rows));
  page.indented("Readings of whole loads, with what reading them adds.", k_dim);
  page.blank();
  std::vector<FindingLine> findings;
  for (const auto& [id, title] :
       {std::pair{"coalescer.sectors", "sectors and lines"}, std::pair{"coalescer.line_cycles", "one more line in L1"},
        std::pair{"coalescer.wavefront_cycles", "one more wavefront in L1"},
        std::pair{"coalescer.counters", "counters"}})
    if (const auto* finding = run.finding(id)) {
      // The table says what the list would.
      const bool listed = std::string_view(id) == "coalescer.sectors" && finding->value;
      if (!listed) findings.push_back({title, finding, {}});
    }
  add_findings(page, findings);
  return std::move(page).finish();
}

}  // namespace gpusonde
