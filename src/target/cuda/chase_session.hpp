// What all chases have in common: the block's shape, the split of the SM's storage, which SM, launch after
// launch, and the samples that come back.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "core/cancel.hpp"
#include "experiment/experiment.hpp"
#include "gpusonde/device.hpp"
#include "target/cuda/chase_plan.hpp"
#include "target/cuda/grown_memory.hpp"
#include "target/cuda/kernel_launcher.hpp"
#include "target/cuda/kernel_parameters.hpp"

namespace gpusonde::cuda {

/// What a chase runs with; all outlive the call.
struct ChaseResources {
  const DriverTable& driver;
  const DeviceInfo& device;
  KernelLauncher& launcher;
  GrownMemory& scratch;
  DevicePointer buffer;  ///< holds the ring, unless that lies in shared memory
  const CancelToken* cancel;

  [[nodiscard]] bool cancelled() const noexcept { return cancel != nullptr && cancel->requested(); }
};

/// What is asked of the chase kernel, whatever it walks over.
struct ChaseRequest {
  LoadPath path = LoadPath::global_ca;
  ChainKind chain = ChainKind::pointer;
  HopTiming timing = HopTiming::aggregate;
  std::uint64_t hops = 0;
  std::uint32_t repetitions = 0;
  StorageSplit split;
  std::uint64_t shared_ring_bytes = 0;  ///< of a ring in shared memory
};

/// What it walks over: offsets count from `base`. The order serves the parallel warm-up and rings in shared memory.
struct ChaseGround {
  RingOrder order;
  DevicePointer base = 0;
  std::uint64_t first_byte = 0;
};

class ChaseSession {
 public:
  ChaseSession(const ChaseRequest& request, const ChaseGround& ground, const ChaseResources& resources);

  /// Sets the split of the chase kernel and of `link_kernel`, which is to run before it, and clears the
  /// scratch memory. Errors: usage (the block's shape), measurement, unsupported.
  [[nodiscard]] Result<void> prepare(const char* link_kernel);

  void start_at(std::uint64_t offset) noexcept { m_start = offset; }
  /// Where the next launch runs; empty: anywhere. Errors: usage.
  [[nodiscard]] Result<void> choose_sm(std::optional<std::uint32_t> sm);
  /// Goes on where the last launch ended and, unless another SM was chosen since, on its SM.
  /// Errors: measurement, interrupted.
  [[nodiscard]] Result<void> launch(const ChaseLaunch& launch);

  /// Once, after the last launch. Errors: measurement.
  [[nodiscard]] Result<ChaseSamples> collect();

 private:
  [[nodiscard]] Result<void> check_shape();
  [[nodiscard]] Result<void> set_split(const char* link_kernel);
  [[nodiscard]] Result<void> clear(std::size_t bytes);
  [[nodiscard]] Result<void> launch_on_sm(const ChaseLaunch& launch);
  [[nodiscard]] Result<void> read(void* host, std::size_t offset, std::size_t bytes);

  const ChaseRequest m_request;
  const ChaseGround m_ground;
  const ChaseResources& m_r;
  ModuleId m_module;
  std::string m_kernel;
  bool m_per_hop;
  LaunchShape m_shape;
  DevicePointer m_scratch = 0;
  std::size_t m_results_bytes = 0;
  std::size_t m_samples_offset = 0;
  std::size_t m_samples_bytes = 0;
  bool m_state_is_clear = false;
  std::uint64_t m_start = 0;
  std::uint32_t m_sm = k_any_sm;
  ChaseSamples m_samples;
};

/// A block's threads and a carve-out that there are. Errors: usage.
[[nodiscard]] Result<void> check_split(const StorageSplit& split);
/// Asks for the kernel's carve-out; bytes of shared memory that the driver then configures, 0 when not known.
[[nodiscard]] Result<std::uint64_t> apply_split(ModuleId module, const std::string& kernel, const LaunchShape& shape,
                                                int carveout_percent, const ChaseResources& resources);

/// Of a grid-stride kernel that links `nodes` nodes.
[[nodiscard]] LaunchShape link_shape(std::uint64_t nodes);

/// `chase_ca_pointer`, `chase_shared_index_timed`, ...
[[nodiscard]] std::string chase_kernel_name(LoadPath path, ChainKind chain, HopTiming timing);

}  // namespace gpusonde::cuda
