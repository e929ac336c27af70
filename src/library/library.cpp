// The public functions that no single room has.
#include <fmt/format.h>

#include <algorithm>

#include "gpusonde/gpusonde.hpp"
#include "library/open_device.hpp"
#include "probe/options_text.hpp"
#include "survey/survey.hpp"

namespace gpusonde {

Result<Run> survey(const SurveyConfig& config) {
  for (const auto& name : config.probes) {
    const auto probes = probe_list();
    if (std::none_of(probes.begin(), probes.end(), [&](const Probe* probe) { return probe->name() == name; }))
      return fail(ErrorKind::usage, fmt::format("there is no probe '{}'; 'gpusonde list' names them", name));
  }
  auto device = open_device(config.device, config.seed, {.sm_mhz = config.sim_sm_mhz});
  if (!device) return tl::unexpected(device.error());
  SurveyRequest request;
  request.probe.quick = config.quick;
  request.probe.thorough = !config.quick;
  request.probe.seed = config.seed;
  if (config.quick) request.probe.latency.preset = SizePreset::quick;
  request.probes = config.probes;
  request.options.seed = config.seed;
  request.options.values = to_values(request.probe);
  request.options.values.emplace_back("device", config.device);
  if (device->model) request.truth = truth_of(*device->model, device->sim_sm_mhz);
  auto result = run_survey(*device->target, request);
  if (result.error) return tl::unexpected(*result.error);
  return std::move(result.run);
}

}  // namespace gpusonde
