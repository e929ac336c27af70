// `gpusonde addressing`: are the caches virtual or physical, and how one can tell.
#include "measure_command.hpp"

namespace gpusonde::cli {

void add_addressing(CLI::App& app, CommandContext& context) {
  auto* command = app.add_subcommand("addressing", "Virtual or physical: index and tag of L1 and L2, and why");
  command->callback([&context] {
    context.action = [&context] {
      MeasureRequest request;
      request.probe.quick = context.global.quick;
      request.probes = {"clock", "sweep", "addressing"};
      request.csv_table = "addressing.alias";
      request.text = addressing_text;
      return measure(context, request);
    };
  });
}

}  // namespace gpusonde::cli
