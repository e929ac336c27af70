#include "measure_command.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <filesystem>

#include "core/units.hpp"
#include "device_choice.hpp"
#include "probe/latency_plan.hpp"
#include "probe/options_text.hpp"
#include "probe/size_presets.hpp"
#include "probe/sweep_plan.hpp"
#include "progress_line.hpp"
#include "report/report.hpp"
#include "survey/run_file.hpp"
#include "survey/survey.hpp"

namespace gpusonde::cli {
namespace {

namespace fs = std::filesystem;

SurveyRequest survey_request(CommandContext& context, const MeasureRequest& request, const OpenDevice& device,
                             const fs::path& folder, ProgressLine& progress) {
  SurveyRequest survey;
  survey.probe = request.probe;
  survey.probe.seed = context.global.seed;
  survey.probes = request.probes;
  survey.options.seed = context.global.seed;
  survey.options.command_line = context.command_line;
  survey.options.values = to_values(request.probe);
  survey.options.values.emplace_back("device", device.label);
  if (context.global.sim_sm_clock_mhz != 0)
    survey.options.values.emplace_back("sm-clock", fmt::format("{}", context.global.sim_sm_clock_mhz));
  if (context.global.sim_physical_addresses) survey.options.values.emplace_back("physical-addresses", "true");
  survey.resume = request.resume;
  if (device.model) survey.truth = truth_of(*device.model, device.sim_sm_mhz);
  survey.cancel = &context.cancel;
  survey.progress = [&progress](const Progress& now) { progress.show(now); };
  if (!folder.empty()) survey.save = [folder](const Run& run) { return save_run(run, folder / "run.json"); };
  return survey;
}

// What no measurement of this device could satisfy is refused before the first one.
Result<void> check_request(const MeasureRequest& request, const Target& target) {
  const auto& latency = request.probe.latency;
  const auto& capabilities = target.capabilities();
  const auto wanted = [&](std::string_view probe) {
    return request.probes.empty() ||
           std::find(request.probes.begin(), request.probes.end(), probe) != request.probes.end();
  };
  if (wanted("sweep") && request.probe.sweep.strides_bytes != SweepOptions{}.strides_bytes)
    if (auto possible = check_sweep(request.probe.sweep, capabilities.max_ring_bytes); !possible) return possible;
  if (!wanted("latency")) return {};
  const auto sizes = sweep_sizes(latency, capabilities.max_ring_bytes, target.device().nominal.l2_bytes);
  if (!sizes) return tl::unexpected(sizes.error());
  for (const auto path : latency.policies)
    for (const auto chain : latency.chains)
      if (auto possible = check(sweep_point(sizes->back(), path, chain, request.probe), capabilities); !possible)
        return possible;
  return {};
}

std::string shown(const CommandContext& context, const MeasureRequest& request, const Run& run) {
  if (context.global.json) return to_json(run);
  if (context.global.csv) {
    const auto* table = request.csv_table.empty() ? nullptr : run.measurements.find(request.csv_table);
    return table != nullptr ? table_csv(*table) : findings_csv(run);
  }
  return request.text(run, {use_color(context.global, STDOUT_FILENO), true, 100});
}

// One JSON document also for several devices: a list of runs.
std::string join(const CommandContext& context, const std::vector<std::string>& documents) {
  if (!context.global.json || documents.size() == 1) {
    std::string all;
    for (const auto& document : documents) all += document;
    return all;
  }
  std::string all = "[";
  for (const auto& document : documents) all += (all.size() > 1 ? ",\n" : "\n") + document;
  return all + "]\n";
}

}  // namespace

int measure(CommandContext& context, const MeasureRequest& request) {
  bool by_default = false;
  const auto labels = device_labels(context.global, by_default);
  if (!labels) return report_error(labels.error());
  if (by_default && !context.global.quiet && !context.global.json)
    fmt::print(stderr, "no NVIDIA driver here: measuring the simulated RTX 4090 (choose with -d)\n");
  std::vector<std::string> documents;
  int code = 0;
  for (const auto& label : *labels) {
    fs::path folder = context.global.output_folder;
    if (!folder.empty() && labels->size() > 1) folder /= is_simulated(label) ? label.substr(4) : label;
    auto device = open_device(label, context.global.seed, sim_choices(context.global));
    if (!device) return report_error(device.error());
    if (auto possible = check_request(request, *device->target); !possible) return report_error(possible.error());
    if (request.opened)
      if (auto ready = request.opened(*device->target); !ready) return report_error(ready.error());
    if (!folder.empty())
      if (auto prepared = prepare_output_folder(folder); !prepared) return report_error(prepared.error());
    ProgressLine progress(context.global);
    auto result = run_survey(*device->target, survey_request(context, request, *device, folder, progress));
    progress.clear();
    if (!folder.empty() && (!result.error || result.error->kind != ErrorKind::output))
      if (auto written = write_reports(result.run, folder); !written && !result.error) result.error = written.error();
    if (request.also)
      if (auto done = request.also(result.run); !done && !result.error) result.error = done.error();
    if (!result.run.probes_done.empty() || !result.run.findings.empty())
      documents.push_back(shown(context, request, result.run));
    if (result.error) {
      std::string message = result.error->message;
      if (result.error->kind == ErrorKind::interrupted)
        message = folder.empty() ? "interrupted; with -o DIR what was measured is kept, and --resume DIR goes on"
                                 : fmt::format("interrupted; 'gpusonde survey --resume {}' goes on", folder.string());
      code = report_error({result.error->kind, message});
      if (result.error->kind == ErrorKind::usage) documents.clear();
      if (result.error->kind == ErrorKind::interrupted || result.error->kind == ErrorKind::usage) break;
    }
  }
  if (documents.empty()) return code;
  const int printed = write_stdout(join(context, documents));
  return code != 0 ? code : printed;
}

void add_probe_command(CLI::App& app, CommandContext& context, const ProbeCommand& what) {
  app.add_subcommand(what.name, what.description)->callback([&context, what] {
    context.action = [&context, what] {
      MeasureRequest request;
      request.probe.quick = context.global.quick;
      request.probes = what.probes;
      request.csv_table = what.csv_table;
      request.text = what.text;
      return measure(context, request);
    };
  });
}

void add_latency_options(CLI::App& command, LatencyTexts& texts) {
  command.add_option("--preset", texts.preset, "Sizes: dense (206, as in the RTX 5080 document), log, quick");
  command.add_option("--min", texts.min, "Smallest working set, e.g. 4KiB");
  command.add_option("--max", texts.max, "Largest working set, e.g. 2GiB");
  command.add_option("--points-per-octave", texts.points_per_octave, "Sizes a doubling, for log")
      ->capture_default_str();
  command.add_option("--policy", texts.policy, "Load paths: ca, cg, cv, nc; a comma list")->capture_default_str();
  command.add_option("--chain", texts.chain, "Hops: pointer (64-bit), index (32-bit); a comma list")
      ->capture_default_str();
  command.add_flag("--subtract-overhead", texts.subtract_overhead,
                   "Take an empty loop's share of cycles off every hop");
  command.add_option("--warmup", texts.warmup, "serial, parallel or auto")->capture_default_str();
  command.add_option("--hops", texts.hops, "Timed loads a repetition")->capture_default_str();
}

Result<LatencyOptions> latency_options(const LatencyTexts& texts, bool quick) {
  LatencyOptions options;
  const auto preset = parse_preset(!texts.preset.empty() ? texts.preset : quick ? "quick" : "log");
  if (!preset) return tl::unexpected(preset.error());
  const auto policies = parse_policies(texts.policy);
  if (!policies) return tl::unexpected(policies.error());
  const auto chains = parse_chains(texts.chain);
  if (!chains) return tl::unexpected(chains.error());
  const auto warmup = parse_warmup(texts.warmup);
  if (!warmup) return tl::unexpected(warmup.error());
  const auto bound = [](const char* name, const std::string& text) -> Result<std::uint64_t> {
    if (text.empty()) return 0;
    auto bytes = parse_bytes(text);
    if (!bytes) return fail(ErrorKind::usage, fmt::format("{} {}", name, bytes.error().message));
    if (*bytes == 0)
      return fail(ErrorKind::usage, fmt::format("{} 0: a working set needs at least one line, 128 B", name));
    return bytes;
  };
  const auto low = bound("--min", texts.min);
  if (!low) return tl::unexpected(low.error());
  const auto high = bound("--max", texts.max);
  if (!high) return tl::unexpected(high.error());
  if (texts.hops < 8 || texts.hops > (1ULL << 30) || texts.hops % 8 != 0)
    return fail(ErrorKind::usage, fmt::format("--hops {}: give a multiple of 8, 8 to {}", texts.hops, 1ULL << 30));
  options.preset = *preset;
  options.policies = *policies;
  options.chains = *chains;
  options.warmup = *warmup;
  options.min_bytes = *low;
  options.max_bytes = *high;
  options.points_per_octave = texts.points_per_octave;
  options.subtract_overhead = texts.subtract_overhead;
  options.hops = texts.hops;
  return options;
}

}  // namespace gpusonde::cli
