#include "target/sim/sim_target.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <optional>
#include <thread>
#include <variant>

#include "target/sim/batch.hpp"
#include "target/sim/chase.hpp"
#include "target/sim/instructions.hpp"
#include "target/sim/line_tests.hpp"
#include "target/sim/loads.hpp"
#include "target/sim/machine.hpp"
#include "target/sim/sim_clock.hpp"

namespace gpusonde {
namespace {

constexpr std::uint64_t k_most_per_hop_samples = 1 << 22;  // memory is the only limit: 16 MiB of samples

using namespace sim;

DeviceInfo describe(const DeviceModel& model) {
  DeviceInfo info;
  info.kind = DeviceKind::simulated;
  info.name = model.name;
  info.compute_capability_major = model.compute_capability_major;
  info.compute_capability_minor = model.compute_capability_minor;
  info.sm_count = model.sm_count;
  info.memory_bytes = model.memory_bytes;
  info.model_file = model.origin;
  for (const auto& cache : model.caches)
    if (cache.name == "l2") info.nominal.l2_bytes = cache.capacity_bytes();
  info.nominal.shared_per_sm_bytes = model.shared_per_sm_bytes;
  if (model.unified) info.nominal.reserved_shared_per_block_bytes = model.unified->reserved_per_block_bytes;
  info.nominal.shared_per_block_bytes =
      model.shared_per_sm_bytes - std::min(model.shared_per_sm_bytes, info.nominal.reserved_shared_per_block_bytes);
  info.nominal.sm_clock_mhz = static_cast<std::uint32_t>(std::lround(model.timing.sm_mhz));
  info.nominal.memory_clock_mhz = static_cast<std::uint32_t>(std::lround(model.timing.memory_mhz));
  info.nominal.bus_width_bits = model.bus_width_bits;
  return info;
}

void add_instructions(const DeviceModel& model, Capabilities& result) {
  const bool shared = result.max_shared_ring_bytes > 0;
  for (std::size_t i = 0; i < k_operation_count; ++i) {
    const auto operation = static_cast<Operation>(i);
    const bool timed = std::any_of(model.instructions.begin(), model.instructions.end(),
                                   [&](const auto& each) { return each.operation == to_string(operation); });
    const bool of_shared = operation == Operation::shared_register || operation == Operation::shared_predicate;
    const bool immediate = operation == Operation::shared_immediate && model.timing.register_read_cycles > 0;
    if (timed || (shared && (of_shared || immediate))) result.operations.push_back(operation);
  }
  if (!model.constants.empty()) {
    result.memories.push_back(MemoryKind::constant);
    result.max_constant_bytes = 64 * 1024;
  }
  if (model.timing.texture_hit_cycles > 0) result.memories.push_back(MemoryKind::texture);
  result.memories.push_back(MemoryKind::read_only);
  if (shared) result.memories.push_back(MemoryKind::shared);
  result.max_cluster_blocks = model.cluster.max_blocks;
  if (model.cluster.max_blocks == 0) result.why_no_clusters = "this model has no clusters";
}

Capabilities capabilities_of(const DeviceModel& model, const DeviceInfo& info, bool physical) {
  Capabilities result;
  result.max_ring_bytes = PageTable(model.paging, model.memory_bytes, 0).mapped_bytes();
  result.unified_storage = model.unified.has_value();
  result.warmups_agree = true;
  result.max_per_hop_hops = k_most_per_hop_samples;
  result.sm_choice = true;
  result.prefetch_sizes_bytes = {64, 128};
  result.fetch_limits_bytes = {32, 64, 128};
  result.drops_lines = true;
  result.physical_addresses = physical;
  result.paths = {LoadPath::global_ca, LoadPath::global_cg, LoadPath::global_cv, LoadPath::global_nc};
  if (model.timing.shared_hit_cycles > 0 && info.nominal.shared_per_block_bytes > 0) {
    result.paths.push_back(LoadPath::shared);
    result.max_shared_ring_bytes = info.nominal.shared_per_block_bytes;
  }
  add_instructions(model, result);
  return result;
}

class SimTarget final : public Target {
 public:
  SimTarget(const DeviceModel& model, const SimOptions& options, double sm_mhz)
      : m_model(model),
        m_info(describe(model)),
        m_capabilities(capabilities_of(model, m_info, options.physical_addresses)),
        m_sm_mhz(sm_mhz),
        m_seed(options.seed),
        m_threads(options.threads != 0 ? options.threads : std::max(1U, std::thread::hardware_concurrency())),
        m_full_warmup(options.full_warmup) {}

