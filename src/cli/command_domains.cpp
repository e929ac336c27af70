// `gpusonde domains RUN RUN...`: which part of each latency follows the SM clock. On a simulated device
// directly: `gpusonde domains -d sim:rtx5080 --sm-clocks 997,2932`.
#include <fmt/format.h>

#include <memory>
#include <set>

#include "device_choice.hpp"
#include "measure_command.hpp"
#include "probe/options_text.hpp"
#include "progress_line.hpp"
#include "survey/domains.hpp"
#include "survey/run_file.hpp"
#include "survey/survey.hpp"

namespace gpusonde::cli {
namespace {

struct DomainRequest {
  std::vector<std::string> files;
  std::vector<double> clocks_mhz;
  LatencyTexts texts;
};

std::string domains_text(const Run& run) {
  std::string text = fmt::format("{}: cycles(f) = SM cycles + fixed time x f\n\n{:<14} {:>22} {:>26}\n",
                                 run.device.name, "level", "SM domain, cycles", "fixed, ns");
  const auto shown = [](const Finding& finding) {
    if (!finding.value) return std::string(to_string(finding.outcome));
    return fmt::format("{:.1f} [{:.1f}, {:.1f}]", std::get<double>(*finding.value), finding.interval->low,
                       finding.interval->high);
  };
  for (std::size_t i = 0; i + 1 < run.findings.size(); i += 2) {
    auto level = run.findings[i].id.substr(7);
    level = level.substr(0, level.rfind('.'));
    text += fmt::format("{:<14} {:>22} {:>26}\n", level, shown(run.findings[i]), shown(run.findings[i + 1]));
    if (!run.findings[i].value) text += fmt::format("               {}\n", run.findings[i].reason);
  }
  return text;
}

Result<std::vector<Run>> simulated_runs(CommandContext& context, const DomainRequest& request) {
  bool by_default = false;
  const auto labels = device_labels(context.global, by_default);
  if (!labels) return tl::unexpected(labels.error());
  if (labels->size() != 1 || !is_simulated(labels->front()))
    return fail(ErrorKind::usage,
                "--sm-clocks works on one simulated device; for a real one give runs made at several clocks");
  auto options = latency_options(request.texts, context.global.quick);
  if (!options) return tl::unexpected(options.error());
  std::vector<Run> runs;
  ProgressLine progress(context.global);
  for (const double mhz : request.clocks_mhz) {
    auto device = open_device(labels->front(), context.global.seed, {.sm_mhz = mhz});
    if (!device) return tl::unexpected(device.error());
    SurveyRequest survey;
    survey.probe.latency = *options;
    survey.probe.thorough = false;
    survey.probe.seed = context.global.seed;
    survey.probes = {"clock", "latency"};
    survey.options = {context.global.seed, context.command_line, to_values(survey.probe)};
    survey.cancel = &context.cancel;
    survey.progress = [&progress](const Progress& now) { progress.show(now); };
    auto result = run_survey(*device->target, survey);
    if (result.error) return tl::unexpected(*result.error);
    runs.push_back(std::move(result.run));
  }
  return runs;
}

Result<std::vector<Run>> stored_runs(const std::vector<std::string>& files) {
  std::vector<Run> runs;
  for (const auto& file : files) {
    auto run = load_run(file);
    if (!run) return tl::unexpected(run.error());
    runs.push_back(analyze(*run));
  }
  return runs;
}

int run_domains(CommandContext& context, const DomainRequest& request) {
  const auto& global = context.global;
  if (request.files.empty() == request.clocks_mhz.empty())
    return report_error({ErrorKind::usage, "give runs made at several clocks, or --sm-clocks with a simulated device"});
  if (std::set<double>(request.clocks_mhz.begin(), request.clocks_mhz.end()).size() == 1)
    return report_error({ErrorKind::usage, "one SM clock does not tell the domains apart; give two or more"});
  if (!global.output_folder.empty())
    if (auto prepared = prepare_output_folder(global.output_folder); !prepared) return report_error(prepared.error());
  auto runs = request.files.empty() ? simulated_runs(context, request) : stored_runs(request.files);
  if (!runs) return report_error(runs.error());
  auto split = split_domains(*runs);
  if (!split) return report_error(split.error());
  split->options.command_line = context.command_line;
  split->options.seed = global.seed;
  if (!global.output_folder.empty()) {
    auto saved = save_run(*split, std::filesystem::path(global.output_folder) / "domains.json");
    if (!saved) return report_error(saved.error());
  }
  return write_stdout(global.json ? to_json(*split) : domains_text(*split));
}

}  // namespace

void add_domains(CLI::App& app, CommandContext& context) {
  auto* command =
      app.add_subcommand("domains", "Which part of each latency follows the SM clock, from runs at several clocks");
  const auto request = std::make_shared<DomainRequest>();
  command->add_option("runs", request->files, "run.json files made at different SM clocks");
  command->add_option("--sm-clocks", request->clocks_mhz, "SM clocks of a simulated device, MHz, a comma list")
      ->delimiter(',')
      ->check(CLI::PositiveNumber);
  add_latency_options(*command, request->texts);
  command->callback(
      [&context, request] { context.action = [&context, request] { return run_domains(context, *request); }; });
}

}  // namespace gpusonde::cli
