#include "report/operation_table.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>

#include "report/columns.hpp"
#include "report/text_table.hpp"

namespace gpusonde::report {
namespace {

constexpr std::string_view k_before = "instr.";
constexpr std::string_view k_after = ".true_latency";

std::string cycles_text(double cycles) { return std::isnan(cycles) ? "?" : fmt::format("{:.2f}", cycles); }

/// The value with the mark that says whether the model agrees; `?` where there is none.
std::string value_text(const Finding* finding) {
  if (finding == nullptr) return "";
  if (!finding->value) return "?";
  const auto* value = std::get_if<double>(&*finding->value);
  if (value == nullptr) return "?";
  const auto* mark = finding->agrees == true ? " ✓" : finding->agrees == false ? " ✗" : "";
  return cycles_text(*value) + mark;
}

/// Cycles an operation by operation and number of chains.
using Curves = std::map<std::string, std::map<double, double>>;
Curves curves_of(const Run& run) {
  Curves curves;
  const auto* table = run.measurements.find("derived.instr.intervals");
  if (table == nullptr) return curves;
  const auto names = texts(*table, "operation");
  const auto chains = numbers(*table, "chains");
  const auto cycles = numbers(*table, "cycles");
  for (std::size_t row = 0; row < std::min({names.size(), chains.size(), cycles.size()}); ++row)
    curves[names[row]][chains[row]] = cycles[row];
  return curves;
}

std::set<double> chains_of(const Curves& curves) {
  std::set<double> chains;
  for (const auto& [name, curve] : curves)
    for (const auto& [count, cycles] : curve) chains.insert(count);
  return chains;
}

}  // namespace

std::vector<std::string> operations_of(const Run& run) {
  std::vector<std::string> names;
  for (const auto& finding : run.findings)
    if (finding.id.starts_with(k_before) && finding.id.ends_with(k_after))
      names.push_back(finding.id.substr(k_before.size(), finding.id.size() - k_before.size() - k_after.size()));
  return names;
}

bool add_operation_table(TextPage& page, const Run& run, bool with_curve, std::set<std::string>& shown) {
  const auto curves = curves_of(run);
  const auto chains = with_curve ? chains_of(curves) : std::set<double>{};
  std::vector<TextColumn> columns{{"", false, 0}, {"true latency", true, 0}, {"completion interval", true, 0}};
  // One chain is the latency.
  for (const double count : chains)
    if (count > 1) columns.push_back({fmt::format("{:.0f}", count), true, 1});
  std::vector<std::vector<std::string>> cells;
  for (const auto& name : operations_of(run)) {
    const auto* latency = run.finding(fmt::format("instr.{}.true_latency", name));
    const auto* interval = run.finding(fmt::format("instr.{}.completion_interval", name));
    const auto curve = curves.find(name);
    if (curve == curves.end()) continue;
    for (const auto* finding : {latency, interval})
      if (finding != nullptr && finding->value) shown.insert(finding->id);
    std::vector<std::string> row{page.shown(name), page.shown(value_text(latency)), page.shown(value_text(interval))};
    for (const double count : chains) {
      if (count <= 1) continue;
      const auto at = curve->second.find(count);
      row.push_back(at == curve->second.end() ? "" : cycles_text(at->second));
    }
    cells.push_back(std::move(row));
  }
  if (cells.empty()) return false;
  for (const auto& text : text_table(std::move(columns), std::move(cells), page.width(), 2)) page.line(text);
  return true;
}

}  // namespace gpusonde::report
