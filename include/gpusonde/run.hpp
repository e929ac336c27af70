// A run: everything measured in one go, with what surrounds it. Its file format is
// docs/schema/run-1.0.json.
#pragma once

#include <cstdint>
#include <deque>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "gpusonde/device.hpp"
#include "gpusonde/finding.hpp"

namespace gpusonde {

using Column = std::variant<std::vector<std::uint64_t>, std::vector<double>, std::vector<std::string>>;

/// Number of rows of a column.
[[nodiscard]] std::size_t size(const Column& column) noexcept;

/// Columns of equal length, in the order they are written. Units are in the column names
/// (`size_bytes`, `latency_cycles`). A missing double is NaN (JSON null).
struct Table {
  std::deque<std::pair<std::string, Column>> columns;  ///< a deque: references from make() stay valid

  [[nodiscard]] std::size_t rows() const noexcept;
  /// Column by name; nullptr when absent or of another type.
  template <class T>
  [[nodiscard]] const std::vector<T>* column(std::string_view name) const noexcept {
    for (const auto& [key, values] : columns)
      if (key == name) return std::get_if<std::vector<T>>(&values);
    return nullptr;
  }
  /// Column by name, created empty when absent. Precondition: if present, it has type T.
  template <class T>
  std::vector<T>& make(std::string_view name) {
    for (auto& [key, values] : columns)
      if (key == name) return std::get<std::vector<T>>(values);
    columns.emplace_back(std::string(name), std::vector<T>{});
    return std::get<std::vector<T>>(columns.back().second);
  }
};

/// Tables by name, in the order they were measured.
struct Measurements {
  std::deque<std::pair<std::string, Table>> tables;  ///< a deque: references from table() stay valid

  [[nodiscard]] const Table* find(std::string_view name) const noexcept;
  /// The table of that name, created empty when absent.
  Table& table(std::string_view name);
};

struct ToolInfo {
  std::string name = "gpusonde";
  std::string version;
  std::string commit;
  std::string kernels_sha256;
};

/// Options that shaped the run, as text, by long option name without dashes.
struct RunOptions {
  std::uint64_t seed = 1;
  std::string command_line;
  std::vector<std::pair<std::string, std::string>> values;
};

struct Run {
  ToolInfo tool;
  DeviceInfo device;
  Environment environment;
  RunOptions options;
  std::vector<std::string> probes_done;  ///< probes whose measurements are complete, in order
  std::vector<Finding> findings;
  Measurements measurements;

  [[nodiscard]] const Finding* finding(std::string_view id) const noexcept;
};

}  // namespace gpusonde
