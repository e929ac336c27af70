#include "target/cuda/line_map_runner.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>

namespace gpusonde::cuda {
namespace {

constexpr std::size_t k_limit_bytes = std::size_t{1} << 30;
constexpr std::size_t k_sink_offset = 0;
constexpr std::size_t k_done_offset = 8;
constexpr std::size_t k_turns_offset = 64;
constexpr std::size_t k_sm_words_bytes = 4096;
constexpr std::size_t k_taken_offset = k_turns_offset + k_sm_words_bytes;
constexpr std::size_t k_output_offset = k_taken_offset + k_sm_words_bytes;

constexpr std::uint64_t k_access_cycles = 500;  // of a far atomic, to keep launches short
constexpr std::uint64_t k_launch_cycles = 300'000'000;

/// Copies, clears and reads, with the words for what fails.
class Memory {
 public:
  explicit Memory(const DriverTable& driver) : m_driver(driver) {}
  Result<void> copy(DevicePointer to, const void* from, std::size_t bytes) {
    return driver_done(m_driver, m_driver.memcpy_htod(to, from, bytes), "cannot copy a list of lines to the GPU");
  }
  Result<void> clear(DevicePointer to, std::size_t bytes) {
    return driver_done(m_driver, m_driver.memset_d8(to, 0, bytes), "cannot clear device memory");
  }
  Result<void> read(void* host, DevicePointer from, std::size_t bytes) {
    return driver_done(m_driver, m_driver.memcpy_dtoh(host, from, bytes), "cannot read the latencies of lines");
  }

 private:
  const DriverTable& m_driver;
};

class MapRun {
 public:
  MapRun(const LineMapExperiment& e, GrownMemory& lists, const ChaseResources& r)
      : m_e(e), m_lists(lists), m_r(r), m_memory(r.driver) {
    m_samples.sms = e.sms;
    if (m_samples.sms.empty()) {
      m_samples.sms.resize(r.device.sm_count);
      std::iota(m_samples.sms.begin(), m_samples.sms.end(), 0U);
    }
    std::sort(m_samples.sms.begin(), m_samples.sms.end());
    m_samples.base_address = r.buffer;
  }

  Result<LineMapSamples> run() {
    if (auto r = prepare(); !r) return tl::unexpected(r.error());
    const std::size_t places = m_e.places.size();
    const std::uint64_t waves = (m_samples.sms.size() + m_parameters.at_once - 1) / m_parameters.at_once;
    const std::uint64_t line_cycles = (2 + m_e.hops * m_e.repetitions) * k_access_cycles;
    const auto most = std::max<std::uint64_t>(m_parameters.at_once, k_launch_cycles / (waves * line_cycles));
    for (std::size_t first = 0; first < places; first += most) {
      if (m_r.cancelled()) return fail(ErrorKind::interrupted, "interrupted");
      m_parameters.first_place = static_cast<unsigned>(first);
      m_parameters.end_place = static_cast<unsigned>(std::min<std::size_t>(places, first + most));
      if (auto r = launch(); !r) return tl::unexpected(r.error());
    }
    m_samples.eighth_cycles.resize(places * m_samples.sms.size());
    if (auto r = m_memory.read(m_samples.eighth_cycles.data(), m_scratch + k_output_offset,
                               2 * m_samples.eighth_cycles.size());
        !r)
      return tl::unexpected(r.error());
    return std::move(m_samples);
  }

 private:
  Result<void> prepare() {
    const std::size_t places = m_e.places.size();
    const auto lists = m_lists.at_least(8 * places, k_limit_bytes);
    if (!lists) return tl::unexpected(lists.error());
    const auto scratch = m_r.scratch.at_least(k_output_offset + 2 * places * m_samples.sms.size(), k_limit_bytes);
    if (!scratch) return tl::unexpected(scratch.error());
    m_scratch = *scratch;
    if (auto r = m_memory.copy(*lists, m_e.places.data(), 8 * places); !r) return r;
    std::vector<unsigned> turns(k_sm_words_bytes / 4, k_any_sm);
    for (std::size_t i = 0; i < m_samples.sms.size(); ++i) turns[m_samples.sms[i]] = static_cast<unsigned>(i);
    if (auto r = m_memory.copy(m_scratch + k_turns_offset, turns.data(), k_sm_words_bytes); !r) return r;
    m_parameters = {.base = m_r.buffer,
                    .places = *lists,
                    .turns = m_scratch + k_turns_offset,
                    .taken = m_scratch + k_taken_offset,
                    .done = m_scratch + k_done_offset,
                    .output = m_scratch + k_output_offset,
                    .sink = m_scratch + k_sink_offset,
                    .place_count = static_cast<unsigned>(places),
                    .first_place = 0,
                    .end_place = 0,
                    .hops = m_e.hops,
                    .repetitions = m_e.repetitions,
                    .at_once = static_cast<unsigned>(std::min<std::size_t>(m_e.sms_at_once, m_samples.sms.size()))};
    const LinkSelfParameters link{m_r.buffer, *lists, places};
    return m_r.launcher.launch(ModuleId::line_map, "link_self", link_shape(places), link);
  }

