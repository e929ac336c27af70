// `gpusonde list`: probes and what each may find, and the kinds of output, from the tables in the code.
#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "commands.hpp"
#include "probe/probe.hpp"
#include "report/report.hpp"

namespace gpusonde::cli {
namespace {

int print_list(const CommandContext& context) {
  nlohmann::ordered_json document{{"probes", nlohmann::ordered_json::array()},
                                  {"reports", nlohmann::ordered_json::array()}};
  std::string text = "Probes, in the order of a survey, and what each finds\n";
  for (const auto* probe : probe_list()) {
    nlohmann::ordered_json entry{
        {"name", probe->name()}, {"summary", probe->summary()}, {"findings", nlohmann::ordered_json::array()}};
    text += fmt::format("\n{}: {}\n", probe->name(), probe->summary());
    for (const auto& finding : probe->findings()) {
      entry["findings"].push_back({{"id", finding.id}, {"unit", finding.unit}, {"meaning", finding.meaning}});
      text += fmt::format("  {:<26} {:<7} {}\n", finding.id, finding.unit, finding.meaning);
    }
    document["probes"].push_back(std::move(entry));
  }
  text += "\nEvery latency in cycles has a twin in ns.\n\nOutputs under -o DIR\n";
  for (const auto& report : report_list()) {
    document["reports"].push_back({{"name", report.name}, {"summary", report.summary}});
    text += fmt::format("  {:<10} {}\n", report.name, report.summary);
  }
  return write_stdout(context.global.json ? document.dump(2) + "\n" : text);
}

}  // namespace

void add_list(CLI::App& app, CommandContext& context) {
  app.add_subcommand("list", "Probes, findings and outputs there are")->callback([&context] {
    context.action = [&context] { return print_list(context); };
  });
}

}  // namespace gpusonde::cli
