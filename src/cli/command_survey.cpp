// `gpusonde survey`: every probe, one table, all reports.
#include <fmt/format.h>

#include <charconv>
#include <filesystem>
#include <memory>

#include "measure_command.hpp"
#include "probe/options_text.hpp"
#include "survey/run_file.hpp"

namespace gpusonde::cli {
namespace {

constexpr double k_most_mhz = 1e6;

Result<double> sm_clock_of(const std::string& text, const std::string& file) {
  double mhz = 0;
  const auto [end, code] = std::from_chars(text.data(), text.data() + text.size(), mhz);
  if (code != std::errc() || end != text.data() + text.size() || !(mhz > 0 && mhz <= k_most_mhz))
    return fail(ErrorKind::bad_input,
                fmt::format("{}: option sm-clock '{}' is no clock; give MHz, such as 2600", file, text));
  return mhz;
}

// An interrupted run says itself which device it measured and how.
Result<MeasureRequest> resumed(CommandContext& context, const std::string& folder) {
  const auto file = std::filesystem::path(folder) / "run.json";
  auto run = load_run(file);
  if (!run) return tl::unexpected(run.error());
  auto options = probe_options_from(run->options.values);
  if (!options) return tl::unexpected(options.error());
  auto& global = context.global;
  global.seed = run->options.seed;
  if (global.output_folder.empty()) global.output_folder = folder;
  for (const auto& [name, value] : run->options.values) {
    if (name == "device" && global.devices.empty()) global.devices = {value};
    if (name == "physical-addresses" && value == "true") global.sim_physical_addresses = true;
    if (name != "sm-clock" || global.sim_sm_clock_mhz != 0) continue;
    const auto mhz = sm_clock_of(value, file.string());
    if (!mhz) return tl::unexpected(mhz.error());
    global.sim_sm_clock_mhz = *mhz;
  }
  if (run->device.kind == DeviceKind::cuda && !run->device.uuid.empty()) global.devices = {run->device.uuid};
  MeasureRequest request;
  request.probe = std::move(*options);
  request.resume = std::move(*run);
  return request;
}

}  // namespace

void add_survey(CLI::App& app, CommandContext& context) {
  auto* command = app.add_subcommand("survey", "All probes: the whole hierarchy on one screen, reports under -o DIR");
  const auto texts = std::make_shared<LatencyTexts>();
  const auto resume = std::make_shared<std::string>();
  add_latency_options(*command, *texts);
  command->add_option("--resume", *resume, "Go on with the interrupted survey in this folder");
  command->callback([&context, texts, resume] {
    context.action = [&context, texts, resume] {
      if (!resume->empty()) {
        auto request = resumed(context, *resume);
        if (!request) return report_error(request.error());
        return measure(context, *request);
      }
      auto options = latency_options(*texts, context.global.quick);
      if (!options) return report_error(options.error());
      MeasureRequest request;
      request.probe.latency = std::move(*options);
      request.probe.quick = context.global.quick;
      request.probe.thorough = !context.global.quick;
      return measure(context, request);
    };
  });
}

}  // namespace gpusonde::cli
