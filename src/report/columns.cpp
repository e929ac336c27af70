#include "report/columns.hpp"

#include <charconv>
#include <cmath>
#include <iterator>

namespace gpusonde::report {

std::vector<double> numbers(const Table& table, std::string_view name) {
  if (const auto* real = table.column<double>(name)) return *real;
  std::vector<double> out;
  if (const auto* whole = table.column<std::uint64_t>(name))
    for (const auto value : *whole) out.push_back(static_cast<double>(value));
  return out;
}

std::vector<std::string> texts(const Table& table, std::string_view name) {
  if (const auto* found = table.column<std::string>(name)) return *found;
  return std::vector<std::string>(table.rows());
}

std::string shortest(double value) {
  if (!std::isfinite(value)) return {};
  char digits[32];
  const auto end = std::to_chars(std::begin(digits), std::end(digits), value).ptr;
  return {digits, end};
}

std::string cell(const Column& column, std::size_t row) {
  if (row >= size(column)) return {};
  if (const auto* whole = std::get_if<std::vector<std::uint64_t>>(&column)) return std::to_string((*whole)[row]);
  if (const auto* real = std::get_if<std::vector<double>>(&column)) return shortest((*real)[row]);
  return std::get<std::vector<std::string>>(column)[row];
}

}  // namespace gpusonde::report
