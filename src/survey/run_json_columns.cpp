// The type of a column is that of its values: whole numbers, numbers (null is a missing one), or
// strings. A number with a fraction or an exponent, or a null, makes the whole column doubles.
#include "survey/run_json_columns.hpp"

#include <cmath>
#include <limits>

namespace gpusonde {
namespace {

using Json = JsonNode::Json;

Column empty_column(const JsonNode& document, const std::string& table, const std::string& key) {
  if (!document.has("empty_columns") || !document.at("empty_columns").has(table)) return std::vector<double>{};
  const auto types = document.at("empty_columns").at(table);
  if (!types.has(key)) return std::vector<double>{};
  const auto type = types.at(key).text();
  if (type == "integer") return std::vector<std::uint64_t>{};
  if (type == "number") return std::vector<double>{};
  if (type == "string") return std::vector<std::string>{};
  types.at(key).complain("integer, number or string");
}

Column read_column(const JsonNode& node) {
  const std::size_t count = node.elements();
  const Json& values = node.json();
  if (values[0].is_string()) return node.texts();
  bool whole = true;
  for (std::size_t i = 0; i < count; ++i) {
    if (!values[i].is_number() && !values[i].is_null())
      node.at(i).complain("a number or null, as the values before it");
    whole = whole && values[i].is_number_unsigned();
  }
  if (whole) return values.get<std::vector<std::uint64_t>>();
  std::vector<double> out(count);
  for (std::size_t i = 0; i < count; ++i)
    out[i] = values[i].is_null() ? std::numeric_limits<double>::quiet_NaN() : values[i].get<double>();
  return out;
}

}  // namespace

Measurements read_measurements(const JsonNode& document) {
  Measurements out;
  for (const auto& [name, table_node] : document.at("measurements").members()) {
    auto& table = out.table(name);
    for (const auto& [key, column_node] : table_node.members()) {
      const std::size_t rows = column_node.elements();
      if (!table.columns.empty() && rows != table.rows())
        column_node.complain(
            fmt::format("as long as the table's other columns ({} values, not {})", table.rows(), rows));
      table.columns.emplace_back(key, rows == 0 ? empty_column(document, name, key) : read_column(column_node));
    }
  }
  return out;
}

}  // namespace gpusonde