  // Blocks so large in shared memory that an SM holds one, as many as there are SMs: all are resident at once, and
  // each SM has one.
  Result<void> launch() {
    if (auto r = m_memory.clear(m_scratch + k_done_offset, 8); !r) return r;
    if (auto r = m_memory.clear(m_scratch + k_taken_offset, k_sm_words_bytes); !r) return r;
    const std::string kernel = m_e.operation == LineOperation::atomic ? "line_map_atomic" : "line_map_load";
    const auto shared = m_r.device.nominal.shared_per_block_bytes;
    const LaunchShape shape{m_r.device.sm_count, 32, static_cast<unsigned>(shared)};
    if (auto r = m_r.launcher.launch(ModuleId::line_map, kernel, shape, m_parameters); !r) return r;
    if (auto r = m_r.launcher.wait(kernel); !r) return r;
    unsigned done = 0;
    if (auto r = m_memory.read(&done, m_parameters.done, sizeof done); !r) return r;
    if (done == m_samples.sms.size()) return {};
    return fail(ErrorKind::measurement,
                fmt::format("only {} of {} SMs came to measure; other work on the device holds them", done,
                            m_samples.sms.size()));
  }

  const LineMapExperiment& m_e;
  GrownMemory& m_lists;
  const ChaseResources& m_r;
  Memory m_memory;
  DevicePointer m_scratch = 0;
  LineMapParameters m_parameters{};
  LineMapSamples m_samples;
};

}  // namespace

Result<LineMapSamples> run_line_map(const LineMapExperiment& experiment, GrownMemory& lists,
                                    const ChaseResources& resources) {
  return MapRun(experiment, lists, resources).run();
}

Result<ThroughputSamples> run_throughput(const ThroughputExperiment& e, GrownMemory& lists, const ChaseResources& r) {
  Memory memory(r.driver);
  const auto list = lists.at_least(8 * e.places.size(), k_limit_bytes);
  if (!list) return tl::unexpected(list.error());
  const auto scratch = r.scratch.at_least(k_output_offset, k_limit_bytes);
  if (!scratch) return tl::unexpected(scratch.error());
  if (auto done = memory.copy(*list, e.places.data(), 8 * e.places.size()); !done) return tl::unexpected(done.error());
  if (auto done = memory.clear(*scratch, 64); !done) return tl::unexpected(done.error());
  const unsigned sms = e.sms == 0 ? r.device.sm_count : e.sms;
  const unsigned loads = (e.loads_a_lane + 3) / 4 * 4;
  const ThroughputParameters parameters{
      r.buffer, *list, *scratch + 8, *scratch + 16, *scratch, static_cast<unsigned>(e.places.size()), loads};
  // More than half of an SM's shared memory, so that an SM holds one block.
  const auto shared = std::max<std::uint64_t>(8 * e.places.size(), r.device.nominal.shared_per_sm_bytes / 2 + 1024);
  const LaunchShape shape{sms, e.threads_per_sm, static_cast<unsigned>(shared)};
  // The first time brings the lines into L2.
  for (int turn = 0; turn < 2; ++turn) {
    if (r.cancelled()) return fail(ErrorKind::interrupted, "interrupted");
    if (auto done = memory.clear(*scratch, 64); !done) return tl::unexpected(done.error());
    if (auto done = r.launcher.launch(ModuleId::line_map, "throughput", shape, parameters); !done)
      return tl::unexpected(done.error());
    if (auto done = r.launcher.wait("throughput"); !done) return tl::unexpected(done.error());
  }
  std::uint64_t cycles = 0;
  if (auto done = memory.read(&cycles, parameters.cycles, sizeof cycles); !done) return tl::unexpected(done.error());
  if (cycles == k_gave_up)
    return fail(ErrorKind::measurement, "not all SMs came to load at once; other work on the device holds some");
  return ThroughputSamples{std::uint64_t{sms} * e.threads_per_sm * loads, static_cast<double>(cycles), sms};
}

}  // namespace gpusonde::cuda
