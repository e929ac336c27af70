// `gpusonde latency`: the working-set curve, its levels, their capacities, both chains.
#include <memory>

#include "measure_command.hpp"

namespace gpusonde::cli {

void add_latency(CLI::App& app, CommandContext& context) {
  auto* command = app.add_subcommand("latency", "True latency over the working set: levels, capacities, both chains");
  const auto texts = std::make_shared<LatencyTexts>();
  add_latency_options(*command, *texts);
  command->callback([&context, texts] {
    context.action = [&context, texts] {
      auto options = latency_options(*texts, context.global.quick);
      if (!options) return report_error(options.error());
      MeasureRequest request;
      request.probe.latency = std::move(*options);
      request.probe.quick = context.global.quick;
      request.probe.thorough = false;
      request.probes = {"clock", "latency", "capacity"};
      request.csv_table = "latency.curve";
      return measure(context, request);
    };
  });
}

}  // namespace gpusonde::cli
