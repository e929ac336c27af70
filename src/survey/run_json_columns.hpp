// Tables as they stand in run.json: name -> { column: [values] }.
#pragma once

#include "gpusonde/run.hpp"
#include "survey/run_json_node.hpp"

namespace gpusonde {

/// `measurements` and, where present, `empty_columns` of the document. Throws Misfit.
[[nodiscard]] Measurements read_measurements(const JsonNode& document);

}  // namespace gpusonde
