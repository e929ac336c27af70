// `gpusonde cache l1|l2`: lines, sectors, ways, sets, hash, replacement.
#include "measure_command.hpp"

namespace gpusonde::cli {
namespace {

MeasureRequest geometry_request(const CommandContext& context) {
  MeasureRequest request;
  request.probe.quick = context.global.quick;
  request.text = cache_text;
  return request;
}

}  // namespace

void add_cache(CLI::App& app, CommandContext& context) {
  auto* command = app.add_subcommand("cache", "Geometry of a cache: lines, sectors, ways, sets, hash, replacement");
  command->require_subcommand(1);
  command->add_subcommand("l1", "Of an SM's L1")->callback([&context] {
    context.action = [&context] {
      auto request = geometry_request(context);
      request.probes = {"clock", "l1"};
      request.csv_table = "cache.l1.lines";
      return measure(context, request);
    };
  });
  command->add_subcommand("l2", "Of L2, slice by slice where slices are known")->callback([&context] {
    context.action = [&context] {
      auto request = geometry_request(context);
      request.probes = {"clock", "slices", "l2"};
      request.csv_table = "cache.l2.lines";
      return measure(context, request);
    };
  });
  for (auto* level : command->get_subcommands({})) level->fallthrough();
}

}  // namespace gpusonde::cli
