#include "device_choice.hpp"

#include "target/cuda/cuda_target.hpp"

namespace gpusonde::cli {

Result<std::vector<std::string>> device_labels(const GlobalOptions& global, bool& by_default) {
  by_default = false;
  std::vector<std::string> labels;
  for (const auto& asked : global.devices) {
    if (asked != "all") {
      labels.push_back(asked);
      continue;
    }
    const auto devices = list_cuda_devices();
    if (!devices) return tl::unexpected(devices.error());
    for (std::size_t i = 0; i < devices->size(); ++i) labels.push_back(std::to_string(i));
  }
  if (!labels.empty()) return labels;
  if (global.sim_sm_clock_mhz == 0 && !global.sim_physical_addresses && list_cuda_devices())
    return std::vector<std::string>{"0"};
  by_default = true;
  return std::vector<std::string>{"sim:rtx4090"};
}

SimChoices sim_choices(const GlobalOptions& global) {
  return {.sm_mhz = global.sim_sm_clock_mhz, .physical_addresses = global.sim_physical_addresses};
}

}  // namespace gpusonde::cli
