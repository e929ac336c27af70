#include "target/cuda/memory_runner.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <set>

#include "experiment/ring_order.hpp"

namespace gpusonde::cuda {
namespace {

constexpr std::size_t k_limit_bytes = std::size_t{1} << 30;
constexpr std::size_t k_sink_offset = 0;
constexpr std::size_t k_reached_offset = 8;
constexpr std::size_t k_results_offset = 64;
constexpr std::uint64_t k_line_bytes = 128;

/// A texture object over words of 32 bits.
class Texture {
 public:
  static Result<Texture> over(const DriverTable& driver, DevicePointer address, std::size_t bytes) {
    LinearResource resource;
    resource.address = address;
    resource.bytes = bytes;
    const TextureSettings settings;
    Texture texture(driver);
    if (auto r = driver_done(driver, driver.texture_create(&texture.m_object, &resource, &settings, nullptr),
                             "cannot make a texture");
        !r)
      return tl::unexpected(r.error());
    return texture;
  }
  Texture(Texture&& other) noexcept : m_driver(other.m_driver), m_object(std::exchange(other.m_object, 0)) {}
  Texture& operator=(Texture&&) = delete;
  ~Texture() {
    if (m_object != 0) m_driver.texture_destroy(m_object);
  }
  [[nodiscard]] TextureObject object() const noexcept { return m_object; }

 private:
  explicit Texture(const DriverTable& driver) : m_driver(driver) {}
  const DriverTable& m_driver;
  TextureObject m_object = 0;
};

class MemoryChase {
 public:
  MemoryChase(const MemoryChaseExperiment& e, const ChaseResources& r)
      : m_e(e),
        m_r(r),
        m_nodes(e.bytes / e.stride_bytes),
        m_order({.node_count = m_nodes, .stride_bytes = e.stride_bytes}),
        m_kernel(fmt::format("memory_{}", to_string(e.kind))) {}

  Result<MemoryChaseSamples> run() {
    if (m_r.cancelled()) return fail(ErrorKind::interrupted, "interrupted");
    const auto scratch = m_r.scratch.at_least(ring_offset() + m_e.bytes, k_limit_bytes);
    if (!scratch) return tl::unexpected(scratch.error());
    m_scratch = *scratch;
    if (auto r = place_ring(); !r) return tl::unexpected(r.error());
    if (m_e.kind != MemoryKind::texture) return launch(0);
    const auto texture = Texture::over(m_r.driver, m_ring, m_e.bytes);
    if (!texture) return tl::unexpected(texture.error());
    return launch(texture->object());
  }

 private:
  [[nodiscard]] std::size_t ring_offset() const { return (k_results_offset + 8 * m_e.repetitions + 255) / 256 * 256; }

  Result<void> place_ring() {
    m_ring = m_r.buffer;
    if (m_e.kind == MemoryKind::shared) m_ring = m_scratch + ring_offset();
    if (m_e.kind == MemoryKind::constant) {
      const auto bank = m_r.launcher.variable(ModuleId::memories, "constant_bank");
      if (!bank) return tl::unexpected(bank.error());
      m_ring = *bank;
    }
    const auto image = linked();
    return driver_done(m_r.driver, m_r.driver.memcpy_htod(m_ring, image.data(), image.size()),
                       "cannot copy a ring to the GPU");
  }

  /// What a node holds to lead to a place.
  [[nodiscard]] std::uint64_t word(std::uint64_t place) const {
    if (m_e.kind == MemoryKind::texture) return place / 4;
    return m_e.kind == MemoryKind::read_only ? m_ring + place : place;
  }

  [[nodiscard]] std::vector<std::uint8_t> linked() {
    std::vector<std::uint8_t> image(m_e.bytes);
    for (std::uint64_t i = 0; i < m_nodes; ++i) {
      const std::uint64_t here = m_order.offset(i);
      const std::uint64_t next = word(m_order.offset((i + 1) % m_nodes));
      std::memcpy(image.data() + here, &next, sizeof next);
      if (here == 0) m_start = i;
    }
    return image;
  }

