#include "target/cuda/kernel_launcher.hpp"

#include <fmt/format.h>

namespace gpusonde::cuda {
namespace {

constexpr unsigned k_shared_without_opt_in_bytes = 48 * 1024;

}  // namespace

Result<Module*> KernelLauncher::load(ModuleId id) {
  const auto index = static_cast<std::size_t>(id);
  auto& module = m_modules[index];
  if (!module) {
    const auto source = kernel_modules()[index];
    auto loaded = Module::load(m_driver, source.name.data(), source.ptx.data());
    if (!loaded) return tl::unexpected(loaded.error());
    module.emplace(std::move(*loaded));
  }
  return &*module;
}

Result<FunctionHandle> KernelLauncher::find(ModuleId id, const std::string& name) {
  if (const auto known = m_functions.find(name); known != m_functions.end()) return known->second;
  const auto module = load(id);
  if (!module) return tl::unexpected(module.error());
  const auto function = (*module)->function(name.c_str());
  if (function) m_functions.emplace(name, *function);
  return function;
}

Result<void> KernelLauncher::compile(const std::string& name, const std::function<std::string()>& make) {
  if (m_made.contains(name)) return {};
  auto loaded = Module::load(m_driver, name.c_str(), make().c_str());
  if (!loaded) return tl::unexpected(loaded.error());
  m_made.emplace(name, std::move(*loaded));
  return {};
}

Result<FunctionHandle> KernelLauncher::find_made(const std::string& module, const std::string& name) {
  if (const auto known = m_functions.find(name); known != m_functions.end()) return known->second;
  const auto function = m_made.at(module).function(name.c_str());
  if (function) m_functions.emplace(name, *function);
  return function;
}

Result<DevicePointer> KernelLauncher::variable(ModuleId id, const char* name) {
  const auto module = load(id);
  if (!module) return tl::unexpected(module.error());
  return (*module)->variable(name);
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

Result<void> KernelLauncher::allow_shared(FunctionHandle function, const std::string& name, const LaunchShape& shape) {
  if (shape.dynamic_shared_bytes <= k_shared_without_opt_in_bytes) return {};
  const auto result = m_driver.func_set_attribute(function, FunctionAttribute::max_dynamic_shared_bytes,
                                                  static_cast<int>(shape.dynamic_shared_bytes));
  if (result == k_success) return {};
  return tl::unexpected(driver_error(
      m_driver, result, fmt::format("cannot give kernel {} {} B of shared memory", name, shape.dynamic_shared_bytes)));
}

Result<void> KernelLauncher::launch_raw(ModuleId id, const std::string& name, const LaunchShape& shape,
                                        void* parameters) {
  return launch_function(find(id, name), name, shape, parameters);
}

Result<void> KernelLauncher::launch_function(const Result<FunctionHandle>& function, const std::string& name,
                                             const LaunchShape& shape, void* parameters) {
  if (!function) return tl::unexpected(function.error());
  if (auto r = allow_shared(*function, name, shape); !r) return r;
  void* arguments[] = {parameters};
  const auto result = m_driver.launch_kernel(*function, shape.blocks, 1, 1, shape.threads, 1, 1,
                                             shape.dynamic_shared_bytes, nullptr, arguments, nullptr);
  if (result != k_success)
    return tl::unexpected(driver_error(m_driver, result, fmt::format("cannot launch kernel {}", name)));
  return {};
}

Result<void> KernelLauncher::launch_cluster_raw(ModuleId id, const std::string& name, const LaunchShape& shape,
                                                void* parameters) {
  const auto function = find(id, name);
  if (!function) return tl::unexpected(function.error());
  if (auto r = allow_shared(*function, name, shape); !r) return r;
  LaunchAttribute attribute;
  attribute.cluster[0] = shape.blocks;
  const LaunchConfig config{.grid = {shape.blocks, 1, 1},
                            .block = {shape.threads, 1, 1},
                            .dynamic_shared_bytes = shape.dynamic_shared_bytes,
                            .attributes = &attribute,
                            .attribute_count = 1};
  void* arguments[] = {parameters};
  const auto result = m_driver.launch_kernel_ex(&config, *function, arguments, nullptr);
  if (result != k_success)
    return tl::unexpected(
        driver_error(m_driver, result, fmt::format("cannot launch kernel {} as a cluster of {}", name, shape.blocks)));
  return {};
}

Result<void> KernelLauncher::wait(const std::string& name) {
  if (const auto result = m_driver.ctx_synchronize(); result != k_success)
    return tl::unexpected(driver_error(m_driver, result, fmt::format("kernel {} failed", name)));
  return {};
}

}  // namespace gpusonde::cuda
