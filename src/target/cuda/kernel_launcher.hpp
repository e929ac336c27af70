// Finds kernels by name, compiles their module when first needed, launches them and words what fails.
#pragma once

#include <array>
#include <functional>
#include <map>
#include <optional>
#include <string>

#include "target/cuda/handles.hpp"
#include "target/cuda/kernel_modules.hpp"

namespace gpusonde::cuda {

struct LaunchShape {
  unsigned blocks = 1;
  unsigned threads = 32;
  unsigned dynamic_shared_bytes = 0;
};

class KernelLauncher {
 public:
  explicit KernelLauncher(const DriverTable& driver) : m_driver(driver) {}

  [[nodiscard]] Result<FunctionHandle> find(ModuleId module, const std::string& name);
  /// The shared part asked for, in percent; -1: the driver's choice.
  [[nodiscard]] Result<void> prefer_carveout(ModuleId module, const std::string& name, int percent);
  /// Largest number of blocks of this shape that fit an SM.
  [[nodiscard]] Result<unsigned> resident_blocks(ModuleId module, const std::string& name, const LaunchShape& shape);
  /// `parameters` is passed by value; it need not outlive the call.
  template <class Parameters>
  [[nodiscard]] Result<void> launch(ModuleId module, const std::string& name, const LaunchShape& shape,
                                    Parameters parameters) {
    return launch_raw(module, name, shape, &parameters);
  }
  /// Compiles PTX that was made at run time, unless a module of that name was; its kernels are then launched by
  /// `launch_made`. `make` gives the PTX.
  [[nodiscard]] Result<void> compile(const std::string& name, const std::function<std::string()>& make);
  template <class Parameters>
  [[nodiscard]] Result<void> launch_made(const std::string& module, const std::string& name, const LaunchShape& shape,
                                         Parameters parameters) {
    return launch_function(find_made(module, name), name, shape, &parameters);
  }
  /// As one cluster of all blocks. Precondition: the driver has launch_kernel_ex.
  template <class Parameters>
  [[nodiscard]] Result<void> launch_cluster(ModuleId module, const std::string& name, const LaunchShape& shape,
                                            Parameters parameters) {
    return launch_cluster_raw(module, name, shape, &parameters);
  }
  /// A variable of a module. Precondition: the driver has module_get_global.
  [[nodiscard]] Result<DevicePointer> variable(ModuleId module, const char* name);
  /// Waits for all launches; `name` is blamed for what failed.
  [[nodiscard]] Result<void> wait(const std::string& name);

 private:
  [[nodiscard]] Result<void> launch_raw(ModuleId module, const std::string& name, const LaunchShape& shape,
                                        void* parameters);
  [[nodiscard]] Result<void> launch_cluster_raw(ModuleId module, const std::string& name, const LaunchShape& shape,
                                                void* parameters);
  [[nodiscard]] Result<void> launch_function(const Result<FunctionHandle>& function, const std::string& name,
                                             const LaunchShape& shape, void* parameters);
  [[nodiscard]] Result<void> allow_shared(FunctionHandle function, const std::string& name, const LaunchShape& shape);
  [[nodiscard]] Result<FunctionHandle> find_made(const std::string& module, const std::string& name);
  [[nodiscard]] Result<Module*> load(ModuleId id);

  const DriverTable& m_driver;
  std::array<std::optional<Module>, k_module_count> m_modules;
  std::map<std::string, FunctionHandle> m_functions;
  std::map<std::string, Module> m_made;  ///< by name
};

}  // namespace gpusonde::cuda