  Result<MemoryChaseSamples> launch(TextureObject texture) {
    MemoryChaseSamples samples{m_e.hops, std::vector<std::uint64_t>(m_e.repetitions)};
    const auto lead = round_up_to_8(m_nodes);
    const MemoryChaseParameters parameters{.ring = m_ring,
                                           .texture = texture,
                                           .bytes = m_e.bytes,
                                           .results = m_scratch + k_results_offset,
                                           .reached = m_scratch + k_reached_offset,
                                           .sink = m_scratch + k_sink_offset,
                                           .lead_hops = static_cast<unsigned>(lead),
                                           .hops = m_e.hops,
                                           .repetitions = m_e.repetitions,
                                           .reserved = 0};
    const auto& driver = m_r.driver;
    if (auto r = driver_done(driver, driver.memset_d8(m_scratch, 0, k_results_offset + 8 * samples.cycles.size()),
                             "cannot clear device memory");
        !r)
      return tl::unexpected(r.error());
    const bool shared = m_e.kind == MemoryKind::shared;
    if (auto r = m_r.launcher.prefer_carveout(ModuleId::memories, m_kernel, shared ? 100 : 0); !r)
      return tl::unexpected(r.error());
    const LaunchShape shape{1, 32, shared ? static_cast<unsigned>(m_e.bytes) : 0};
    if (auto r = m_r.launcher.launch(ModuleId::memories, m_kernel, shape, parameters); !r)
      return tl::unexpected(r.error());
    if (auto r = m_r.launcher.wait(m_kernel); !r) return tl::unexpected(r.error());
    std::uint64_t reached = 0;
    auto read =
        driver_done(driver, driver.memcpy_dtoh(&reached, parameters.reached, sizeof reached), "cannot read a chase");
    if (read)
      read =
          driver_done(driver, driver.memcpy_dtoh(samples.cycles.data(), parameters.results, 8 * samples.cycles.size()),
                      "cannot read the cycles of a chase");
    if (!read) return tl::unexpected(read.error());
    const std::uint64_t hops = lead + std::uint64_t{m_e.hops} * m_e.repetitions;
    if (const auto expected = m_order.offset((m_start + hops) % m_nodes); reached != expected)
      return fail(ErrorKind::measurement, fmt::format("the chase of kernel {} ended at byte {} of its ring, not at {}",
                                                      m_kernel, reached, expected));
    return samples;
  }

