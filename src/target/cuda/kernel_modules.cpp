#include "target/cuda/kernel_modules.hpp"

#include "target/cuda/sha256.hpp"

namespace gpusonde::embedded {
extern const std::string_view base_ptx;
extern const std::string_view chase_ptx;
extern const std::string_view chase_timed_ptx;
extern const std::string_view line_map_ptx;
extern const std::string_view loads_ptx;
extern const std::string_view sequence_ptx;
extern const std::string_view sequence_l2_ptx;
}  // namespace gpusonde::embedded

namespace gpusonde::cuda {

std::array<KernelModule, k_module_count> kernel_modules() {
  return {KernelModule{"base", embedded::base_ptx},
          KernelModule{"chase", embedded::chase_ptx},
          KernelModule{"chase_timed", embedded::chase_timed_ptx},
          KernelModule{"line_map", embedded::line_map_ptx},
          KernelModule{"loads", embedded::loads_ptx},
          KernelModule{"sequence", embedded::sequence_ptx},
          KernelModule{"sequence_l2", embedded::sequence_l2_ptx, 80}};
}

std::string kernel_modules_sha256() {
  std::string all;
  for (const auto& module : kernel_modules()) all += module.ptx;
  return sha256_hex(all);
}

}  // namespace gpusonde::cuda
