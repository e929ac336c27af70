#include "library/open_device.hpp"

#include "target/cuda/cuda_target.hpp"
#include "target/sim/sim_target.hpp"

namespace gpusonde {

Result<OpenDevice> open_device(const std::string& label, std::uint64_t seed, double sim_sm_mhz) {
  OpenDevice device;
  device.label = label;
  if (!is_simulated(label)) {
    if (sim_sm_mhz != 0)
      return fail(ErrorKind::usage,
                  "--sm-clock sets the clock of a simulated device only; for a real one see 'gpusonde clocks'");
    auto target = open_cuda_target(label);
    if (!target) return tl::unexpected(target.error());
    device.target = std::move(*target);
    return device;
  }
  auto model = find_model(label.substr(4));
  if (!model) return tl::unexpected(model.error());
  auto target = make_sim_target(*model, {seed, sim_sm_mhz, 0});
  if (!target) return tl::unexpected(target.error());
  device.sim_sm_mhz = sim_sm_mhz != 0 ? sim_sm_mhz : model->timing.sm_mhz;
  device.target = std::move(*target);
  device.model = std::move(*model);
  return device;
}

}  // namespace gpusonde
