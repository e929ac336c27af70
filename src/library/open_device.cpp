#include "library/open_device.hpp"

#include "target/cuda/cuda_target.hpp"
#include "target/sim/sim_target.hpp"

namespace gpusonde {

Result<OpenDevice> open_device(const std::string& label, std::uint64_t seed, const SimChoices& choices) {
  OpenDevice device;
  device.label = label;
  if (!is_simulated(label)) {
    if (choices.physical_addresses)
      return fail(
          ErrorKind::usage,
          "--physical-addresses goes with a simulated device only; leave it out: a real one does not tell them");
    if (choices.sm_mhz != 0)
      return fail(ErrorKind::usage,
                  "--sm-clock sets the clock of a simulated device only; for a real one see 'gpusonde clocks'");
    auto target = open_cuda_target(label);
    if (!target) return tl::unexpected(target.error());
    device.target = std::move(*target);
    return device;
  }
  auto model = find_model(label.substr(4));
  if (!model) return tl::unexpected(model.error());
  auto target = make_sim_target(
      *model, {.seed = seed, .sm_mhz = choices.sm_mhz, .physical_addresses = choices.physical_addresses});
  if (!target) return tl::unexpected(target.error());
  device.sim_sm_mhz = choices.sm_mhz != 0 ? choices.sm_mhz : model->timing.sm_mhz;
  device.target = std::move(*target);
  device.model = std::move(*model);
  return device;
}

}  // namespace gpusonde
