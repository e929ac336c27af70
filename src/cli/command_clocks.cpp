// `gpusonde clocks`: what the clocks are, and holding them still. The only command that changes a device.
#include <fmt/format.h>
#include <poll.h>
#include <unistd.h>

#include <chrono>
#include <memory>
#include <nlohmann/json.hpp>
#include <thread>

#include "commands.hpp"
#include "device_choice.hpp"
#include "library/open_device.hpp"
#include "target/cuda/cuda_target.hpp"

namespace gpusonde::cli {
namespace {

struct ClockOptions {
  std::uint32_t sm_mhz = 0;
  std::uint32_t memory_mhz = 0;
  bool dry_run = false;
  std::uint64_t count = 0;  ///< lines of watch; 0: until interrupted
  double interval_s = 1;
};

Result<ClockSnapshot> snapshot_of(const GlobalOptions& global, const std::string& label) {
  if (!is_simulated(label)) return clock_snapshot(label);
  const auto opened = open_device(label, global.seed, sim_choices(global));
  if (!opened) return tl::unexpected(opened.error());
  const auto clocks = opened->target->clocks();
  ClockSnapshot snapshot;
  snapshot.name = opened->target->device().name;
  snapshot.sm_mhz = snapshot.graphics_mhz = clocks.sm_mhz;
  snapshot.memory_mhz = clocks.memory_mhz;
  snapshot.throttle_reasons = clocks.throttle_reasons;
  return snapshot;
}

nlohmann::ordered_json as_json(const ClockSnapshot& s) {
  return {{"index", s.index},
          {"name", s.name},
          {"uuid", s.uuid},
          {"pci_bus_id", s.pci_bus_id},
          {"pstate", s.pstate},
          {"sm_mhz", s.sm_mhz},
          {"graphics_mhz", s.graphics_mhz},
          {"memory_mhz", s.memory_mhz},
          {"sm_max_mhz", s.sm_max_mhz},
          {"graphics_max_mhz", s.graphics_max_mhz},
          {"memory_max_mhz", s.memory_max_mhz},
          {"temperature_c", s.temperature_c},
          {"power_w", s.power_w},
          {"power_limit_w", s.power_limit_w},
          {"gpu_utilization_percent", s.gpu_utilization_percent},
          {"memory_utilization_percent", s.memory_utilization_percent},
          {"throttle_reasons", s.throttle_reasons}};
}

std::string as_text(const ClockSnapshot& s) {
  const auto at_most = [](std::uint32_t mhz) { return mhz == 0 ? std::string{} : fmt::format(" (at most {})", mhz); };
  std::string text = fmt::format("{}  {}  {}\n", s.name, s.pci_bus_id, s.uuid);
  text += fmt::format("  SM        {} MHz{}\n", s.sm_mhz, at_most(s.sm_max_mhz));
  text += fmt::format("  graphics  {} MHz{}\n", s.graphics_mhz, at_most(s.graphics_max_mhz));
  text += fmt::format("  memory    {} MHz{}\n", s.memory_mhz, at_most(s.memory_max_mhz));
  if (!s.pstate.empty()) text += fmt::format("  state     {}\n", s.pstate);
  if (s.power_w > 0)
    text += fmt::format("  power     {:.0f} W of {:.0f} W, {} C\n", s.power_w, s.power_limit_w, s.temperature_c);
  text += fmt::format("  held by   {}\n",
                      s.throttle_reasons.empty() ? "nothing" : fmt::format("{}", fmt::join(s.throttle_reasons, ", ")));
  return text;
}

int status(const CommandContext& context) {
  bool by_default = false;
  const auto labels = device_labels(context.global, by_default);
  if (!labels) return report_error(labels.error());
  auto document = nlohmann::ordered_json::array();
  std::string text;
  for (const auto& label : *labels) {
    const auto snapshot = snapshot_of(context.global, label);
    if (!snapshot) return report_error(snapshot.error());
    document.push_back(as_json(*snapshot));
    text += as_text(*snapshot);
  }
  return write_stdout(context.global.json ? document.dump(2) + "\n" : text);
}

// Devices whose clocks can be changed. Without -d that is device 0, never a simulated one.
Result<std::vector<std::string>> real_devices(const GlobalOptions& global) {
  if (global.devices.empty()) return std::vector<std::string>{"0"};
  bool by_default = false;
  auto labels = device_labels(global, by_default);
  if (!labels) return labels;
  for (const auto& label : *labels)
    if (is_simulated(label))
      return fail(ErrorKind::usage,
                  fmt::format("{} has no clocks to lock; give a measuring command --sm-clock MHZ instead", label));
  return labels;
}

int change(const CommandContext& context, const std::function<Result<ClockChange>(const std::string&)>& make) {
  const auto labels = real_devices(context.global);
  if (!labels) return report_error(labels.error());
  auto document = nlohmann::ordered_json::array();
  std::string text;
  for (const auto& label : *labels) {
    const auto made = make(label);
    if (!made) {
      if (!text.empty() && !context.global.json) write_stdout(text);  // what was done before stays said
      return report_error(made.error());
    }
    for (const auto& warning : made->warnings) report_warning(context.global, warning);
    for (const auto& step : made->steps) text += fmt::format("device {}: {}\n", label, step);
    document.push_back({{"device", label}, {"steps", made->steps}, {"warnings", made->warnings}});
  }
  return write_stdout(context.global.json ? document.dump(2) + "\n" : text);
}

int lock(const CommandContext& context, const ClockOptions& options) {
  return change(context, [&](const std::string& device) {
    return lock_clocks(device, options.sm_mhz, options.memory_mhz, options.dry_run);
  });
}

int unlock(const CommandContext& context, const ClockOptions& options) {
  return change(context, [&](const std::string& device) { return unlock_clocks(device, options.dry_run); });
}

std::string watch_line(const ClockSnapshot& s) {
  return fmt::format("{:>3} {:>6.0f} {:>5} {:>5} {:>5} {:>7} {:>7}  {}\n", s.index, s.power_w, s.temperature_c,
                     s.gpu_utilization_percent, s.memory_utilization_percent, s.memory_mhz, s.sm_mhz,
                     s.throttle_reasons.empty() ? "-" : fmt::format("{}", fmt::join(s.throttle_reasons, ",")));
}

// Sleeps in short pieces, so that Ctrl-C is felt at once.
void wait(const CommandContext& context, double seconds) {
  const auto end = std::chrono::steady_clock::now() + std::chrono::duration<double>(seconds);
  while (!context.cancel.requested() && std::chrono::steady_clock::now() < end)
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
}

// write_stdout ends quietly on a closed pipe, which here must end the watching too.
bool reader_is_gone() {
  pollfd out{STDOUT_FILENO, 0, 0};
  return ::poll(&out, 1, 0) > 0 && (out.revents & POLLERR) != 0;
}

// With --json the lines are held back and printed as one document at the end.
int watch(const CommandContext& context, const ClockOptions& options) {
  bool by_default = false;
  const auto labels = device_labels(context.global, by_default);
  if (!labels) return report_error(labels.error());
  auto document = nlohmann::ordered_json::array();
  for (std::uint64_t line = 0; options.count == 0 || line < options.count; ++line) {
    if (line != 0) wait(context, options.interval_s);
    if (context.cancel.requested() || reader_is_gone()) break;
    if (line == 0 && !context.global.json)
      write_stdout(
          "gpu  power  temp   gpu   mem  memory      sm  held by\n       W      C     %     %     MHz     MHz\n");
    for (const auto& label : *labels) {
      const auto snapshot = snapshot_of(context.global, label);
      if (!snapshot) return report_error(snapshot.error());
      if (context.global.json) {
        document.push_back(as_json(*snapshot));
      } else if (const int written = write_stdout(watch_line(*snapshot)); written != 0) {
        return written;
      }
    }
  }
  if (context.global.json) write_stdout(document.dump(2) + "\n");
  return context.cancel.requested() ? exit_code(ErrorKind::interrupted) : 0;
}

}  // namespace

void add_clocks(CLI::App& app, CommandContext& context) {
  auto* command = app.add_subcommand("clocks", "Show, lock and unlock a device's clocks");
  const auto options = std::make_shared<ClockOptions>();
  command->require_subcommand(1);
  command->footer(
      "Locked clocks do not outlast the driver's state: with persistence mode off they are lost when no program uses\n"
      "the GPU any more; 'nvidia-smi -pm 1' turns it on.");
  const auto act = [&context, options](auto function) {
    return [&context, options, function] {
      context.action = [&context, options, function] { return function(context, *options); };
    };
  };
  command->add_subcommand("status", "Clocks now, at most, and what holds them down")->callback([&context] {
    context.action = [&context] { return status(context); };
  });
  auto* lock_command = command->add_subcommand("lock", "Lock the clocks; needs root");
  lock_command->add_option("--sm", options->sm_mhz, "SM clock, MHz")->required()->check(CLI::PositiveNumber);
  lock_command->add_option("--mem", options->memory_mhz, "Memory clock, MHz; many GPUs refuse it")
      ->check(CLI::PositiveNumber);
  lock_command->add_flag("--dry-run", options->dry_run, "Say what would be done; needs no root");
  lock_command->callback(act(lock));
  auto* unlock_command = command->add_subcommand("unlock", "Give the clocks back to the driver; needs root");
  unlock_command->add_flag("--dry-run", options->dry_run, "Say what would be done; needs no root");
  unlock_command->callback(act(unlock));
  auto* watch_command = command->add_subcommand("watch", "A line of clocks a second, until Ctrl-C");
  watch_command->add_option("--count", options->count, "Stop after this many lines");
  watch_command->add_option("--interval", options->interval_s, "Seconds between lines")
      ->check(CLI::PositiveNumber)
      ->capture_default_str();
  watch_command->callback(act(watch));
  for (auto* inner : command->get_subcommands({})) inner->fallthrough();
}

}  // namespace gpusonde::cli
