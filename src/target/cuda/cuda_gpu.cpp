#include "target/cuda/cuda_gpu.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "target/cuda/chase_runner.hpp"
#include "target/cuda/host_facts.hpp"
#include "target/cuda/instruction_runner.hpp"
#include "target/cuda/kernel_parameters.hpp"
#include "target/cuda/line_map_runner.hpp"
#include "target/cuda/list_chase.hpp"
#include "target/cuda/loads_runner.hpp"
#include "target/cuda/memory_runner.hpp"
#include "target/cuda/nvml_state.hpp"
#include "target/cuda/sequence_runner.hpp"

namespace gpusonde::cuda {
namespace {

constexpr std::uint64_t k_clock_warm_up_ns = 80'000'000;
constexpr std::chrono::milliseconds k_clocks_stay_up{500};
constexpr std::uint64_t k_most_spin_ns = 350'000'000;
constexpr std::uint64_t k_most_loop_iterations = std::uint64_t{1} << 26;  // 0.3 s at 1 GHz and 5 cycles
constexpr std::size_t k_scratch_limit_bytes = std::size_t{1} << 30;
constexpr std::uint64_t k_constant_bank_bytes = 64 * 1024;
constexpr std::uint32_t k_portable_cluster_blocks = 8;
constexpr std::size_t k_sink_offset = 0;
constexpr std::size_t k_results_offset = 64;

}  // namespace

Result<std::unique_ptr<Target>> CudaGpu::open(const DriverTable& driver, const NvmlTable* nvml, int ordinal,
                                              DeviceInfo info) {
  if (info.compute_capability_major < 7)
    return fail(ErrorKind::unsupported,
                fmt::format("{} has compute capability {}.{}; gpusonde needs 7.0 (Volta) or later", info.name,
                            info.compute_capability_major, info.compute_capability_minor));
  Device device = 0;
  if (const auto result = driver.device_get(&device, ordinal); result != k_success)
    return tl::unexpected(driver_error(driver, result, fmt::format("cannot open GPU {}", ordinal)));
  auto context = Context::retain(driver, device);
  if (!context) return tl::unexpected(context.error());
  std::size_t free_bytes = 0;
  std::size_t total_bytes = 0;
  if (const auto result = driver.mem_get_info(&free_bytes, &total_bytes); result != k_success)
    return tl::unexpected(driver_error(driver, result, "cannot ask how much memory is free"));
  return std::unique_ptr<Target>(new CudaGpu(driver, nvml, device, std::move(info), std::move(*context), free_bytes));
}

CudaGpu::CudaGpu(const DriverTable& driver, const NvmlTable* nvml, Device device, DeviceInfo info, Context context,
                 std::size_t free_bytes)
    : m_driver(driver),
      m_nvml(nvml),
      m_info(std::move(info)),
      m_context(std::move(context)),
      m_launcher(driver),
      m_buffer(driver),
      m_scratch(driver),
      m_places(driver),
      m_aliases(driver, device) {
  if (m_nvml != nullptr) {
    if (const auto found = nvml_device(*m_nvml, m_info.pci_bus_id)) m_nvml_device = *found;
  }
  m_capabilities.max_ring_bytes = free_bytes / 10 * 9;
  m_capabilities.max_shared_ring_bytes = m_info.nominal.shared_per_block_bytes;
  m_capabilities.unified_storage = true;
  m_capabilities.sm_choice = true;
  m_capabilities.paths = {LoadPath::global_ca, LoadPath::global_cg, LoadPath::global_cv, LoadPath::global_nc,
                          LoadPath::shared};
  instruction_capabilities();
  if (m_info.compute_capability_major >= 8) {
    m_capabilities.prefetch_sizes_bytes = {64, 128, 256};
    m_capabilities.fetch_limits_bytes = {32, 64, 128};
    m_capabilities.drops_lines = true;
  }
}

void CudaGpu::instruction_capabilities() {
  for (std::size_t i = 0; i < k_operation_count; ++i) {
    const auto operation = static_cast<Operation>(i);
    // From compute capability 9.0 on every address of shared memory passes through a register.
    if (operation == Operation::shared_immediate && m_info.compute_capability_major >= 9) continue;
    m_capabilities.operations.push_back(operation);
  }
  if (m_driver.module_get_global != nullptr) {
    m_capabilities.memories.push_back(MemoryKind::constant);
    m_capabilities.max_constant_bytes = k_constant_bank_bytes;
  }
  if (m_driver.texture_create != nullptr && m_driver.texture_destroy != nullptr)
    m_capabilities.memories.push_back(MemoryKind::texture);
  m_capabilities.memories.push_back(MemoryKind::read_only);
  m_capabilities.memories.push_back(MemoryKind::shared);
  if (m_info.compute_capability_major < 9)
    m_capabilities.why_no_clusters = "clusters of blocks need compute capability 9.0 or later";
  else if (m_driver.launch_kernel_ex == nullptr)
    m_capabilities.why_no_clusters = "the driver cannot launch clusters; it takes one of CUDA 11.8 or later";
  else
    m_capabilities.max_cluster_blocks = k_portable_cluster_blocks;
}

Environment CudaGpu::environment() {
  Environment environment;
  fill_host(environment);
  int version = 0;
  if (m_driver.driver_get_version(&version) == k_success)
    environment.cuda_version = fmt::format("{}.{}", version / 1000, version % 1000 / 10);
  if (m_nvml_device != nullptr) fill_environment(*m_nvml, m_nvml_device, environment);
  return environment;
}

ClockState CudaGpu::clocks() { return m_nvml_device != nullptr ? clock_state(*m_nvml, m_nvml_device) : ClockState{}; }

AliasSpace CudaGpu::alias_space() {
  if (const auto used = m_context.use(); !used) return {0, 0, 0, used.error().message};
  return m_aliases.space();
}

void CudaGpu::release_aliases() {
  if (m_context.use()) m_aliases.unmap_all();
}

Result<std::vector<Samples>> CudaGpu::run(std::span<const Experiment> experiments, const RunControl& control) {
  std::uint64_t buffer_end = 0;
  if (auto r = check_all(experiments, buffer_end); !r) return tl::unexpected(r.error());
  if (auto r = m_context.use(); !r) return tl::unexpected(r.error());
  DevicePointer buffer = 0;
  if (buffer_end != 0) {
    const auto memory = m_buffer.at_least(buffer_end, m_capabilities.max_ring_bytes);
    if (!memory) return tl::unexpected(memory.error());
    buffer = *memory;
  }
  if (auto r = warm_clocks(); !r) return tl::unexpected(r.error());
  const ChaseResources resources{m_driver, m_info, m_launcher, m_scratch, buffer, control.cancel};
  const auto execute_one = [&](const auto& experiment) -> Result<Samples> {
    const auto as_samples = [](auto&& s) { return Samples(std::forward<decltype(s)>(s)); };
    using Kind = std::decay_t<decltype(experiment)>;
    if constexpr (std::is_same_v<Kind, ChaseExperiment>)
      return run_chase(experiment, resources).map(as_samples);
    else if constexpr (std::is_same_v<Kind, ListChaseExperiment>)
      return run_list_chase(experiment, {m_places, m_aliases}, resources).map(as_samples);
    else if constexpr (std::is_same_v<Kind, SequenceExperiment>)
      return run_sequence(experiment, {m_places, m_aliases}, resources).map(as_samples);
    else if constexpr (std::is_same_v<Kind, LineMapExperiment>)
      return run_line_map(experiment, m_places, resources).map(as_samples);
    else if constexpr (std::is_same_v<Kind, ThroughputExperiment>)
      return run_throughput(experiment, m_places, resources).map(as_samples);
    else if constexpr (std::is_same_v<Kind, LoadedChaseExperiment>)
      return run_loaded_chase(experiment, resources).map(as_samples);
    else if constexpr (std::is_same_v<Kind, BandwidthExperiment>)
      return run_bandwidth(experiment, resources).map(as_samples);
    else if constexpr (std::is_same_v<Kind, InstructionExperiment>)
      return run_instruction(experiment, resources).map(as_samples);
    else if constexpr (std::is_same_v<Kind, MemoryChaseExperiment>)
      return run_memory_chase(experiment, resources).map(as_samples);
    else if constexpr (std::is_same_v<Kind, StorageSharingExperiment>)
      return run_storage_sharing(experiment, resources).map(as_samples);
    else if constexpr (std::is_same_v<Kind, ClusterExperiment>)
      return run_cluster(experiment, resources).map(as_samples);
    else
      return execute(experiment);
  };
  std::vector<Samples> samples;
  samples.reserve(experiments.size());
  for (const auto& experiment : experiments) {
    if (control.cancel != nullptr && control.cancel->requested()) return fail(ErrorKind::interrupted, "interrupted");
    auto sample = std::visit(execute_one, experiment);
    if (!sample) return tl::unexpected(sample.error());
    samples.push_back(std::move(*sample));
    if (control.on_done) control.on_done(samples.size());
  }
  m_busy_until = std::chrono::steady_clock::now();
  return samples;
}

Result<void> CudaGpu::check_all(std::span<const Experiment> experiments, std::uint64_t& buffer_end) {
  const auto reach = [&](const std::vector<std::uint64_t>& places) {
    if (!places.empty()) buffer_end = std::max(buffer_end, *std::max_element(places.begin(), places.end()) + 8);
  };
  for (const auto& experiment : experiments) {
    if (const auto* chase = std::get_if<ChaseExperiment>(&experiment)) {
      if (auto r = check(*chase, m_capabilities); !r) return r;
      if (chase->path != LoadPath::shared)
        buffer_end = std::max(buffer_end, chase->ring.first_byte + chase->ring.footprint_bytes());
    } else if (const auto* list = std::get_if<ListChaseExperiment>(&experiment)) {
      const bool aliased = list->region == Region::aliases;
      if (auto r = check(*list, m_capabilities, aliased ? alias_space() : AliasSpace{}); !r) return r;
      if (!aliased) reach(list->places);
    } else if (const auto* sequence = std::get_if<SequenceExperiment>(&experiment)) {
      const bool aliased = sequence->region == Region::aliases;
      if (auto r = check(*sequence, m_capabilities, aliased ? alias_space() : AliasSpace{}); !r) return r;
      if (!aliased) reach(sequence->places);
    } else if (const auto* map = std::get_if<LineMapExperiment>(&experiment)) {
      if (auto r = check(*map, m_capabilities, m_info.sm_count); !r) return r;
      reach(map->places);
    } else if (const auto* throughput = std::get_if<ThroughputExperiment>(&experiment)) {
      if (auto r = check(*throughput, m_capabilities, m_info.sm_count); !r) return r;
      reach(throughput->places);
    } else if (const auto* loaded = std::get_if<LoadedChaseExperiment>(&experiment)) {
      if (auto r = check(*loaded, m_capabilities, m_info.sm_count); !r) return r;
      buffer_end = std::max(buffer_end, loaded->ring.first_byte + loaded->ring.footprint_bytes());
    } else if (const auto* bandwidth = std::get_if<BandwidthExperiment>(&experiment)) {
      if (auto r = check(*bandwidth, m_capabilities, m_info.sm_count); !r) return r;
      const auto sms = bandwidth->sms == 0 ? m_info.sm_count : bandwidth->sms;
      if (bandwidth->path != LoadPath::shared)
        buffer_end = std::max(buffer_end, bandwidth->bytes * (bandwidth->per_sm ? sms : 1));
    } else if (const auto* instruction = std::get_if<InstructionExperiment>(&experiment)) {
      if (auto r = check(*instruction, m_capabilities); !r) return r;
    } else if (const auto* memory = std::get_if<MemoryChaseExperiment>(&experiment)) {
      if (auto r = check(*memory, m_capabilities); !r) return r;
      if (memory->kind == MemoryKind::texture || memory->kind == MemoryKind::read_only)
        buffer_end = std::max(buffer_end, memory->bytes);
    } else if (const auto* sharing = std::get_if<StorageSharingExperiment>(&experiment)) {
      if (auto r = check(*sharing, m_capabilities); !r) return r;
      buffer_end = std::max(buffer_end, sharing->l1_bytes + sharing->other_bytes);
    } else if (const auto* cluster = std::get_if<ClusterExperiment>(&experiment)) {
      if (auto r = check(*cluster, m_capabilities); !r) return r;
    }
  }
  return {};
}

// An idle GPU runs at a fraction of its clocks and takes some tens of milliseconds to raise them.
Result<void> CudaGpu::warm_clocks() {
  if (std::chrono::steady_clock::now() - m_busy_until < k_clocks_stay_up) return {};
  const auto spun = measure("spin_clock", k_clock_warm_up_ns, 2);
  if (!spun) return tl::unexpected(spun.error());
  return {};
}

Result<Samples> CudaGpu::execute(const TimerExperiment& experiment) {
  auto cycles = measure("timer", experiment.repetitions, experiment.repetitions);
  if (!cycles) return tl::unexpected(cycles.error());
  return TimerSamples{std::move(*cycles)};
}

Result<Samples> CudaGpu::execute(const LoopOverheadExperiment& experiment) {
  ElapsedSamples sum{0, 0, experiment.iterations};
  for (auto left = experiment.iterations; left > 0; left -= std::min(left, k_most_loop_iterations)) {
    const auto part = measure("loop_overhead", std::min(left, k_most_loop_iterations), 2);
    if (!part) return tl::unexpected(part.error());
    sum.cycles += (*part)[0];
    sum.wall_ns += (*part)[1];
  }
  return sum;
}

Result<Samples> CudaGpu::execute(const ClockExperiment& experiment) {
  ElapsedSamples sum;
  for (auto left = experiment.duration_ns; left > 0; left -= std::min(left, k_most_spin_ns)) {
    const auto part = measure("spin_clock", std::min(left, k_most_spin_ns), 2);
    if (!part) return tl::unexpected(part.error());
    sum.cycles += (*part)[0];
    sum.wall_ns += (*part)[1];
  }
  return sum;
}

Result<std::vector<std::uint64_t>> CudaGpu::measure(const char* kernel, std::uint64_t amount, std::size_t count) {
  const auto bytes = k_results_offset + 8 * count;
  const auto scratch = m_scratch.at_least(bytes, k_scratch_limit_bytes);
  if (!scratch) return tl::unexpected(scratch.error());
  if (const auto result = m_driver.memset_d8(*scratch, 0, bytes); result != k_success)
    return tl::unexpected(driver_error(m_driver, result, "cannot clear device memory"));
  const ClockParameters parameters{*scratch + k_results_offset, *scratch + k_sink_offset, amount};
  if (auto r = m_launcher.launch(ModuleId::base, kernel, {1, 32, 0}, parameters); !r) return tl::unexpected(r.error());
  if (auto r = m_launcher.wait(kernel); !r) return tl::unexpected(r.error());
  std::vector<std::uint64_t> results(count);
  if (const auto result = m_driver.memcpy_dtoh(results.data(), *scratch + k_results_offset, 8 * count);
      result != k_success)
    return tl::unexpected(driver_error(m_driver, result, fmt::format("cannot read the results of kernel {}", kernel)));
  return results;
}

}  // namespace gpusonde::cuda
