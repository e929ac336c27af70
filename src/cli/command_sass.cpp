// `gpusonde sass`: the kernels as PTX and as the machine code that really runs, and whether that is what
// the measurements assume.
#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <memory>
#include <nlohmann/json.hpp>

#include "commands.hpp"
#include "target/cuda/cuda_target.hpp"

namespace gpusonde::cli {
namespace {

struct SassOptions {
  std::string probe;
  bool info = false;
};

// A probe's name means its kernels; anything else is part of a kernel's name.
std::string kernel_filter(const std::string& probe) {
  if (probe == "latency" || probe == "capacity") return "chase_";
  if (probe == "clock") return "spin_clock";
  return probe;
}

Result<std::optional<std::string>> chosen_device(const GlobalOptions& global) {
  if (global.devices.size() > 1) return fail(ErrorKind::usage, "sass looks at one device; give one with -d");
  if (!global.devices.empty()) {
    if (global.devices.front().starts_with("sim:"))
      return fail(ErrorKind::usage, "a simulated device runs no machine code; choose an NVIDIA device or leave -d out");
    return std::optional(global.devices.front());
  }
  if (list_cuda_devices()) return std::optional<std::string>("0");
  return std::optional<std::string>{};
}

Result<void> write_file(const std::filesystem::path& path, const char* bytes, std::size_t size) {
  std::ofstream file(path, std::ios::binary);
  file.write(bytes, static_cast<std::streamsize>(size));
  file.close();
  if (!file)
    return fail(ErrorKind::output, fmt::format("{} cannot be written; choose another folder with -o", path.string()));
  return {};
}

Result<void> write_files(const SassReport& report, const std::filesystem::path& folder) {
  std::error_code error;
  std::filesystem::create_directories(folder, error);
  if (error)
    return fail(ErrorKind::output,
                fmt::format("folder {} cannot be made ({}); choose another with -o", folder.string(), error.message()));
  for (const auto& module : report.modules) {
    if (auto r = write_file(folder / (module.name + ".ptx"), module.ptx.data(), module.ptx.size()); !r) return r;
    if (module.cubin.empty()) continue;
    const auto* bytes = reinterpret_cast<const char*>(module.cubin.data());
    if (auto r = write_file(folder / (module.name + ".cubin"), bytes, module.cubin.size()); !r) return r;
  }
  for (const auto& kernel : report.kernels) {
    if (kernel.sass.empty()) continue;
    if (auto r = write_file(folder / (kernel.name + ".sass"), kernel.sass.data(), kernel.sass.size()); !r) return r;
  }
  return {};
}

std::string as_json(const SassReport& report) {
  nlohmann::ordered_json document{{"architecture", report.architecture},
                                  {"disassembler", report.disassembler},
                                  {"modules", nlohmann::ordered_json::array()},
                                  {"kernels", nlohmann::ordered_json::array()}};
  for (const auto& module : report.modules)
    document["modules"].push_back(
        {{"name", module.name}, {"ptx_bytes", module.ptx.size()}, {"cubin_bytes", module.cubin.size()}});
  for (const auto& kernel : report.kernels) {
    nlohmann::ordered_json entry{{"name", kernel.name}, {"checks", nlohmann::ordered_json::array()}};
    for (const auto& check : kernel.checks)
      entry["checks"].push_back({{"what", check.what}, {"passed", check.passed}, {"found", check.detail}});
    entry["ptx"] = kernel.ptx;
    entry["sass"] = kernel.sass;
    document["kernels"].push_back(std::move(entry));
  }
  return document.dump(2) + "\n";
}

std::string as_text(const SassReport& report, std::size_t failed) {
  std::string text = fmt::format(
      "device: {}\ndisassembler: {}\n", report.architecture.empty() ? "none (PTX only)" : report.architecture,
      report.disassembler.empty() ? "none (nvdisasm or cuobjdump is not on PATH)" : report.disassembler);
  for (const auto& module : report.modules)
    text += fmt::format("module {}: {} B of PTX, {} B of machine code\n", module.name, module.ptx.size(),
                        module.cubin.size());
  std::size_t checked = 0;
  for (const auto& kernel : report.kernels) {
    text += fmt::format("\n{}\n", kernel.name);
    if (kernel.checks.empty()) text += "  not checked\n";
    for (const auto& check : kernel.checks)
      text += fmt::format("  {:<6} {}: {}\n", check.passed ? "ok" : "FAILED", check.what, check.detail);
    if (!kernel.checks.empty()) ++checked;
  }
  return text + fmt::format("\n{} kernels, {} checked, {} checks failed\n", report.kernels.size(), checked, failed);
}

int print_sass(const CommandContext& context, const SassOptions& options) {
  if (options.info) {
    const auto info = architecture_info();
    return write_stdout(context.global.json ? nlohmann::ordered_json{{"info", info}}.dump(2) + "\n" : info);
  }
  const auto device = chosen_device(context.global);
  if (!device) return report_error(device.error());
  const auto report = inspect_kernels(*device, kernel_filter(options.probe));
  if (!report) return report_error(report.error());
  if (!*device) report_warning(context.global, "no NVIDIA device here: PTX only, nothing is checked");
  std::size_t failed = 0;
  for (const auto& kernel : report->kernels)
    failed += static_cast<std::size_t>(
        std::count_if(kernel.checks.begin(), kernel.checks.end(), [](const SassCheck& c) { return !c.passed; }));
  if (!context.global.output_folder.empty()) {
    if (auto r = write_files(*report, context.global.output_folder); !r) return report_error(r.error());
  }
  const int written = write_stdout(context.global.json ? as_json(*report) : as_text(*report, failed));
  return written != 0 ? written : failed == 0 ? 0 : 1;
}

}  // namespace

void add_sass(CLI::App& app, CommandContext& context) {
  auto* command = app.add_subcommand("sass", "PTX and machine code of the kernels, and what is checked on them");
  const auto options = std::make_shared<SassOptions>();
  command->add_option("--probe", options->probe, "Only a probe's kernels, or those with this in their name");
  command->add_flag("--info", options->info, "Architectures and the disassembler");
  command->callback(
      [&context, options] { context.action = [&context, options] { return print_sass(context, *options); }; });
}

}  // namespace gpusonde::cli
