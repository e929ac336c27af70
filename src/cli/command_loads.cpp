// `gpusonde crossbar`, `bandwidth` and `load`: what many loads at once bring, and how long each then takes.
#include "measure_command.hpp"

namespace gpusonde::cli {
namespace {

struct LoadsCommand {
  const char* name;
  const char* description;
  const char* csv_table;
  std::string (*text)(const Run& run, const TextStyle& style);
};

void add(CLI::App& app, CommandContext& context, const LoadsCommand& what) {
  auto* command = app.add_subcommand(what.name, what.description);
  command->callback([&context, what] {
    context.action = [&context, what] {
      MeasureRequest request;
      request.probe.quick = context.global.quick;
      request.probes = {"clock", what.name};
      request.csv_table = what.csv_table;
      request.text = what.text;
      return measure(context, request);
    };
  });
}

}  // namespace

void add_crossbar(CLI::App& app, CommandContext& context) {
  add(app, context,
      {"crossbar", "Line requests that an SM is served in a cycle", "crossbar.throughput", crossbar_text});
}

void add_bandwidth(CLI::App& app, CommandContext& context) {
  add(app, context,
      {"bandwidth", "Bytes a second read, written and copied at each level", "bandwidth.stream", bandwidth_text});
}

void add_load(CLI::App& app, CommandContext& context) {
  add(app, context, {"load", "Latency while loads overlap, and against bandwidth", "derived.load.curve", load_text});
}

}  // namespace gpusonde::cli