  const DeviceInfo& device() const noexcept override { return m_info; }
  const Capabilities& capabilities() const noexcept override { return m_capabilities; }

  AliasSpace alias_space() override {
    return {m_model.paging.frame_bytes, k_alias_span_bytes, k_alias_span_bytes / m_model.paging.frame_bytes, {}};
  }

  Result<std::vector<std::uint64_t>> physical_addresses(std::span<const std::uint64_t> places) override {
    if (!m_capabilities.physical_addresses)
      return fail(ErrorKind::unsupported, "physical addresses are not given; ask for them with --physical-addresses");
    const PageTable pages(m_model.paging, m_model.memory_bytes, page_seed(m_seed));
    std::vector<std::uint64_t> addresses;
    for (const auto place : places) addresses.push_back(pages.physical(place));
    return addresses;
  }

  Environment environment() override {
    Environment environment;
    environment.clocks = clocks();
    return environment;
  }

  ClockState clocks() override {
    return {static_cast<std::uint32_t>(std::lround(m_sm_mhz)),
            static_cast<std::uint32_t>(std::lround(m_model.timing.memory_mhz)),
            {}};
  }

  Result<std::vector<Samples>> run(std::span<const Experiment> experiments, const RunControl& control) override {
    for (const auto& experiment : experiments)
      if (auto ok = check_one(experiment); !ok) return tl::unexpected(ok.error());
    const std::size_t workers = std::min<std::size_t>(m_threads, experiments.size());
    if (m_machines.size() < workers) m_machines.resize(workers);
    std::vector<Samples> samples(experiments.size());
    std::vector<std::optional<Error>> errors(experiments.size());
    const bool complete = run_batch(
        experiments.size(), workers,
        [&](std::size_t worker, std::size_t i) {
          if (control.cancel != nullptr && control.cancel->requested()) return false;
          // Each experiment has a stream of its own, so which thread runs it makes no difference.
          auto result = run_one(experiments[i], m_machines[worker], Random(m_seed).fork(m_run + i), control.cancel);
          if (result)
            samples[i] = std::move(*result);
          else
            errors[i] = std::move(result.error());
          return result.has_value();
        },
        control.on_done);
    for (auto& error : errors)
      if (error) return tl::unexpected(std::move(*error));
    if (!complete) return fail(ErrorKind::interrupted, "interrupted");
    m_run += experiments.size();
    return samples;
  }

 private:
  Result<void> check_one(const Experiment& experiment) {
    if (const auto* chase = std::get_if<ChaseExperiment>(&experiment)) {
      if (auto ok = check(*chase, m_capabilities); !ok) return ok;
      return check_sm(chase->sm);
    }
    if (const auto* list = std::get_if<ListChaseExperiment>(&experiment)) {
      if (auto ok = check(*list, m_capabilities, alias_space()); !ok) return ok;
      if (auto ok = check_sm(list->warmup_sm); !ok) return ok;
      return check_sm(list->sm);
    }
    if (const auto* sequence = std::get_if<SequenceExperiment>(&experiment)) {
      if (auto ok = check(*sequence, m_capabilities, alias_space()); !ok) return ok;
      return check_sm(sequence->sm);
    }
    if (const auto* map = std::get_if<LineMapExperiment>(&experiment))
      return check(*map, m_capabilities, m_info.sm_count);
    if (const auto* throughput = std::get_if<ThroughputExperiment>(&experiment))
      return check(*throughput, m_capabilities, m_info.sm_count);
    if (const auto* chase = std::get_if<LoadedChaseExperiment>(&experiment))
      return check(*chase, m_capabilities, m_info.sm_count);
    if (const auto* bandwidth = std::get_if<BandwidthExperiment>(&experiment))
      return check(*bandwidth, m_capabilities, m_info.sm_count);
    if (const auto* instruction = std::get_if<InstructionExperiment>(&experiment))
      return check(*instruction, m_capabilities);
    if (const auto* memory = std::get_if<MemoryChaseExperiment>(&experiment)) return check(*memory, m_capabilities);
    if (const auto* sharing = std::get_if<StorageSharingExperiment>(&experiment))
      return check(*sharing, m_capabilities);
    if (const auto* cluster = std::get_if<ClusterExperiment>(&experiment)) return check(*cluster, m_capabilities);
    return {};
  }

