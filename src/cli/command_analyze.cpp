// `gpusonde analyze run.json`: inference again, from what was stored.
#include <unistd.h>

#include <memory>

#include "commands.hpp"
#include "report/report.hpp"
#include "survey/run_file.hpp"
#include "survey/survey.hpp"

namespace gpusonde::cli {

void add_analyze(CLI::App& app, CommandContext& context) {
  auto* command = app.add_subcommand("analyze", "Inference again from a stored run.json");
  const auto file = std::make_shared<std::string>();
  command->add_option("run", *file, "run.json")->required();
  command->callback([&context, file] {
    context.action = [&context, file] {
      const auto& global = context.global;
      if (!global.output_folder.empty())
        if (auto prepared = prepare_output_folder(global.output_folder); !prepared)
          return report_error(prepared.error());
      const auto stored = load_run(*file);
      if (!stored) return report_error(stored.error());
      const auto run = analyze(*stored);
      if (!global.output_folder.empty()) {
        auto written = write_reports(run, global.output_folder);
        if (!written) return report_error(written.error());
      }
      if (global.json) return write_stdout(to_json(run));
      if (global.csv) return write_stdout(findings_csv(run));
      return write_stdout(text_report(run, {use_color(global, STDOUT_FILENO), true, 100}));
    };
  });
}

}  // namespace gpusonde::cli
