// `gpusonde dram`: rows, banks, columns, refresh, and latency by what translation finds.
#include "measure_command.hpp"

namespace gpusonde::cli {

void add_dram(CLI::App& app, CommandContext& context) {
  auto* command =
      app.add_subcommand("dram", "Rows, banks, columns and refresh of DRAM, and its latency by translation");
  command->callback([&context] {
    context.action = [&context] {
      MeasureRequest request;
      request.probe.quick = context.global.quick;
      request.probes = {"clock", "dram"};
      request.csv_table = "dram.latency";
      request.text = dram_text;
      return measure(context, request);
    };
  });
}

}  // namespace gpusonde::cli