  Result<void> check_sm(const std::optional<std::uint32_t>& sm) const {
    if (!sm || *sm < m_info.sm_count) return {};
    return fail(ErrorKind::usage, fmt::format("SM {}: this device has {}; choose one from 0 to {}", *sm,
                                              m_info.sm_count, m_info.sm_count - 1));
  }

  Result<Samples> run_one(const Experiment& experiment, std::unique_ptr<Machine>& machine, Random random,
                          const CancelToken* cancel) const {
    const double start_ns = Random(random).uniform() * k_timer_tick_ns;
    if (const auto* timer = std::get_if<TimerExperiment>(&experiment)) return run_timer(*timer, m_model.timing);
    if (const auto* loop = std::get_if<LoopOverheadExperiment>(&experiment))
      return run_loop(*loop, m_model.timing, m_sm_mhz, start_ns);
    if (const auto* clock = std::get_if<ClockExperiment>(&experiment)) return run_clock(*clock, m_sm_mhz, start_ns);
    if (const auto* instruction = std::get_if<InstructionExperiment>(&experiment))
      return sim::run_instruction(m_model, *instruction, random);
    if (const auto* memory = std::get_if<MemoryChaseExperiment>(&experiment))
      return sim::run_memory_chase(m_model, *memory, m_sm_mhz, random);
    if (const auto* sharing = std::get_if<StorageSharingExperiment>(&experiment))
      return sim::run_storage_sharing(m_model, *sharing, m_sm_mhz, random);
    if (const auto* cluster = std::get_if<ClusterExperiment>(&experiment))
      return sim::run_cluster(m_model, *cluster, random);
    if (!machine) machine = std::make_unique<Machine>(m_model, m_sm_mhz, m_seed);
    const ChaseSettings settings{m_sm_mhz, m_full_warmup};
    if (const auto* list = std::get_if<ListChaseExperiment>(&experiment))
      return sim::run_chase(*machine, m_model, *list, settings, random, cancel);
    if (const auto* sequence = std::get_if<SequenceExperiment>(&experiment))
      return sim::run_sequence(*machine, m_model, *sequence, settings, random, cancel);
    if (const auto* map = std::get_if<LineMapExperiment>(&experiment))
      return sim::run_line_map(*machine, m_model, *map, settings, random, cancel);
    if (const auto* throughput = std::get_if<ThroughputExperiment>(&experiment))
      return sim::run_throughput(*machine, m_model, *throughput, settings, random, cancel);
    if (const auto* loaded = std::get_if<LoadedChaseExperiment>(&experiment))
      return sim::run_loaded_chase(*machine, m_model, *loaded, settings, random, cancel);
    if (const auto* bandwidth = std::get_if<BandwidthExperiment>(&experiment))
      return sim::run_bandwidth(*machine, m_model, *bandwidth, settings, random, cancel);
    return run_chase(*machine, m_model, std::get<ChaseExperiment>(experiment), settings, random, cancel);
  }

  DeviceModel m_model;
  DeviceInfo m_info;
  Capabilities m_capabilities;
  double m_sm_mhz;
  std::uint64_t m_seed;
  unsigned m_threads;
  bool m_full_warmup;
  std::uint64_t m_run = 0;                           ///< experiments run so far
  std::vector<std::unique_ptr<Machine>> m_machines;  ///< one a worker, made when first needed
};

}  // namespace

Result<std::unique_ptr<Target>> make_sim_target(const DeviceModel& model, const SimOptions& options) {
  if (auto ok = validate(model); !ok) return tl::unexpected(ok.error());
  if (auto ok = check_limits(model); !ok) return tl::unexpected(ok.error());
  const double sm_mhz = options.sm_mhz == 0 ? model.timing.sm_mhz : options.sm_mhz;
  if (!(sm_mhz > 0 && sm_mhz <= 10'000))
    return fail(ErrorKind::usage, fmt::format("an SM clock of {} MHz: choose one above 0 and up to 10000", sm_mhz));
  return std::make_unique<SimTarget>(model, options, sm_mhz);
}

}  // namespace gpusonde
