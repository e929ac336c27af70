// What a run looks like: on a terminal, as files. All pure functions of the run.
#pragma once

#include <filesystem>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "gpusonde/error.hpp"
#include "gpusonde/run.hpp"

namespace gpusonde {

struct TextStyle {
  bool color = false;
  bool unicode = true;
  unsigned width = 100;
};

/// The hierarchy, one line a level, then what could not be told, then the count.
[[nodiscard]] std::string text_report(const Run& run, const TextStyle& style);
/// The sweep by stride: for each policy and stride the first level, and its steps.
[[nodiscard]] std::string sweep_text(const Run& run, const TextStyle& style);
/// Virtual or physical: the verdicts, and in a few sentences what they rest on.
[[nodiscard]] std::string addressing_text(const Run& run, const TextStyle& style);
/// Latency over SMs and lines: a small heat map, at most 40 rows, ordered as the figure is.
[[nodiscard]] std::string map_text(const Run& run, const TextStyle& style);
/// The geometry of the caches that were looked at: lines, ways, sets, functions, replacement, and what they rest on.
[[nodiscard]] std::string cache_text(const Run& run, const TextStyle& style);
/// L2's slices and sides: their functions, and which SM stands on which side.
[[nodiscard]] std::string slices_text(const Run& run, const TextStyle& style);
/// Operations: true latency, completion interval, and the interval over the number of independent chains.
[[nodiscard]] std::string instr_text(const Run& run, const TextStyle& style);
/// Constant, texture, read-only and shared memory, and the matrix of a cluster.
[[nodiscard]] std::string memories_text(const Run& run, const TextStyle& style);
/// Line requests a cycle, of one SM and of all.
[[nodiscard]] std::string crossbar_text(const Run& run, const TextStyle& style);
/// Bandwidth by level, with what it is of what the device could do.
[[nodiscard]] std::string bandwidth_text(const Run& run, const TextStyle& style);
/// Loads that overlap, and latency against bandwidth.
[[nodiscard]] std::string load_text(const Run& run, const TextStyle& style);
/// Lines and sectors of a warp's loads by access pattern, and their latency.
[[nodiscard]] std::string coalesce_text(const Run& run, const TextStyle& style);
/// Rows, banks, costs, refresh and latency of DRAM.
[[nodiscard]] std::string dram_text(const Run& run, const TextStyle& style);
/// id,unit,outcome,value,low,high,truth,agrees,reason
[[nodiscard]] std::string findings_csv(const Run& run);
[[nodiscard]] std::string table_csv(const Table& table);

/// One figure of a run.
struct Figure {
  std::string name;  ///< file stem: `latency.ca`
  std::string title;
  std::string svg;  ///< self-contained, readable on light and dark ground
};
[[nodiscard]] std::vector<Figure> figures(const Run& run);

/// Self-contained page: no request to anywhere, opens from file://.
[[nodiscard]] std::string html_report(const Run& run);

struct OutputFile {
  std::string name;  ///< relative to the output folder
  std::string content;
};
/// One kind of output; the list is the table of all.
struct ReportKind {
  std::string_view name;
  std::string_view summary;
  std::vector<OutputFile> (*make)(const Run& run);
};
[[nodiscard]] std::span<const ReportKind> report_list();

/// Writes every output of report_list() under `folder`, each atomically. Errors: output.
[[nodiscard]] Result<void> write_reports(const Run& run, const std::filesystem::path& folder);

}  // namespace gpusonde
