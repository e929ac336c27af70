#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "inference/statistics.hpp"
#include "probe/chase_mean.hpp"
#include "probe/memories_probe.hpp"
#include "probe/run_one.hpp"

namespace gpusonde {
namespace {

constexpr double k_points_an_octave = 10;
constexpr std::uint64_t k_least_stride_bytes = 64;  // for the smallest size: four nodes of it
constexpr double k_rise = 1.04;                     // between sizes where more are asked
constexpr std::uint64_t k_points_between = 12;      // at most
constexpr std::uint64_t k_most_l1_bytes = 256 * 1024;
constexpr std::uint64_t k_l1_step_bytes = 8 * 1024;
constexpr double k_resident = 1.05;  // of a small ring's time
constexpr std::uint64_t k_control_bytes = 64 * 1024;
constexpr std::uint32_t k_cluster_launches = 3;
constexpr std::uint64_t k_reference_bytes = 16 * 1024;

std::string why_missing(MemoryKind kind, const DeviceInfo& device) {
  if (device.kind == DeviceKind::simulated) return fmt::format("the model has no {} memory", to_string(kind));
  return fmt::format("the driver cannot give {} memory", to_string(kind));
}

/// Ascending sizes that are multiples of a stride, four nodes at least.
std::vector<std::uint64_t> sweep_of(std::uint64_t stride_bytes, std::uint64_t most_bytes) {
  std::set<std::uint64_t> sizes;
  const double factor = std::exp2(1 / k_points_an_octave);
  for (double bytes = 4.0 * static_cast<double>(std::max<std::uint64_t>(stride_bytes, k_least_stride_bytes));
       bytes <= static_cast<double>(most_bytes); bytes *= factor)
    sizes.insert(static_cast<std::uint64_t>(bytes) / stride_bytes * stride_bytes);
  sizes.insert(most_bytes);
  return {sizes.begin(), sizes.end()};
}

class MemoriesMeasurement {
 public:
  explicit MemoriesMeasurement(ProbeContext& context)
      : m_context(context), m_capabilities(context.target.capabilities()) {}

  Result<void> run() {
    for (const auto kind : {MemoryKind::constant, MemoryKind::texture, MemoryKind::read_only, MemoryKind::shared})
      if (!has(kind)) missing(to_string(kind), why_missing(kind, m_context.target.device()));
    if (auto r = references(); !r) return r;
    if (has(MemoryKind::constant))
      if (auto r = constants(); !r) return r;
    if (auto r = small_rings(); !r) return r;
    if (has(MemoryKind::read_only))
      if (auto r = sharing(); !r) return r;
    return clusters();
  }

 private:
  [[nodiscard]] bool has(MemoryKind kind) const {
    const auto& memories = m_capabilities.memories;
    return std::find(memories.begin(), memories.end(), kind) != memories.end();
  }
  void missing(std::string_view what, std::string reason) {
    auto& table = m_context.measurements.table("memories.missing");
    table.make<std::string>("what").emplace_back(what);
    table.make<std::string>("reason").push_back(std::move(reason));
  }
  void progress(const char* doing, double fraction) const {
    if (m_context.progress) m_context.progress({"memories", doing, fraction});
  }

  /// What loads of global memory take that hit in L1, and in L2: chases of the same small ring.
  Result<void> references() {
    progress("references", 0);
    ChaseExperiment chase;
    chase.ring.order = {.node_count = k_reference_bytes / 128, .stride_bytes = 128};
    for (const auto& [level, path] : {std::pair{"l1", LoadPath::global_ca}, std::pair{"l2", LoadPath::global_cg}}) {
      chase.path = path;
      const auto samples = run_one<ChaseSamples>(m_context.target, m_context.cancel, chase);
      if (!samples) return tl::unexpected(samples.error());
      auto& table = m_context.measurements.table("memories.reference");
      table.make<std::string>("level").emplace_back(level);
      table.make<double>("cycles").push_back(mean_hop_cycles(*samples));
    }
    return {};
  }

