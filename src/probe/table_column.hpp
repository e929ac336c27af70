// A column of a table that may be absent.
#pragma once

#include <string_view>
#include <vector>

#include "gpusonde/run.hpp"

namespace gpusonde {

/// Empty when there is no such table, or no such column of this type.
template <class T>
[[nodiscard]] std::vector<T> table_column(const Measurements& measurements, std::string_view table,
                                          std::string_view name) {
  const auto* found = measurements.find(table);
  const auto* values = found == nullptr ? nullptr : found->column<T>(name);
  return values == nullptr ? std::vector<T>{} : *values;
}

}  // namespace gpusonde
