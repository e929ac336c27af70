// The table of all outputs: adding one is a file of its own and a line here.
#include <algorithm>

#include "report/escape.hpp"
#include "report/report.hpp"
#include "survey/run_file.hpp"

namespace gpusonde {
namespace {

std::vector<OutputFile> make_json(const Run& run) { return {{"run.json", to_json(run)}}; }

std::vector<OutputFile> make_text(const Run& run) { return {{"report.txt", text_report(run, {})}}; }

std::vector<OutputFile> make_html(const Run& run) { return {{"report.html", html_report(run)}}; }

/// Two names may become one file name; the later one gets a number.
std::string unused(const std::vector<OutputFile>& files, const std::string& stem, const char* extension) {
  for (int n = 1;; ++n) {
    const auto name = stem + (n == 1 ? "" : "-" + std::to_string(n)) + extension;
    if (std::none_of(files.begin(), files.end(), [&](const OutputFile& file) { return file.name == name; }))
      return name;
  }
}

std::vector<OutputFile> make_csv(const Run& run) {
  std::vector<OutputFile> files{{"findings.csv", findings_csv(run)}};
  for (const auto& [name, table] : run.measurements.tables)
    files.push_back({unused(files, "data/" + report::file_stem(name), ".csv"), table_csv(table)});
  return files;
}

std::vector<OutputFile> make_svg(const Run& run) {
  std::vector<OutputFile> files;
  for (auto& figure : figures(run))
    files.push_back({unused(files, "figures/" + figure.name, ".svg"), std::move(figure.svg)});
  return files;
}

constexpr ReportKind k_reports[] = {
    {"json", "run.json: everything, for programs and for `gpusonde analyze`", make_json},
    {"text", "report.txt: what the terminal shows", make_text},
    {"csv", "findings.csv, and data/*.csv: one file a table", make_csv},
    {"svg", "figures/*.svg: the curves", make_svg},
    {"html", "report.html: all of it to look at, in one file", make_html},
};

}  // namespace

std::span<const ReportKind> report_list() { return k_reports; }

Result<void> write_reports(const Run& run, const std::filesystem::path& folder) {
  for (const auto& kind : report_list()) {
    for (const auto& file : kind.make(run)) {
      const auto path = folder / file.name;
      if (auto ready = prepare_output_folder(path.parent_path()); !ready) return ready;
      if (auto written = write_file(path, file.content); !written) return written;
    }
  }
  return {};
}

}  // namespace gpusonde
