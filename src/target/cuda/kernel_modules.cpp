#include "target/cuda/kernel_modules.hpp"

#include "target/cuda/instruction_ptx.hpp"
#include "target/cuda/sha256.hpp"

namespace gpusonde::embedded {
extern const std::string_view base_ptx;
extern const std::string_view chase_ptx;
extern const std::string_view chase_timed_ptx;
extern const std::string_view cluster_ptx;
extern const std::string_view line_map_ptx;
extern const std::string_view memories_ptx;
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
          KernelModule{"sequence_l2", embedded::sequence_l2_ptx, 80},
          KernelModule{"memories", embedded::memories_ptx},
          KernelModule{"cluster", embedded::cluster_ptx, 90}};
}

std::string kernel_modules_sha256() {
  std::string all;
  for (const auto& module : kernel_modules()) all += module.ptx;
  for (std::size_t i = 0; i < k_operation_count; ++i) all += instruction_ptx(static_cast<Operation>(i), 1, 1, 2);
  return sha256_hex(all);
}

}  // namespace gpusonde::cuda
