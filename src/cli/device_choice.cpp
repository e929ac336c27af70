#include "device_choice.hpp"

#include <fmt/format.h>

#include "target/cuda/cuda_target.hpp"
#include "target/sim/sim_target.hpp"

namespace gpusonde::cli {
namespace {

constexpr std::string_view k_sim_prefix = "sim:";
constexpr const char* k_default_simulated = "sim:rtx4090";

}  // namespace

Result<OpenDevice> open_device(const std::string& label, const GlobalOptions& global) {
  OpenDevice device;
  device.label = label;
  if (!label.starts_with(k_sim_prefix)) {
    if (global.sim_sm_clock_mhz != 0)
      return fail(ErrorKind::usage,
                  "--sm-clock sets the clock of a simulated device only; for a real one see 'gpusonde clocks'");
    auto target = open_cuda_target(label);
    if (!target) return tl::unexpected(target.error());
    device.target = std::move(*target);
    return device;
  }
  auto model = find_model(label.substr(k_sim_prefix.size()));
  if (!model) return tl::unexpected(model.error());
  auto target = make_sim_target(*model, {global.seed, global.sim_sm_clock_mhz, 0});
  if (!target) return tl::unexpected(target.error());
  device.sim_mhz = global.sim_sm_clock_mhz != 0 ? global.sim_sm_clock_mhz : model->timing.sm_mhz;
  device.target = std::move(*target);
  device.model = std::move(*model);
  return device;
}

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
  if (global.sim_sm_clock_mhz == 0 && list_cuda_devices()) return std::vector<std::string>{"0"};
  by_default = true;
  return std::vector<std::string>{k_default_simulated};
}

}  // namespace gpusonde::cli
