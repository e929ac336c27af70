// What `latency` and `survey` share: open the devices, run probes, print and write the result.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "commands.hpp"
#include "gpusonde/run.hpp"
#include "probe/probe.hpp"
#include "report/report.hpp"

namespace gpusonde::cli {

struct MeasureRequest {
  ProbeOptions probe;
  std::vector<std::string> probes;  ///< empty: all
  std::optional<Run> resume;
  std::string csv_table;  ///< what --csv prints: a measurement table, or empty for the findings
  bool reports = true;    ///< -o writes every report
  std::string (*text)(const Run& run, const TextStyle& style) = text_report;  ///< what a terminal gets
  std::function<Result<void>(Target&)> opened;   ///< called with each device before it is measured; may be empty
  std::function<Result<void>(const Run&)> also;  ///< called with each device's run, also one that was cut short
};

/// Exit code. Prints the run as asked (text, --json, --csv), writes under -o.
int measure(CommandContext& context, const MeasureRequest& request);

/// A subcommand without options of its own: runs probes and shows what they found.
struct ProbeCommand {
  const char* name;
  const char* description;
  std::vector<std::string> probes;
  const char* csv_table;
  std::string (*text)(const Run& run, const TextStyle& style);
};
void add_probe_command(CLI::App& app, CommandContext& context, const ProbeCommand& what);

/// Adds the options that shape the latency study. The texts are parsed by `latency_options`.
struct LatencyTexts {
  std::string preset, min, max, policy = "ca,cg", chain = "pointer", warmup = "auto";
  std::uint32_t points_per_octave = 16;
  std::uint64_t hops = 4096;
  bool subtract_overhead = false;
};
void add_latency_options(CLI::App& command, LatencyTexts& texts);
[[nodiscard]] Result<LatencyOptions> latency_options(const LatencyTexts& texts, bool quick);

}  // namespace gpusonde::cli
