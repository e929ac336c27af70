// The few functions of the public data types.
#include <algorithm>

#include "gpusonde/error.hpp"
#include "gpusonde/finding.hpp"
#include "gpusonde/run.hpp"

namespace gpusonde {

int exit_code(ErrorKind kind) noexcept {
  switch (kind) {
    case ErrorKind::usage:
    case ErrorKind::bad_input:
    case ErrorKind::output: return 2;
    case ErrorKind::no_device: return 3;
    case ErrorKind::interrupted: return 130;
    case ErrorKind::unsupported:
    case ErrorKind::measurement: break;
  }
  return 1;
}

std::string_view to_string(Outcome outcome) noexcept {
  switch (outcome) {
    case Outcome::ok: return "ok";
    case Outcome::unsupported: return "unsupported";
    case Outcome::skipped: return "skipped";
    case Outcome::inconclusive: return "inconclusive";
    case Outcome::failed: break;
  }
  return "failed";
}

std::size_t size(const Column& column) noexcept {
  return std::visit([](const auto& values) { return values.size(); }, column);
}

std::size_t Table::rows() const noexcept { return columns.empty() ? 0 : size(columns.front().second); }

const Table* Measurements::find(std::string_view name) const noexcept {
  const auto found = std::find_if(tables.begin(), tables.end(), [&](const auto& entry) { return entry.first == name; });
  return found == tables.end() ? nullptr : &found->second;
}

Table& Measurements::table(std::string_view name) {
  for (auto& [key, value] : tables)
    if (key == name) return value;
  return tables.emplace_back(std::string(name), Table{}).second;
}

const Finding* Run::finding(std::string_view id) const noexcept {
  const auto found = std::find_if(findings.begin(), findings.end(), [&](const Finding& f) { return f.id == id; });
  return found == findings.end() ? nullptr : &*found;
}

}  // namespace gpusonde
