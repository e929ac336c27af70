// Operations one below the other for a terminal: true latency and completion interval, and the interval over the number
// of independent chains.
#pragma once

#include <set>
#include <string>
#include <vector>

#include "gpusonde/run.hpp"
#include "report/text_page.hpp"

namespace gpusonde::report {

/// Ids between `instr.` and `.true_latency`, in the run's order.
[[nodiscard]] std::vector<std::string> operations_of(const Run& run);

/// The table, without operations that this device cannot time; ids that it shows are added to `shown`. Nothing, and
/// false, without an operation.
bool add_operation_table(TextPage& page, const Run& run, bool with_curve, std::set<std::string>& shown);

}  // namespace gpusonde::report
