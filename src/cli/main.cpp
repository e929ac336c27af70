// Parse, check, run: everything else is a subcommand's.
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <csignal>
#include <thread>

#include "commands.hpp"

namespace gpusonde::cli {
namespace {

CancelToken* g_cancel = nullptr;

// The first signal asks for a clean end, a second one ends at once.
void on_signal(int) {
  if (g_cancel->requested()) _exit(130);
  g_cancel->request();
}

void install_signals(CancelToken& cancel) {
  g_cancel = &cancel;
  struct sigaction action {};
  action.sa_handler = on_signal;
  sigaction(SIGINT, &action, nullptr);
  sigaction(SIGTERM, &action, nullptr);
}

void add_global_options(CLI::App& app, CommandContext& context) {
  auto& global = context.global;
  app.add_option("-d,--device", global.devices, "Index, UUID, PCI id, all, sim:NAME or sim:FILE.toml; a comma list")
      ->delimiter(',');
  app.add_option("-o,--output", global.output_folder, "Write run.json, report.html, figures and data here");
  app.add_flag("--json", global.json, "One JSON document on stdout, nothing else");
  app.add_flag("--csv", global.csv, "CSV on stdout, nothing else");
  app.add_flag("--quick", global.quick, "Fewer sizes, no fine edges");
  app.add_option("--seed", global.seed, "Order of the chase, and the simulated placement")->capture_default_str();
  app.add_option("--timeout", global.timeout_s, "Stop after this many seconds, keeping the results")
      ->check(CLI::PositiveNumber);
  app.add_option("--sm-clock", global.sim_sm_clock_mhz, "SM clock of a simulated device, MHz")
      ->check(CLI::PositiveNumber);
  app.add_flag("--physical-addresses", global.sim_physical_addresses,
               "A simulated device tells physical addresses, as root tools do on real ones");
  app.add_flag("-q,--quiet", global.quiet, "No progress, no warnings");
  app.add_flag("-v,--verbose", global.verbosity, "More on stderr");
  app.add_option_function<std::string>(
         "--color",
         [&global](const std::string& choice) {
           global.color = choice == "always"  ? ColorChoice::always
                          : choice == "never" ? ColorChoice::never
                                              : ColorChoice::automatic;
         },
         "auto, always or never")
      ->check(CLI::IsMember({"auto", "always", "never"}).description(""));
  app.set_version_flag("-V,--version", fmt::format("gpusonde {} ({})", GPUSONDE_VERSION, GPUSONDE_COMMIT));
}

void add_commands(CLI::App& app, CommandContext& context) {
  add_survey(app, context);
  add_latency(app, context);
  add_tlb(app, context);
  add_addressing(app, context);
  add_cache(app, context);
  add_slices(app, context);
  add_map(app, context);
  add_instr(app, context);
  add_memories(app, context);
  add_crossbar(app, context);
  add_bandwidth(app, context);
  add_load(app, context);
  add_coalesce(app, context);
  add_dram(app, context);
  add_hash(app, context);
  add_analyze(app, context);
  add_plot(app, context);
  add_domains(app, context);
  add_devices(app, context);
  add_models(app, context);
  add_list(app, context);
  add_clocks(app, context);
  add_sass(app, context);
  add_completion(app, context);
  app.require_subcommand(1);
  app.fallthrough();
  for (auto* command : app.get_subcommands({})) command->fallthrough();
}

std::string one_line(std::string text) {
  std::replace(text.begin(), text.end(), '\n', ' ');
  while (!text.empty() && (text.back() == ' ' || text.back() == '.')) text.pop_back();
  return text;
}

// CLI11 says only that a command is required, also when one was given that does not exist.
std::string parse_message(const CLI::App& app, const CLI::ParseError& error) {
  const auto rest = app.remaining();
  if (app.get_subcommands().empty() && !rest.empty() && !rest.front().starts_with("-"))
    return fmt::format("no command '{}'; 'gpusonde --help' lists them", rest.front());
  return one_line(error.what()) + "; see 'gpusonde --help'";
}

int run(int argc, char** argv) {
  std::signal(SIGPIPE, SIG_IGN);  // a closed pipe is an error of write()
  CommandContext context;
  CLI::App app{"Works out a GPU's memory hierarchy from timing alone.", "gpusonde"};
  for (int i = 0; i < argc; ++i)
    context.command_line += fmt::format("{}{}", i == 0 ? "" : " ", i == 0 ? "gpusonde" : argv[i]);
  add_global_options(app, context);
  add_commands(app, context);
  app.footer(
      "Exit codes: 0 ok, 1 a measurement failed, 2 usage or input, 3 no device, 130 interrupted.\n"
      "No driver and no -d: the simulated RTX 4090.");
  try {
    app.parse(argc, argv);
  } catch (const CLI::Success& success) {
    return app.exit(success);
  } catch (const CLI::ParseError& error) {
    return report_error({ErrorKind::usage, parse_message(app, error)});
  }
  if (context.global.json && context.global.csv)
    return report_error({ErrorKind::usage, "--json and --csv exclude each other; choose one"});
  install_signals(context.cancel);
  std::jthread timer;
  if (context.global.timeout_s > 0)
    timer = std::jthread([&context](const std::stop_token& stop) {
      const auto end = std::chrono::steady_clock::now() + std::chrono::duration<double>(context.global.timeout_s);
      while (!stop.stop_requested() && std::chrono::steady_clock::now() < end)
        std::this_thread::sleep_for(std::chrono::milliseconds(20));
      if (!stop.stop_requested()) context.cancel.request();
    });
  return context.action();
}

}  // namespace
}  // namespace gpusonde::cli

int main(int argc, char** argv) { return gpusonde::cli::run(argc, argv); }