  const MemoryChaseExperiment& m_e;
  const ChaseResources& m_r;
  std::uint64_t m_nodes;
  RingOrder m_order;
  std::string m_kernel;
  DevicePointer m_scratch = 0;
  DevicePointer m_ring = 0;
  std::uint64_t m_start = 0;  ///< position of the node at byte 0
};

/// A ring of addresses, a node a line, at the buffer's beginning.
Result<void> link_l1_ring(std::uint64_t bytes, const ChaseResources& r) {
  const RingOrder order({.node_count = bytes / k_line_bytes, .stride_bytes = k_line_bytes});
  std::vector<std::uint8_t> image(bytes);
  for (std::uint64_t i = 0; i < order.p.node_count; ++i) {
    const std::uint64_t next = r.buffer + order.offset((i + 1) % order.p.node_count);
    std::memcpy(image.data() + order.offset(i), &next, sizeof next);
  }
  return driver_done(r.driver, r.driver.memcpy_htod(r.buffer, image.data(), image.size()),
                     "cannot copy a ring to the GPU");
}

/// Takes all of L1 for shared memory, on every SM: lines of textures outlive a launch, but not their storage.
Result<void> empty_l1(DevicePointer scratch, const ChaseResources& r) {
  const std::string kernel = "memory_shared";
  if (auto set = r.launcher.prefer_carveout(ModuleId::memories, kernel, 100); !set) return set;
  const MemoryChaseParameters parameters{.ring = scratch + k_results_offset,
                                         .texture = 0,
                                         .bytes = 8,
                                         .results = scratch + k_results_offset,
                                         .reached = scratch + k_reached_offset,
                                         .sink = scratch + k_sink_offset,
                                         .lead_hops = 0,
                                         .hops = 0,
                                         .repetitions = 0,
                                         .reserved = 0};
  const LaunchShape shape{r.device.sm_count, 32, static_cast<unsigned>(r.device.nominal.shared_per_block_bytes)};
  if (auto run = r.launcher.launch(ModuleId::memories, kernel, shape, parameters); !run) return run;
  return r.launcher.wait(kernel);
}

}  // namespace

Result<MemoryChaseSamples> run_memory_chase(const MemoryChaseExperiment& experiment, const ChaseResources& resources) {
  return MemoryChase(experiment, resources).run();
}

Result<StorageSharingSamples> run_storage_sharing(const StorageSharingExperiment& e, const ChaseResources& r) {
  const auto scratch = r.scratch.at_least(k_results_offset + 16, k_limit_bytes);
  if (!scratch) return tl::unexpected(scratch.error());
  if (auto linked = link_l1_ring(e.l1_bytes, r); !linked) return tl::unexpected(linked.error());
  SharingParameters parameters{.ring = r.buffer,
                               .other = r.buffer + e.l1_bytes,
                               .texture = 0,
                               .other_bytes = e.other_bytes,
                               .results = *scratch + k_results_offset,
                               .sink = *scratch + k_sink_offset,
                               .hops = static_cast<unsigned>(e.l1_bytes / k_line_bytes),
                               .reserved = 0};
  std::optional<Texture> texture;
  if (e.kind == MemoryKind::texture) {
    auto made = Texture::over(r.driver, parameters.other, e.other_bytes);
    if (!made) return tl::unexpected(made.error());
    parameters.texture = texture.emplace(std::move(*made)).object();
  }
  const auto kernel = fmt::format("sharing_{}", to_string(e.kind));
  if (auto set = r.launcher.prefer_carveout(ModuleId::memories, kernel, 0); !set) return tl::unexpected(set.error());
  StorageSharingSamples samples;
  samples.hops = parameters.hops;
  for (std::uint32_t turn = 0; turn < e.repetitions; ++turn) {
    if (r.cancelled()) return fail(ErrorKind::interrupted, "interrupted");
    if (auto emptied = empty_l1(*scratch, r); !emptied) return tl::unexpected(emptied.error());
    if (auto clear =
            driver_done(r.driver, r.driver.memset_d8(*scratch, 0, k_results_offset + 16), "cannot clear device memory");
        !clear)
      return tl::unexpected(clear.error());
    if (auto run = r.launcher.launch(ModuleId::memories, kernel, {1, 32, 0}, parameters); !run)
      return tl::unexpected(run.error());
    if (auto run = r.launcher.wait(kernel); !run) return tl::unexpected(run.error());
    std::uint64_t cycles[2] = {};
    if (auto read = driver_done(r.driver, r.driver.memcpy_dtoh(cycles, parameters.results, sizeof cycles),
                                "cannot read the cycles of a lap");
        !read)
      return tl::unexpected(read.error());
    samples.before_cycles.push_back(cycles[0]);
    samples.after_cycles.push_back(cycles[1]);
  }
  return samples;
}

Result<ClusterSamples> run_cluster(const ClusterExperiment& e, const ChaseResources& r) {
  if (r.cancelled()) return fail(ErrorKind::interrupted, "interrupted");
  const std::size_t cells = std::size_t{e.blocks} * e.blocks;
  const std::size_t bytes = k_results_offset + 4 * (cells + e.blocks);
  const auto scratch = r.scratch.at_least(bytes, k_limit_bytes);
  if (!scratch) return tl::unexpected(scratch.error());
  if (auto clear = driver_done(r.driver, r.driver.memset_d8(*scratch, 0, bytes), "cannot clear device memory"); !clear)
    return tl::unexpected(clear.error());
  const ClusterParameters parameters{.cycles = *scratch + k_results_offset,
                                     .sms = *scratch + k_results_offset + 4 * cells,
                                     .sink = *scratch + k_sink_offset,
                                     .blocks = e.blocks,
                                     .hops = e.hops};
  // More than half of an SM's shared memory, so that an SM holds one block.
  const auto shared = r.device.nominal.shared_per_sm_bytes / 2 + 1024;
  const std::string kernel = "cluster_latency";
  const LaunchShape shape{e.blocks, 32, static_cast<unsigned>(shared)};
  if (auto run = r.launcher.launch_cluster(ModuleId::cluster, kernel, shape, parameters); !run) {
    auto error = run.error();
    error.kind = ErrorKind::unsupported;  // too few SMs together, for one
    return tl::unexpected(std::move(error));
  }
  if (auto run = r.launcher.wait(kernel); !run) return tl::unexpected(run.error());
  std::vector<std::uint32_t> words(cells + e.blocks);
  if (auto read = driver_done(r.driver, r.driver.memcpy_dtoh(words.data(), parameters.cycles, 4 * words.size()),
                              "cannot read the latencies of a cluster");
      !read)
    return tl::unexpected(read.error());
  ClusterSamples samples;
  for (std::size_t i = 0; i < cells; ++i) samples.cycles.push_back(static_cast<double>(words[i]) / e.hops);
  samples.sms.assign(words.end() - e.blocks, words.end());
  if (std::set<std::uint32_t>(samples.sms.begin(), samples.sms.end()).size() != e.blocks)
    return fail(ErrorKind::measurement,
                "blocks of the cluster ran on the same SM; other work on the device holds some");
  return samples;
}

}  // namespace gpusonde::cuda
