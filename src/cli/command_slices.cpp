// `gpusonde slices` and `gpusonde map`: which slice and side of L2 a line belongs to, and how far each SM is from it.
#include <fmt/format.h>

#include <memory>

#include "measure_command.hpp"

namespace gpusonde::cli {
namespace {

constexpr std::uint64_t k_least_lines = 256;
constexpr std::uint64_t k_most_lines = 1 << 16;
constexpr std::uint64_t k_map_lines = 6144;

void add_lines(CLI::App& command, std::uint64_t& lines) {
  command.add_option("--lines", lines, "Lines that are asked from every SM")
      ->check(CLI::Range(k_least_lines, k_most_lines).description(fmt::format("{} to {}", k_least_lines, k_most_lines)))
      ->capture_default_str();
}

}  // namespace

void add_slices(CLI::App& app, CommandContext& context) {
  auto* command = app.add_subcommand("slices", "Slices and sides of L2, and the function that chooses them");
  auto lines = std::make_shared<std::uint64_t>(ProbeOptions{}.map_lines);
  add_lines(*command, *lines);
  command->callback([&context, lines] {
    context.action = [&context, lines] {
      MeasureRequest request;
      request.probe.quick = context.global.quick;
      request.probe.map_lines = *lines;
      request.probes = {"clock", "slices"};
      request.csv_table = "derived.slices.lines";
      request.text = slices_text;
      return measure(context, request);
    };
  });
}

void add_map(CLI::App& app, CommandContext& context) {
  auto* command = app.add_subcommand("map", "Latency of lines from every SM, as a heat map");
  auto lines = std::make_shared<std::uint64_t>(k_map_lines);
  add_lines(*command, *lines);
  command->callback([&context, lines] {
    context.action = [&context, lines] {
      MeasureRequest request;
      request.probe.quick = context.global.quick;
      request.probe.map_lines = *lines;
      request.probe.map_only = true;
      request.probes = {"clock", "slices"};
      request.csv_table = "slices.load";
      request.text = map_text;
      return measure(context, request);
    };
  });
}

}  // namespace gpusonde::cli
