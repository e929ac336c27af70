// `gpusonde tlb`: the translation caches.
#include <memory>

#include "measure_command.hpp"

namespace gpusonde::cli {

void add_tlb(CLI::App& app, CommandContext& context) {
  auto* command = app.add_subcommand("tlb", "Translation caches: entries, span, ways, replacement, scope, cost");
  command->callback([&context] {
    context.action = [&context] {
      MeasureRequest request;
      request.probe.quick = context.global.quick;
      request.probes = {"clock", "tlb"};
      request.csv_table = "tlb.alias";
      return measure(context, request);
    };
  });
}

}  // namespace gpusonde::cli
