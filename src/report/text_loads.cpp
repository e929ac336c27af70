// What `crossbar`, `bandwidth` and `load` say on a terminal.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <set>

#include "report/columns.hpp"
#include "report/finding_text.hpp"
#include "report/quantity.hpp"
#include "report/report.hpp"
#include "report/text_table.hpp"

namespace gpusonde {
namespace {

using namespace report;

const SampleValue* sample(const Finding& finding, std::string_view name) {
  for (const auto& [key, value] : finding.samples)
    if (key == name) return &value;
  return nullptr;
}

std::optional<double> number(const Finding& finding, std::string_view name) {
  const auto* value = sample(finding, name);
  const auto* real = value == nullptr ? nullptr : std::get_if<double>(value);
  return real == nullptr ? std::nullopt : std::optional(*real);
}

std::string word(const Finding& finding, std::string_view name) {
  const auto* value = sample(finding, name);
  const auto* text = value == nullptr ? nullptr : std::get_if<std::string>(value);
  return text == nullptr ? std::string() : *text;
}

std::string value_text(const Finding* finding) {
  if (finding == nullptr) return {};
  return finding->value ? compact(*finding->value, finding->unit) : "?";
}

std::string truth_mark(const Finding& finding) {
  if (!finding.agrees) return {};
  return *finding.agrees ? "✓" : "✗";
}

/// Why something has no value, one line for findings that share a reason.
void add_reasons(TextPage& page, const std::vector<const Finding*>& findings) {
  std::vector<std::pair<std::string, std::string>> reasons;  // reason, ids
  for (const auto* finding : findings) {
    if (finding->outcome == Outcome::ok) continue;
    auto reason = fmt::format("{}: {}", to_string(finding->outcome), finding->reason);
    if (!reasons.empty() && reasons.back().first == reason)
      reasons.back().second += ", " + finding->id;
    else
      reasons.emplace_back(std::move(reason), finding->id);
  }
  if (reasons.empty()) return;
  page.blank();
  page.line("what could not be told", k_bold);
  for (const auto& [reason, ids] : reasons) page.indented(fmt::format("{}: {}", ids, reason), k_yellow);
}

/// What is said about figures that are good as they stand, each once.
void add_notes(TextPage& page, const std::vector<const Finding*>& findings) {
  std::map<std::string, std::string> ids;
  for (const auto* finding : findings)
    if (const auto note = word(*finding, "note"); !note.empty() && finding->value)
      ids[note] += (ids[note].empty() ? "" : ", ") + finding->id;
  for (const auto& [note, of] : ids) page.indented(fmt::format("{}: {}", note, of), k_yellow);
}

std::vector<const Finding*> findings_of(const Run& run, std::string_view prefix) {
  std::vector<const Finding*> found;
  for (const auto& finding : run.findings)
    if (finding.id.starts_with(prefix)) found.push_back(&finding);
  return found;
}

/// `92 % of 1008 GB/s`, `100 % of 128 B a cycle`.
std::string of_most(const Finding& finding) {
  if (const auto part = number(finding, "of_theoretical"))
    return fmt::format("{:.1f} % of {}", 100 * *part,
                       quantity(number(finding, "theoretical_bytes_per_second").value_or(0), "bytes/s"));
  if (const auto part = number(finding, "of_128_bytes_per_cycle"); part && finding.value)
    return fmt::format("{:.1f} % of 128 B/cycle/SM", 100 * *part);
  return {};
}

void add_bandwidths(TextPage& page, const std::vector<const Finding*>& findings) {
  std::vector<std::vector<std::string>> cells;
  std::string last;
  for (const auto* finding : findings) {
    const auto name = finding->id.substr(std::string_view("bandwidth.").size());
    const auto dot = name.find('.');
    const auto level = name.substr(0, dot);
    const auto per_cycle = number(*finding, "bytes_per_cycle_per_sm");
    cells.push_back({level == last       ? ""
                     : level == "shared" ? "shared"
                                         : level_title(level),
                     name.substr(dot + 1), value_text(finding), interval_text(*finding), of_most(*finding),
                     finding->value && per_cycle ? fmt::format("{:.1f}", *per_cycle) : "", truth_mark(*finding)});
    last = level;
    for (auto& cell : cells.back()) cell = page.shown(cell);
  }
  for (const auto& text : text_table({{"", false, 0},
                                      {"", false, 0},
                                      {"all SMs", true, 0},
                                      {"between", true, 3},
                                      {"", true, 1},
                                      {"B/cycle/SM", true, 2},
                                      {"truth", false, 1}},
                                     std::move(cells), page.width()))
    page.line(text);
}

/// The same load alone and among others of its warp: two figures that are not each other.
void add_completions(TextPage& page, const Run& run) {
  std::vector<std::vector<std::string>> cells;
  for (const std::string level : {"l1", "l2", "dram"}) {
    const auto* finding = run.finding(fmt::format("load.{}.completion_interval", level));
    if (finding == nullptr) continue;
    std::vector<std::string> row{level_title(level)};
    for (const auto* chains : {"chains_1", "chains_2", "chains_4", "chains_8"}) {
      const auto cycles = number(*finding, chains);
      row.push_back(cycles && finding->value ? fmt::format("{:.1f}", *cycles) : "");
    }
    row.push_back(value_text(finding));
    row.push_back(interval_text(*finding));
    row.push_back(!finding->value ? "" : word(*finding, "still_overlapping") == "yes" ? "still falling" : "reached");
    row.push_back(truth_mark(*finding));
    for (auto& cell : row) cell = page.shown(cell);
    cells.push_back(std::move(row));
  }
  if (cells.empty()) return;
  page.line("one warp: cycles a load, with so many under way (1: the true latency)", k_bold);
  for (const auto& text : text_table({{"", false, 0},
                                      {"1", true, 0},
                                      {"2", true, 2},
                                      {"4", true, 2},
                                      {"8", true, 2},
                                      {"completion interval", true, 0},
                                      {"between", true, 3},
                                      {"limit", false, 1},
                                      {"truth", false, 1}},
                                     std::move(cells), page.width(), 2))
    page.line(text);
}

void add_curve(TextPage& page, const Run& run, const std::string& level) {
  const auto* table = run.measurements.find("derived.load.curve");
  if (table == nullptr) return;
  const auto levels = texts(*table, "level");
  const auto sms = numbers(*table, "sms");
  const auto warps = numbers(*table, "warps");
  const auto chains = numbers(*table, "chains");
  const auto under_way = numbers(*table, "bytes_under_way");
  const auto cycles = numbers(*table, "latency_cycles");
  const auto rate = numbers(*table, "bytes_per_second");
  const auto together = numbers(*table, "together");
  std::vector<std::vector<std::string>> cells;
  for (std::size_t row = 0; row < std::min({levels.size(), under_way.size(), cycles.size(), rate.size(), sms.size(),
                                            warps.size(), chains.size(), together.size()});
       ++row)
    if (levels[row] == level)
      cells.push_back({fmt::format("{:.0f} × {:.0f} × {:.0f}", sms[row], warps[row], chains[row]),
                       quantity(under_way[row], "bytes"), fmt::format("{:.1f}", cycles[row]),
                       quantity(rate[row], "bytes/s"), fmt::format("{:.0f} %", 100 * together[row])});
  for (auto& row : cells)
    for (auto& cell : row) cell = page.shown(cell);
  if (cells.empty()) return;
  for (const auto& text : text_table({{page.shown("SMs × warps × chains"), true, 0},
                                      {"under way", true, 0},
                                      {"cycles", true, 0},
                                      {"all SMs", true, 0},
                                      {"over all time", true, 1}},
                                     std::move(cells), page.width(), 2))
    page.line(text);
}

void add_loaded(TextPage& page, const Run& run, const std::string& level) {
  std::vector<FindingLine> lines;
  for (const auto& [name, title] :
       {std::pair{"idle_latency", "idle latency"}, std::pair{"peak", "peak"}, std::pair{"knee", "knee (1.5 x idle)"},
        std::pair{"concurrency", "under way there"}})
    if (const auto* finding = run.finding(fmt::format("load.{}.{}", level, name)))
      lines.push_back({title, finding, {}});
  if (lines.empty()) return;
  page.blank();
  page.line(level_title(level) + ", whole lines at random", k_bold);
  add_findings(page, lines);
  add_curve(page, run, level);
}

}  // namespace

std::string crossbar_text(const Run& run, const TextStyle& style) {
  TextPage page(style);
  add_device_line(page, run);
  std::vector<FindingLine> lines;
  for (const auto& [id, title] : {std::pair{"crossbar.lines_per_cycle", "line requests a cycle, one SM"},
                                  std::pair{"crossbar.all_lines_per_cycle", "all SMs together"}})
    if (const auto* finding = run.finding(id)) lines.push_back({title, finding, {}});
  if (lines.empty())
    page.line("nothing was measured");
  else
    add_findings(page, lines);
  return std::move(page).finish();
}

std::string bandwidth_text(const Run& run, const TextStyle& style) {
  TextPage page(style);
  add_device_line(page, run);
  const auto findings = findings_of(run, "bandwidth.");
  if (findings.empty()) {
    page.line("nothing was measured");
    return std::move(page).finish();
  }
  add_bandwidths(page, findings);
  page.blank();
  page.line("a copy counts what is read and what is written", k_dim);
  add_notes(page, findings);
  add_reasons(page, findings);
  return std::move(page).finish();
}

std::string load_text(const Run& run, const TextStyle& style) {
  TextPage page(style);
  add_device_line(page, run);
  if (findings_of(run, "load.").empty()) {
    page.line("nothing was measured");
    return std::move(page).finish();
  }
  add_completions(page, run);
  for (const std::string level : {"l2", "dram"}) add_loaded(page, run, level);
  std::vector<const Finding*> completions;
  for (const auto* finding : findings_of(run, "load."))
    if (finding->id.ends_with("completion_interval")) completions.push_back(finding);
  add_reasons(page, completions);
  return std::move(page).finish();
}

}  // namespace gpusonde
