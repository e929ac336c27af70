// Columns of a table as the reports need them, whatever number type they were stored with.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "gpusonde/run.hpp"

namespace gpusonde::report {

/// Values as doubles; empty when the column is absent or holds texts.
[[nodiscard]] std::vector<double> numbers(const Table& table, std::string_view name);
/// Values as texts; as many empty ones as the table has rows when the column is absent or holds numbers.
[[nodiscard]] std::vector<std::string> texts(const Table& table, std::string_view name);
/// One value as a CSV or HTML cell: shortest number that reads back the same; empty for a missing one.
[[nodiscard]] std::string cell(const Column& column, std::size_t row);
/// A number in as few digits as read back the same; empty when not finite.
[[nodiscard]] std::string shortest(double value);

}  // namespace gpusonde::report
