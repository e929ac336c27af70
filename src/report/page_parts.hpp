// The parts of the HTML report, each a piece of markup with everything from the run escaped.
#pragma once

#include <map>
#include <string>

#include "gpusonde/run.hpp"
#include "report/latency_view.hpp"

namespace gpusonde::report {

/// Device, environment, options as a list of terms.
[[nodiscard]] std::string facts_html(const Run& run);
/// One row a level.
[[nodiscard]] std::string hierarchy_html(const Run& run);
/// All findings; evidence links to the tables' anchors.
[[nodiscard]] std::string findings_html(const Run& run);
/// The numbers of a plot.
[[nodiscard]] std::string plot_table_html(const LatencyView& view);
/// All tables of the run, each folded, with its CSV as a link. A budget keeps the page small: what does
/// not fit is cut to its first rows and says where the rest is.
[[nodiscard]] std::string measurements_html(const Run& run);

/// `table-3`: the anchor of a table, by its place in the run.
[[nodiscard]] std::string table_anchor(const Run& run, const std::string& name);
/// A link that saves `csv` as a file.
[[nodiscard]] std::string csv_link(const std::string& csv, const std::string& file_name);

}  // namespace gpusonde::report