  /// Runs chases and stores them: each reading, or what each size reads.
  Result<void> chase(const std::vector<MemoryChaseExperiment>& planned, bool each_reading = false) {
    if (planned.empty()) return {};
    const std::vector<Experiment> experiments(planned.begin(), planned.end());
    auto samples = m_context.target.run(experiments, {m_context.cancel, {}});
    if (!samples) return tl::unexpected(samples.error());
    for (std::size_t i = 0; i < planned.size(); ++i) {
      const auto& run = std::get<MemoryChaseSamples>((*samples)[i]);
      std::vector<double> cycles;
      for (const auto total : run.cycles) cycles.push_back(static_cast<double>(total) / static_cast<double>(run.hops));
      if (each_reading)
        store_readings(planned[i], cycles);
      else
        store_point(planned[i], cycles);
    }
    return {};
  }
  void store_readings(const MemoryChaseExperiment& experiment, const std::vector<double>& cycles) {
    auto& table = m_context.measurements.table("memories.hits");
    for (const double each : cycles) {
      table.make<std::string>("kind").emplace_back(to_string(experiment.kind));
      table.make<std::uint64_t>("bytes").push_back(experiment.bytes);
      table.make<double>("cycles_per_access").push_back(each);
    }
  }
  void store_point(const MemoryChaseExperiment& experiment, const std::vector<double>& cycles) {
    const auto [low, high] = std::minmax_element(cycles.begin(), cycles.end());
    auto& table = m_context.measurements.table("memories.chase");
    table.make<std::string>("kind").emplace_back(to_string(experiment.kind));
    table.make<std::uint64_t>("bytes").push_back(experiment.bytes);
    table.make<std::uint64_t>("stride_bytes").push_back(experiment.stride_bytes);
    table.make<double>("cycles_per_access").push_back(median(cycles));
    table.make<double>("low_cycles").push_back(*low);
    table.make<double>("high_cycles").push_back(*high);
  }

  Result<void> constants() {
    double fraction = 0.05;
    for (const auto stride : k_constant_strides_bytes) {
      progress("constants", fraction);
      fraction += 0.1;
      std::vector<MemoryChaseExperiment> planned;
      for (const auto bytes : sweep_of(stride, m_capabilities.max_constant_bytes))
        planned.push_back(constant(bytes, stride));
      if (auto r = chase(planned); !r) return r;
      for (int pass = 0; pass < 2; ++pass) {
        planned.clear();
        for (const auto bytes : between_rises(stride)) planned.push_back(constant(bytes, stride));
        if (auto r = chase(planned); !r) return r;
      }
    }
    return {};
  }
  [[nodiscard]] static MemoryChaseExperiment constant(std::uint64_t bytes, std::uint64_t stride) {
    return {MemoryKind::constant, bytes, static_cast<std::uint32_t>(stride), 1024, 5};
  }
  /// Sizes between two that differ, so that a capacity is found to a node or nearly so.
  [[nodiscard]] std::vector<std::uint64_t> between_rises(std::uint64_t stride) const {
    std::vector<std::uint64_t> sizes;
    const auto curve = memory_curve(m_context.measurements, "constant", stride);
    for (std::size_t i = 1; i < curve.size(); ++i) {
      if (curve[i].latency < k_rise * curve[i - 1].latency) continue;
      const auto first = static_cast<std::uint64_t>(curve[i - 1].size_bytes);
      const auto nodes = (static_cast<std::uint64_t>(curve[i].size_bytes) - first) / stride;
      const auto step = std::max<std::uint64_t>(1, (nodes + k_points_between - 1) / k_points_between);
      for (std::uint64_t node = step; node < nodes; node += step) sizes.push_back(first + node * stride);
    }
    return sizes;
  }

  Result<void> small_rings() {
    progress("texture, read-only and shared memory", 0.6);
    std::vector<MemoryChaseExperiment> planned;
    for (const auto kind : {MemoryKind::texture, MemoryKind::read_only, MemoryKind::shared})
      if (has(kind))
        for (const auto bytes : k_small_bytes) planned.push_back({kind, bytes, k_small_stride_bytes, 2048, 15});
    return chase(planned, true);
  }

  /// The largest ring that stays in L1 with the launches that ask how memories share.
  Result<std::uint64_t> resident_bytes() {
    std::vector<MemoryChaseExperiment> planned;
    const auto most = std::min(k_most_l1_bytes, m_capabilities.max_ring_bytes / 2);
    for (std::uint64_t bytes = k_l1_step_bytes; bytes <= most; bytes += k_l1_step_bytes)
      planned.push_back({MemoryKind::read_only, bytes, k_small_stride_bytes, 2048, 3});
    if (auto r = chase(planned); !r) return tl::unexpected(r.error());
    const auto curve = memory_curve(m_context.measurements, "read_only", k_small_stride_bytes);
    std::uint64_t resident = 0;
    for (const auto& point : curve) {
      if (point.latency > k_resident * curve.front().latency) break;
      resident = static_cast<std::uint64_t>(point.size_bytes);
    }
    return resident;
  }

