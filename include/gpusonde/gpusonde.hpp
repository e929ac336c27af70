// The whole tool as a library: measure a device, analyse a run again, read, write and show it.
//
//   auto run = gpusonde::survey({.device = "sim:rtx4090"});
//   if (!run) std::puts(run.error().message.c_str());
//   else if (auto* l2 = run->finding("l2.hit_latency"); l2 && l2->value) ...
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "gpusonde/device.hpp"
#include "gpusonde/error.hpp"
#include "gpusonde/finding.hpp"
#include "gpusonde/run.hpp"

namespace gpusonde {

struct SurveyConfig {
  std::string device = "0";         ///< index, UUID, PCI id, `sim:NAME` or `sim:FILE.toml`
  bool quick = false;               ///< fewer sizes, no fine edges
  std::uint64_t seed = 1;           ///< order of the chase, and a simulated device's placement
  double sim_sm_mhz = 0;            ///< SM clock of a simulated device, MHz; 0: the model's
  std::vector<std::string> probes;  ///< names as in `gpusonde list`; empty: all
};

/// NVIDIA devices. Errors: no_device, one sentence (no driver, too old, none present).
[[nodiscard]] Result<std::vector<DeviceInfo>> list_cuda_devices();
/// Names for `sim:NAME`.
[[nodiscard]] std::vector<std::string> built_in_models();

/// Measures and infers. Blocks for seconds; nothing is printed or written. Never changes clocks, power or
/// persistence. Errors: no_device, usage (an unknown probe or model), bad_input (a model file),
/// measurement (a kernel failed).
[[nodiscard]] Result<Run> survey(const SurveyConfig& config);

/// Inference again from the stored measurements; pure.
[[nodiscard]] Run analyze(const Run& run);

/// Errors: bad_input, `file:line:col: what; what would be right`.
[[nodiscard]] Result<Run> load_run(const std::filesystem::path& path);
/// Atomically. Errors: output.
[[nodiscard]] Result<void> save_run(const Run& run, const std::filesystem::path& path);
/// The document of docs/schema/run-1.0.json, with a trailing newline.
[[nodiscard]] std::string to_json(const Run& run);
/// run.json, report.html, figures and data under a folder, which is created. Errors: output.
[[nodiscard]] Result<void> write_reports(const Run& run, const std::filesystem::path& folder);

}  // namespace gpusonde
