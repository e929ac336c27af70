// `gpusonde plot FILE`: a TLB sweep as pictures, from a CSV or a run.json.
#include <fmt/format.h>

#include <memory>
#include <nlohmann/json.hpp>

#include "commands.hpp"
#include "report/figure_tlb.hpp"
#include "survey/run_file.hpp"
#include "survey/sweep_csv.hpp"

namespace gpusonde::cli {
namespace {

namespace fs = std::filesystem;

struct PlotOptions {
  std::string file;
  std::string axis = "mib";
  std::string output;  ///< NAME.svg; empty: named after the file, in the current folder
};

bool looks_like_json(std::string_view text, const std::string& file) {
  const auto first = text.find_first_not_of(" \t\r\n");
  return file.ends_with(".json") || (first != std::string_view::npos && text[first] == '{');
}

/// The run, or one made of nothing but the table of the CSV.
Result<Run> load_sweep(const std::string& file) {
  std::error_code ignored;
  if (fs::is_directory(file, ignored)) return load_run(file);
  const auto text = read_input_text(file);
  if (!text) return tl::unexpected(text.error());
  if (looks_like_json(*text, file)) return parse_run(*text, file);
  auto table = parse_sweep_csv(*text, file);
  if (!table) return tl::unexpected(table.error());
  Run run;
  run.measurements.table("tlb.sweep") = std::move(*table);
  return run;
}

std::string default_name(const std::string& file) {
  auto path = fs::path(file).lexically_normal();
  if (!path.has_filename()) path = path.parent_path();  // a folder's name, given with its slash
  const auto stem = path.stem().string();
  return (stem.empty() || stem.front() == '.' ? "sweep" : stem) + ".svg";
}

/// NAME of NAME.svg.
Result<std::string> stem_of(const std::string& output) {
  const fs::path path(output);
  if (path.extension() != ".svg")
    return fail(ErrorKind::usage,
                fmt::format("-o {} does not name a picture; give a name that ends in .svg, as in sweep.svg", output));
  return (path.parent_path() / path.stem()).string();
}

int plot(const CommandContext& context, const PlotOptions& options) {
  const auto& global = context.global;
  const auto wanted = !options.output.empty() ? options.output : global.output_folder;
  const auto stem = stem_of(wanted.empty() ? default_name(options.file) : wanted);
  if (!stem) return report_error(stem.error());
  const auto run = load_sweep(options.file);
  if (!run) return report_error(run.error());
  const auto axis = options.axis == "nodes" ? report::SweepAxis::nodes : report::SweepAxis::bytes;
  const auto drawn = report::sweep_figures(*run, axis);
  if (drawn.empty())
    return report_error(
        {ErrorKind::bad_input,
         fmt::format("{}: no TLB sweep is in this run; 'gpusonde tlb sweep' measures one", options.file)});
  const auto folder = fs::path(*stem).parent_path();
  if (auto ready = prepare_output_folder(folder.empty() ? "." : folder); !ready) return report_error(ready.error());
  constexpr std::string_view k_prefix = "tlb.sweep";  // of the figures' names; what remains is `.cg`
  auto files = nlohmann::ordered_json::array();
  std::string text;
  for (const auto& figure : drawn) {
    const auto name = *stem + figure.name.substr(k_prefix.size()) + ".svg";
    if (auto written = write_file(name, figure.svg); !written) return report_error(written.error());
    files.push_back(name);
    text += name + "\n";
  }
  return write_stdout(global.json ? nlohmann::ordered_json{{"files", files}}.dump(2) + "\n" : text);
}

}  // namespace

void add_plot(CLI::App& app, CommandContext& context) {
  auto* command = app.add_subcommand("plot", "Pictures of a TLB sweep, one a load policy");
  const auto options = std::make_shared<PlotOptions>();
  command->add_option("file", options->file, "CSV of a sweep, or a run.json with one")->required();
  command->add_option("-x", options->axis, "Horizontal axis: mib, the working set, or nodes")
      ->check(CLI::IsMember({"mib", "nodes"}).description(""))
      ->capture_default_str();
  // Here -o names a picture; given before the command's name it reaches the option of all commands.
  command->add_option("-o,--output", options->output, "NAME.svg: the pictures are NAME.ca.svg and NAME.cg.svg");
  command->callback([&context, options] { context.action = [&context, options] { return plot(context, *options); }; });
}

}  // namespace gpusonde::cli
