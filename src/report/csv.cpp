// Comma-separated values after RFC 4180, with a plain newline at the end of a row.
#include "report/columns.hpp"
#include "report/report.hpp"

namespace gpusonde {
namespace {

std::string field(const std::string& text) {
  if (text.find_first_of(",\"\r\n") == std::string::npos) return text;
  std::string out = "\"";
  for (const char c : text) {
    if (c == '"') out += '"';
    out += c;
  }
  return out + '"';
}

/// Bare numbers, names, and lists joined by blanks: for programs, not for people.
std::string bare(const std::optional<FindingValue>& value) {
  if (!value) return {};
  if (const auto* real = std::get_if<double>(&*value)) return report::shortest(*real);
  if (const auto* name = std::get_if<std::string>(&*value)) return *name;
  std::string out;
  for (const auto& entry : std::get<std::vector<std::string>>(*value)) out += (out.empty() ? "" : " ") + entry;
  return out;
}

}  // namespace

std::string findings_csv(const Run& run) {
  std::string out = "id,unit,outcome,value,low,high,truth,agrees,reason\n";
  for (const auto& finding : run.findings) {
    out += field(finding.id) + ',' + field(finding.unit) + ',' + std::string(to_string(finding.outcome)) + ',';
    out += field(bare(finding.value)) + ',';
    out += (finding.interval ? report::shortest(finding.interval->low) : "") + ',';
    out += (finding.interval ? report::shortest(finding.interval->high) : "") + ',';
    out += field(bare(finding.truth)) + ',';
    out += finding.agrees ? (*finding.agrees ? "true" : "false") : "";
    out += ',' + field(finding.reason) + '\n';
  }
  return out;
}

std::string table_csv(const Table& table) {
  std::string out;
  const char* between = "";
  for (const auto& [name, column] : table.columns) {
    out += between + field(name);
    between = ",";
  }
  out += '\n';
  for (std::size_t row = 0; row < table.rows(); ++row) {
    between = "";
    for (const auto& [name, column] : table.columns) {
      out += between + field(report::cell(column, row));
      between = ",";
    }
    out += '\n';
  }
  return out;
}

}  // namespace gpusonde
