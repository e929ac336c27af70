// `gpusonde instr` and `gpusonde memories`: operations, and the memories that have instructions of their own.
#include "measure_command.hpp"

namespace gpusonde::cli {

void add_instr(CLI::App& app, CommandContext& context) {
  auto* command = app.add_subcommand("instr", "True latency and completion interval of operations");
  command->callback([&context] {
    context.action = [&context] {
      MeasureRequest request;
      request.probe.quick = context.global.quick;
      request.probes = {"clock", "instr"};
      request.csv_table = "derived.instr.intervals";
      request.text = instr_text;
      return measure(context, request);
    };
  });
}

void add_memories(CLI::App& app, CommandContext& context) {
  auto* command =
      app.add_subcommand("memories", "Constant, texture, read-only and shared memory, and that of other SMs");
  command->callback([&context] {
    context.action = [&context] {
      MeasureRequest request;
      request.probe.quick = context.global.quick;
      request.probes = {"clock", "memories"};
      request.csv_table = "memories.chase";
      request.text = memories_text;
      return measure(context, request);
    };
  });
}

}  // namespace gpusonde::cli
