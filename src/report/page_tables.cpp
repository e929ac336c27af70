// The data behind the page: tables that fold, and links that save them.
#include <fmt/format.h>

#include <algorithm>

#include "report/columns.hpp"
#include "report/escape.hpp"
#include "report/figure_latency.hpp"
#include "report/page_parts.hpp"
#include "report/report.hpp"

namespace gpusonde::report {
namespace {

/// CSV bytes that the page carries as tables and links, all tables together; the page stays under
/// 1.5 MB with d3, since a cell costs about five times its CSV.
constexpr std::size_t k_budget_bytes = 40'000;
constexpr std::size_t k_cut_rows = 25;
constexpr std::size_t k_cell_bytes = 60;
constexpr std::size_t k_cut_cells = 300;  // of wide tables, such as one column an SM

std::string column_head(std::string_view name) { return fmt::format("<th scope=\"col\">{}</th>", xml_escape(name)); }

/// How many rows stand for a table that is too large.
std::size_t cut_rows(const Table& table) {
  const auto by_cells = k_cut_cells / std::max<std::size_t>(1, table.columns.size());
  return std::min({table.rows(), k_cut_rows, std::max<std::size_t>(by_cells, 5)});
}

/// A long cell, such as a walk of five hundred accesses, by its beginning: all of it is in the table's CSV.
std::string shortened(std::string text) {
  if (text.size() <= k_cell_bytes) return text;
  auto end = k_cell_bytes;
  while (end > 0 && (static_cast<unsigned char>(text[end]) & 0xC0U) == 0x80U) --end;  // not inside a character
  return text.substr(0, end) + "…";
}

std::string body_html(const Table& table, std::size_t rows) {
  std::string out = "<div class=\"scroll\"><table><thead><tr>";
  for (const auto& [name, column] : table.columns) out += column_head(name);
  out += "</tr></thead><tbody>\n";
  for (std::size_t row = 0; row < rows; ++row) {
    out += "<tr>";
    for (const auto& [name, column] : table.columns) out += "<td>" + xml_escape(shortened(cell(column, row))) + "</td>";
    out += "</tr>\n";
  }
  return out + "</tbody></table></div>\n";
}

}  // namespace

std::string table_anchor(const Run& run, const std::string& name) {
  const auto& tables = run.measurements.tables;
  const auto found = std::find_if(tables.begin(), tables.end(), [&](const auto& entry) { return entry.first == name; });
  return found == tables.end() ? std::string() : fmt::format("table-{}", found - tables.begin());
}

std::string csv_link(const std::string& csv, const std::string& file_name) {
  return fmt::format("<a class=\"csv\" download=\"{}.csv\" href=\"data:text/csv;charset=utf-8,{}\">CSV</a>",
                     xml_escape(file_stem(file_name)), percent_encode(csv));
}

std::string plot_table_html(const LatencyView& view) {
  std::size_t rows = 0;
  std::string out =
      "<div class=\"scroll\"><table><thead><tr><th scope=\"col\">chain</th><th scope=\"col\">size_bytes</th>"
      "<th scope=\"col\">latency_cycles</th><th scope=\"col\">low_cycles</th><th scope=\"col\">high_cycles</th>"
      "<th scope=\"col\">latency_ns</th><th scope=\"col\">warmup</th></tr></thead><tbody>\n";
  for (const auto& chain : view.chains) {
    for (const auto& point : chain.points) {
      if (++rows > 1000) continue;
      out += fmt::format("<tr><td>{}</td><td>{}</td><td>{}</td><td>{}</td><td>{}</td><td>{}</td><td>{}</td></tr>\n",
                         xml_escape(chain.name), shortest(point.bytes), shortest(point.cycles), shortest(point.low),
                         shortest(point.high), shortest(point.ns), xml_escape(point.warmup));
    }
  }
  out += "</tbody></table></div>\n";
  if (rows > 1000) out += fmt::format("<p>The first 1000 of {} rows; all are in run.json.</p>\n", rows);
  return out;
}

std::string measurements_html(const Run& run) {
  std::string out;
  std::size_t left = k_budget_bytes;
  for (const auto& [name, table] : run.measurements.tables) {
    const auto csv = table_csv(table);
    const bool whole = csv.size() <= left;
    if (whole) left -= csv.size();
    const auto rows = whole ? table.rows() : cut_rows(table);
    out += fmt::format("<details id=\"{}\"><summary><code>{}</code> <span class=\"soft\">{} row{}</span></summary>\n",
                       table_anchor(run, name), xml_escape(name), table.rows(), table.rows() == 1 ? "" : "s");
    if (whole)
      out += "<p>" + csv_link(csv, name) + "</p>\n";
    else
      out += fmt::format("<p>The first {} of {} rows; all are in run.json and data/{}.csv beside this page.</p>\n",
                         rows, table.rows(), xml_escape(file_stem(name)));
    out += body_html(table, rows) + "</details>\n";
  }
  return out.empty() ? "<p>Nothing was measured.</p>\n" : out;
}

}  // namespace gpusonde::report
