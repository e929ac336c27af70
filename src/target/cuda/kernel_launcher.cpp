#include "target/cuda/kernel_launcher.hpp"

#include <fmt/format.h>

namespace gpusonde::cuda {
namespace {

constexpr unsigned k_shared_without_opt_in_bytes = 48 * 1024;

}  // namespace

Result<FunctionHandle> KernelLauncher::find(ModuleId id, const std::string& name) {
  if (const auto known = m_functions.find(name); known != m_functions.end()) return known->second;
  const auto index = static_cast<std::size_t>(id);
  auto& module = m_modules[index];
  if (!module) {
    const auto source = kernel_modules()[index];
    auto loaded = Module::load(m_driver, source.name.data(), source.ptx.data());
    if (!loaded) return tl::unexpected(loaded.error());
    module.emplace(std::move(*loaded));
  }
  const auto function = module->function(name.c_str());
  if (function) m_functions.emplace(name, *function);
  return function;
}

Result<void> KernelLauncher::prefer_carveout(ModuleId id, const std::string& name, int percent) {
  const auto function = find(id, name);
  if (!function) return tl::unexpected(function.error());
  const auto result =
      m_driver.func_set_attribute(*function, FunctionAttribute::preferred_shared_carveout_percent, percent);
  if (result != k_success)
    return tl::unexpected(driver_error(m_driver, result, fmt::format("cannot set the carve-out of kernel {}", name)));
  return {};
}

Result<unsigned> KernelLauncher::resident_blocks(ModuleId id, const std::string& name, const LaunchShape& shape) {
  const auto function = find(id, name);
  if (!function) return tl::unexpected(function.error());
  int blocks = 0;
  const auto result = m_driver.occupancy_max_active_blocks(&blocks, *function, static_cast<int>(shape.threads),
                                                           shape.dynamic_shared_bytes);
  if (result != k_success || blocks < 0)
    return tl::unexpected(driver_error(m_driver, result, fmt::format("cannot work out the occupancy of {}", name)));
  return static_cast<unsigned>(blocks);
}

Result<void> KernelLauncher::launch_raw(ModuleId id, const std::string& name, const LaunchShape& shape,
                                        void* parameters) {
  const auto function = find(id, name);
  if (!function) return tl::unexpected(function.error());
  if (shape.dynamic_shared_bytes > k_shared_without_opt_in_bytes) {
    const auto result = m_driver.func_set_attribute(*function, FunctionAttribute::max_dynamic_shared_bytes,
                                                    static_cast<int>(shape.dynamic_shared_bytes));
    if (result != k_success)
      return tl::unexpected(
          driver_error(m_driver, result,
                       fmt::format("cannot give kernel {} {} B of shared memory", name, shape.dynamic_shared_bytes)));
  }
  void* arguments[] = {parameters};
  const auto result = m_driver.launch_kernel(*function, shape.blocks, 1, 1, shape.threads, 1, 1,
                                             shape.dynamic_shared_bytes, nullptr, arguments, nullptr);
  if (result != k_success)
    return tl::unexpected(driver_error(m_driver, result, fmt::format("cannot launch kernel {}", name)));
  return {};
}

Result<void> KernelLauncher::wait(const std::string& name) {
  if (const auto result = m_driver.ctx_synchronize(); result != k_success)
    return tl::unexpected(driver_error(m_driver, result, fmt::format("kernel {} failed", name)));
  return {};
}

}  // namespace gpusonde::cuda
