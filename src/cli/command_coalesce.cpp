// `gpusonde coalesce`: what the loads of a warp's lanes become. `counter-run` is what counters are read of.
#include <fmt/format.h>

#include <memory>

#include "counters.hpp"
#include "lane_pattern.hpp"
#include "library/open_device.hpp"
#include "measure_command.hpp"
#include "probe/run_one.hpp"

namespace gpusonde::cli {
namespace {

struct CoalesceTexts {
  std::string pattern;
  std::uint32_t width = 4;
  bool counters = false;
  std::uint32_t times = 1;
};

void add_pattern(CLI::App& command, CoalesceTexts& texts) {
  command.add_option("--pattern", texts.pattern, "Lanes: stride=N, random, or a .csv file of 32 byte offsets");
  command.add_option("--width", texts.width, "Bytes a lane loads")
      ->check(CLI::IsMember({4, 8, 16}).description("4, 8 or 16"))
      ->capture_default_str();
}

int run_coalesce(CommandContext& context, const CoalesceTexts& texts) {
  MeasureRequest request;
  request.probe.quick = context.global.quick;
  request.probes = {"clock", "coalesce"};
  request.csv_table = "derived.coalesce";
  request.text = coalesce_text;
  auto& coalesce = request.probe.coalesce;
  coalesce.width = texts.width;
  if (!texts.pattern.empty()) {
    auto lanes = lanes_of(texts.pattern, texts.width, context.global.seed);
    if (!lanes) return report_error(lanes.error());
    coalesce.pattern = texts.pattern;
    coalesce.lanes = std::move(*lanes);
  }
  coalesce.read_counters = counter_reader(context, texts.counters);
  return measure(context, request);
}

/// Loads of the pattern and nothing else, for a profiler to count. Says nothing.
int run_counted(CommandContext& context, const CoalesceTexts& texts) {
  const auto lanes = lanes_of(texts.pattern, texts.width, context.global.seed);
  if (!lanes) return report_error(lanes.error());
  const auto label = context.global.devices.empty() ? std::string("0") : context.global.devices.front();
  auto device = open_device(label, context.global.seed, {});
  if (!device) return report_error(device.error());
  SequenceExperiment e;
  e.places = *lanes;
  e.lane_bytes = texts.width;
  e.path = LoadPath::global_ca;
  e.steps = {{StepKind::gather, 0, static_cast<std::uint32_t>(lanes->size()), texts.times}};
  // Twice as many in the second launch: what the loads themselves count is the difference.
  for (int turn = 0; turn < 2; ++turn, e.steps.front().times *= 2) {
    const auto samples = run_one<SequenceSamples>(*device->target, &context.cancel, e);
    if (!samples) return report_error(samples.error());
  }
  return 0;
}

}  // namespace

void add_coalesce(CLI::App& app, CommandContext& context) {
  auto* command =
      app.add_subcommand("coalesce", "Lines and sectors that the loads of a warp become, and their latency");
  auto texts = std::make_shared<CoalesceTexts>();
  add_pattern(*command, *texts);
  command->add_flag("--counters", texts->counters, "Hold them against hardware counters, by ncu");
  command->callback(
      [&context, texts] { context.action = [&context, texts] { return run_coalesce(context, *texts); }; });
  auto* counted = app.add_subcommand("counter-run", "Loads for ncu to count")->group("");
  auto counted_texts = std::make_shared<CoalesceTexts>();
  add_pattern(*counted, *counted_texts);
  counted->add_option("--times", counted_texts->times, "Loads")->check(CLI::Range(1U, 1U << 16));
  counted->callback([&context, counted_texts] {
    context.action = [&context, counted_texts] { return run_counted(context, *counted_texts); };
  });
}

}  // namespace gpusonde::cli
