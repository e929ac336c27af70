// What `instr` and `memories` say on a terminal.
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>

#include "report/columns.hpp"
#include "report/finding_text.hpp"
#include "report/operation_table.hpp"
#include "report/report.hpp"
#include "report/text_table.hpp"

namespace gpusonde {
namespace {

using namespace report;

std::vector<FindingLine> lines_of(const Run& run, const std::vector<std::string_view>& prefixes,
                                  const std::set<std::string>& shown) {
  std::vector<FindingLine> lines;
  for (const auto& finding : run.findings) {
    const bool wanted = std::any_of(prefixes.begin(), prefixes.end(),
                                    [&](std::string_view prefix) { return finding.id.starts_with(prefix); });
    if (wanted && !finding.id.ends_with("_ns") && !shown.contains(finding.id))
      lines.push_back({finding.id, &finding, {}});
  }
  return lines;
}

/// Means over launches, by block and block.
void add_cluster(TextPage& page, const Run& run) {
  const auto* table = run.measurements.find("memories.cluster");
  if (table == nullptr || table->rows() == 0) return;
  const auto from = numbers(*table, "from_block");
  const auto to = numbers(*table, "to_block");
  const auto cycles = numbers(*table, "cycles_per_access");
  std::map<double, std::map<double, std::pair<double, double>>> sums;
  std::set<double> blocks;
  for (std::size_t row = 0; row < std::min({from.size(), to.size(), cycles.size()}); ++row) {
    auto& [sum, count] = sums[from[row]][to[row]];
    sum += cycles[row];
    count += 1;
    blocks.insert(to[row]);
  }
  std::vector<TextColumn> columns{{"block", true, 0}};
  for (const double block : blocks) columns.push_back({fmt::format("to {:.0f}", block), true, 1});
  std::vector<std::vector<std::string>> cells;
  for (auto& [block, row] : sums) {
    std::vector<std::string> line{fmt::format("{:.0f}", block)};
    for (const double other : blocks)
      line.push_back(row.contains(other) ? fmt::format("{:.1f}", row[other].first / row[other].second) : "");
    cells.push_back(std::move(line));
  }
  page.blank();
  page.line("shared memory of a cluster: cycles a load, from a block and to a block", k_bold);
  for (const auto& text : text_table(std::move(columns), std::move(cells), page.width(), 2)) page.line(text);
}

}  // namespace

std::string instr_text(const Run& run, const TextStyle& style) {
  TextPage page(style);
  add_device_line(page, run);
  std::set<std::string> shown;
  if (add_operation_table(page, run, true, shown)) {
    page.blank();
    page.indented("true latency: cycles from issue to use in a dependent chain", k_dim);
    page.indented("completion interval: mean cycles an operation when independent ones of one warp overlap;", k_dim);
    page.indented("to the right of it, by the number of independent chains", k_dim);
    page.blank();
  }
  const auto lines = lines_of(run, {"instr.", "operand."}, shown);
  if (lines.empty() && shown.empty()) page.line("nothing was measured");
  add_findings(page, lines);
  return std::move(page).finish();
}

std::string memories_text(const Run& run, const TextStyle& style) {
  TextPage page(style);
  add_device_line(page, run);
  const auto lines = lines_of(run, {"constant.", "texture.", "readonly.", "shared.", "dsmem."}, {});
  if (lines.empty()) page.line("nothing was measured");
  add_findings(page, lines);
  add_cluster(page, run);
  return std::move(page).finish();
}

}  // namespace gpusonde
