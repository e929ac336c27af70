// One function a subcommand; main.cpp lists them in the order of `--help`.
#pragma once

#include <CLI/CLI.hpp>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "core/cancel.hpp"
#include "gpusonde/error.hpp"

namespace gpusonde::cli {

enum class ColorChoice : std::uint8_t { automatic, always, never };

/// Options every subcommand takes.
struct GlobalOptions {
  std::vector<std::string> devices;  ///< as given with -d, commas split; empty: the default device
  std::string output_folder;         ///< -o; empty: nothing is written
  bool json = false;
  bool csv = false;
  bool quick = false;
  bool quiet = false;
  unsigned verbosity = 0;
  std::uint64_t seed = 1;
  double timeout_s = 0;  ///< 0: none
  ColorChoice color = ColorChoice::automatic;
  double sim_sm_clock_mhz = 0;  ///< --sm-clock; 0: the model's
  bool sim_physical_addresses = false;
};

/// What the parsed command line leads to. A subcommand's callback sets `action`; main runs it.
struct CommandContext {
  GlobalOptions global;
  std::function<int()> action;  ///< returns the exit code
  std::string command_line;
  CancelToken cancel;  ///< set by SIGINT, SIGTERM and --timeout
};

/// `gpusonde: error: ...` on stderr; returns the exit code that belongs to it.
int report_error(const Error& error);
/// `gpusonde: warning: ...` on stderr, unless quiet.
void report_warning(const GlobalOptions& global, const std::string& message);
/// Writes a result to stdout; a closed pipe ends quietly. Returns 0, or 2 when stdout cannot be written.
int write_stdout(const std::string& text);
/// Whether stdout (or stderr) gets colours: --color, NO_COLOR, TERM=dumb, a terminal or not.
[[nodiscard]] bool use_color(const GlobalOptions& global, int file_descriptor);

void add_latency(CLI::App& app, CommandContext& context);
void add_survey(CLI::App& app, CommandContext& context);
void add_tlb(CLI::App& app, CommandContext& context);
void add_cache(CLI::App& app, CommandContext& context);
void add_slices(CLI::App& app, CommandContext& context);
void add_map(CLI::App& app, CommandContext& context);
void add_instr(CLI::App& app, CommandContext& context);
void add_memories(CLI::App& app, CommandContext& context);
void add_crossbar(CLI::App& app, CommandContext& context);
void add_bandwidth(CLI::App& app, CommandContext& context);
void add_load(CLI::App& app, CommandContext& context);
void add_addressing(CLI::App& app, CommandContext& context);
void add_coalesce(CLI::App& app, CommandContext& context);
void add_dram(CLI::App& app, CommandContext& context);
void add_hash(CLI::App& app, CommandContext& context);
void add_analyze(CLI::App& app, CommandContext& context);
void add_plot(CLI::App& app, CommandContext& context);
void add_domains(CLI::App& app, CommandContext& context);
void add_devices(CLI::App& app, CommandContext& context);
void add_models(CLI::App& app, CommandContext& context);
void add_list(CLI::App& app, CommandContext& context);
void add_clocks(CLI::App& app, CommandContext& context);
void add_sass(CLI::App& app, CommandContext& context);
void add_completion(CLI::App& app, CommandContext& context);

}  // namespace gpusonde::cli
