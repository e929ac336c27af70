// A real GPU as a target.
#pragma once

#include <chrono>
#include <memory>

#include "target/cuda/alias_space.hpp"
#include "target/cuda/grown_memory.hpp"
#include "target/cuda/kernel_launcher.hpp"
#include "target/cuda/nvml_table.hpp"
#include "target/target.hpp"

namespace gpusonde::cuda {

class CudaGpu final : public Target {
 public:
  /// Both tables outlive the target; `nvml` may be null. Errors: unsupported (older than Volta),
  /// measurement (no context).
  [[nodiscard]] static Result<std::unique_ptr<Target>> open(const DriverTable& driver, const NvmlTable* nvml,
                                                            int ordinal, DeviceInfo info);

  [[nodiscard]] const DeviceInfo& device() const noexcept override { return m_info; }
  [[nodiscard]] const Capabilities& capabilities() const noexcept override { return m_capabilities; }
  [[nodiscard]] Environment environment() override;
  [[nodiscard]] ClockState clocks() override;
  [[nodiscard]] std::string kernels_sha256() const override { return kernel_modules_sha256(); }
  [[nodiscard]] AliasSpace alias_space() override;
  void release_aliases() override;
  [[nodiscard]] Result<std::vector<Samples>> run(std::span<const Experiment> experiments,
                                                 const RunControl& control) override;

 private:
  CudaGpu(const DriverTable& driver, const NvmlTable* nvml, Device device, DeviceInfo info, Context context,
          std::size_t free_bytes);

  void instruction_capabilities();
  /// `buffer_end`: how far into the buffer the experiments reach.
  [[nodiscard]] Result<void> check_all(std::span<const Experiment> experiments, std::uint64_t& buffer_end);
  [[nodiscard]] Result<void> warm_clocks();
  [[nodiscard]] Result<Samples> execute(const TimerExperiment& experiment);
  [[nodiscard]] Result<Samples> execute(const LoopOverheadExperiment& experiment);
  [[nodiscard]] Result<Samples> execute(const ClockExperiment& experiment);
  /// Runs a one-thread kernel of the base module and reads `count` results.
  [[nodiscard]] Result<std::vector<std::uint64_t>> measure(const char* kernel, std::uint64_t amount, std::size_t count);

  const DriverTable& m_driver;
  const NvmlTable* m_nvml;
  NvmlDevice m_nvml_device = nullptr;
  DeviceInfo m_info;
  Capabilities m_capabilities;
  Context m_context;  ///< before what lives in it, so that it is released last
  KernelLauncher m_launcher;
  GrownMemory m_buffer;
  GrownMemory m_scratch;
  GrownMemory m_places;  ///< of a list, for linking it
  AliasMemory m_aliases;
  std::chrono::steady_clock::time_point m_busy_until{};
};

}  // namespace gpusonde::cuda