  Result<void> sharing() {
    progress("shared storage", 0.8);
    auto l1_bytes = resident_bytes();
    if (!l1_bytes) return tl::unexpected(l1_bytes.error());
    // Not to the brim, so that the ring surely stays when nothing else is loaded.
    *l1_bytes = *l1_bytes * 15 / 16 / 1024 * 1024;
    if (*l1_bytes == 0) return {};
    std::vector<StorageSharingExperiment> planned;
    const auto ask = [&](MemoryKind kind, std::uint64_t other_bytes) {
      if (has(kind)) planned.push_back({kind, *l1_bytes, other_bytes, 7});
    };
    // Textures last: their lines may outlive a launch.
    const auto constant_bytes = m_capabilities.max_constant_bytes / 1024 * 1024;
    if (constant_bytes > 0) {
      ask(MemoryKind::constant, constant_bytes);
      ask(MemoryKind::read_only, std::min(constant_bytes, k_control_bytes));
    }
    ask(MemoryKind::read_only, *l1_bytes);
    ask(MemoryKind::texture, *l1_bytes);
    const std::vector<Experiment> experiments(planned.begin(), planned.end());
    auto samples = m_context.target.run(experiments, {m_context.cancel, {}});
    if (!samples) return tl::unexpected(samples.error());
    auto& table = m_context.measurements.table("memories.sharing");
    for (std::size_t i = 0; i < planned.size(); ++i) {
      const auto& run = std::get<StorageSharingSamples>((*samples)[i]);
      for (std::size_t turn = 0; turn < run.before_cycles.size(); ++turn) {
        table.make<std::string>("kind").emplace_back(to_string(planned[i].kind));
        table.make<std::uint64_t>("l1_bytes").push_back(planned[i].l1_bytes);
        table.make<std::uint64_t>("other_bytes").push_back(planned[i].other_bytes);
        table.make<std::uint64_t>("hops").push_back(run.hops);
        table.make<std::uint64_t>("before_cycles").push_back(run.before_cycles[turn]);
        table.make<std::uint64_t>("after_cycles").push_back(run.after_cycles[turn]);
      }
    }
    return {};
  }

  Result<void> clusters() {
    progress("clusters", 0.9);
    if (m_capabilities.max_cluster_blocks == 0) {
      missing("cluster", m_capabilities.why_no_clusters);
      return {};
    }
    const ClusterExperiment cluster{m_capabilities.max_cluster_blocks, 256};
    for (std::uint32_t launch = 0; launch < k_cluster_launches; ++launch) {
      const auto samples = run_one<ClusterSamples>(m_context.target, m_context.cancel, cluster);
      if (!samples && samples.error().kind == ErrorKind::unsupported) {
        missing("cluster", samples.error().message);
        return {};
      }
      if (!samples) return tl::unexpected(samples.error());
      store(*samples, launch);
    }
    return {};
  }
  void store(const ClusterSamples& samples, std::uint32_t launch) {
    auto& table = m_context.measurements.table("memories.cluster");
    const auto blocks = samples.sms.size();
    for (std::size_t from = 0; from < blocks; ++from)
      for (std::size_t to = 0; to < blocks; ++to) {
        table.make<std::uint64_t>("launch").push_back(launch);
        table.make<std::uint64_t>("from_block").push_back(from);
        table.make<std::uint64_t>("to_block").push_back(to);
        table.make<std::uint64_t>("from_sm").push_back(samples.sms[from]);
        table.make<std::uint64_t>("to_sm").push_back(samples.sms[to]);
        table.make<double>("cycles_per_access").push_back(samples.cycles[from * blocks + to]);
      }
  }

  ProbeContext& m_context;
  const Capabilities& m_capabilities;
};

}  // namespace

Result<void> measure_memories(ProbeContext& context) { return MemoriesMeasurement(context).run(); }

}  // namespace gpusonde
