#include "target/cuda/sequence_runner.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>

namespace gpusonde::cuda {
namespace {

constexpr std::size_t k_lists_limit_bytes = std::size_t{1} << 30;
constexpr std::size_t k_scratch_limit_bytes = std::size_t{1} << 30;
// Of the scratch memory: a counter and the sink, a word an SM, the readings.
constexpr std::size_t k_claimed_offset = 0;
constexpr std::size_t k_sink_offset = 8;
constexpr std::size_t k_taken_offset = 64;
constexpr std::size_t k_taken_bytes = 4096;
constexpr std::size_t k_readings_offset = k_taken_offset + k_taken_bytes;

// What loads cost at the worst, DRAM's latency and the list's own, to keep launches short.
constexpr std::uint64_t k_walk_cycles = 2000;
constexpr std::uint64_t k_touch_cycles = 1000;  // of four loads of each thread at a time
constexpr std::uint64_t k_launch_cycles = 300'000'000;

std::size_t aligned(std::size_t bytes) { return (bytes + 63) / 64 * 64; }

// What later chips add sits in a module of its own.
bool needs_l2_module(const SequenceExperiment& e) {
  return e.prefetch_bytes != 0 || std::any_of(e.steps.begin(), e.steps.end(),
                                              [](const SequenceStep& step) { return step.kind == StepKind::drop; });
}

std::string kernel_name(const SequenceExperiment& e) {
  if (needs_l2_module(e)) return fmt::format("sequence_cg_{}", e.prefetch_bytes);
  return fmt::format("sequence_{}", to_string(e.path));
}

// The driver's limit of L2 fetches, put back when this goes.
class FetchLimit {
 public:
  explicit FetchLimit(const DriverTable& driver) : m_driver(driver) {}
  FetchLimit(const FetchLimit&) = delete;
  FetchLimit& operator=(const FetchLimit&) = delete;
  ~FetchLimit() {
    if (m_is_set) m_driver.ctx_set_limit(k_l2_fetch_limit, m_before);
  }

  Result<void> set(std::size_t bytes) {
    auto result = m_driver.ctx_get_limit(&m_before, k_l2_fetch_limit);
    if (result == k_success) result = m_driver.ctx_set_limit(k_l2_fetch_limit, bytes);
    if (result != k_success)
      return tl::unexpected(driver_error(m_driver, result, "cannot set the limit of L2 fetches"));
    m_is_set = true;
    return {};
  }

 private:
  const DriverTable& m_driver;
  std::size_t m_before = 0;
  bool m_is_set = false;
};

class SequenceRun {
 public:
  SequenceRun(const SequenceExperiment& e, const ListResources& list, const ChaseResources& r)
      : m_e(e),
        m_list(list),
        m_r(r),
        m_module(needs_l2_module(e) ? ModuleId::sequence_l2 : ModuleId::sequence),
        m_kernel(kernel_name(e)) {}

  Result<SequenceSamples> run() {
    if (auto r = check_split(m_e.split); !r) return tl::unexpected(r.error());
    if (m_e.sm && *m_e.sm >= m_r.device.sm_count)
      return fail(ErrorKind::usage,
                  fmt::format("there is no SM {}: this GPU has {}, counted from 0", *m_e.sm, m_r.device.sm_count));
    const bool aliased = m_e.region == Region::aliases;
    if (aliased) {
      if (auto r = m_list.aliases.map(m_e.places); !r) return tl::unexpected(r.error());
    }
    m_samples.base_address = aliased ? m_list.aliases.base() : m_r.buffer;
    m_shape.threads = m_e.split.block_threads;
    const auto shared = apply_split(m_module, m_kernel, m_shape, m_e.split.carveout_percent, m_r);
    if (!shared) return tl::unexpected(shared.error());
    m_samples.shared_config_bytes = *shared;
    describe_tests();
    if (auto r = copy_lists(); !r) return tl::unexpected(r.error());
    FetchLimit limit(m_r.driver);
    if (m_e.fetch_limit_bytes != 0) {
      if (auto r = limit.set(m_e.fetch_limit_bytes); !r) return tl::unexpected(r.error());
    }
    if (auto r = launch_all(); !r) return tl::unexpected(r.error());
    m_samples.cycles.resize(m_readings);
    if (m_readings != 0) {
      if (auto r = read(m_samples.cycles.data(), k_readings_offset, 4 * m_readings); !r)
        return tl::unexpected(r.error());
    }
    if (m_e.stamps && m_readings != 0) {
      m_samples.starts.resize(m_readings);
      if (auto r = read(m_samples.starts.data(), k_readings_offset + 4 * m_readings, 4 * m_readings); !r)
        return tl::unexpected(r.error());
    }
    return std::move(m_samples);
  }

 private:
  void describe_tests() {
    const auto steps = static_cast<unsigned>(m_e.steps.size());
    for (std::size_t i = 0; i < m_e.tests.size(); ++i) {
      const unsigned end = i + 1 == m_e.tests.size() ? steps : m_e.tests[i + 1];
      m_tests.push_back({m_e.tests[i], end, static_cast<unsigned>(m_readings), 0});
      std::uint64_t cycles = 0;
      for (unsigned k = m_e.tests[i]; k < end; ++k) {
        const auto& step = m_e.steps[k];
        const std::uint64_t loads = std::uint64_t{step.count} * step.times;
        if (step.kind == StepKind::time) m_readings += loads;
        if (step.kind == StepKind::gather) m_readings += step.times;
        cycles += step.kind == StepKind::touch ? (loads / (4 * m_e.split.block_threads) + step.times) * k_touch_cycles
                                               : loads * k_walk_cycles;
      }
      m_test_cycles.push_back(cycles);
    }
  }

  [[nodiscard]] std::size_t readings_bytes() const { return (m_e.stamps ? 8 : 4) * m_readings; }

  Result<void> copy_lists() {
    std::vector<SequenceStepWords> steps;
    for (const auto& step : m_e.steps)
      steps.push_back({static_cast<unsigned>(step.kind), step.first, step.count, step.times});
    const std::size_t places_bytes = 8 * m_e.places.size();
    const std::size_t steps_bytes = sizeof(SequenceStepWords) * steps.size();
    const std::size_t tests_bytes = sizeof(SequenceTestWords) * m_tests.size();
    const auto lists =
        m_list.places.at_least(aligned(places_bytes) + aligned(steps_bytes) + tests_bytes, k_lists_limit_bytes);
    if (!lists) return tl::unexpected(lists.error());
    const auto scratch = m_r.scratch.at_least(k_readings_offset + readings_bytes(), k_scratch_limit_bytes);
    if (!scratch) return tl::unexpected(scratch.error());
    m_scratch = *scratch;
    m_parameters.base = m_samples.base_address;
    m_parameters.places = *lists;
    m_parameters.steps = *lists + aligned(places_bytes);
    m_parameters.tests = m_parameters.steps + aligned(steps_bytes);
    m_parameters.claimed = m_scratch + k_claimed_offset;
    m_parameters.sink = m_scratch + k_sink_offset;
    m_parameters.taken = m_scratch + k_taken_offset;
    m_parameters.readings = m_scratch + k_readings_offset;
    m_parameters.starts = m_e.stamps ? m_parameters.readings + 4 * m_readings : 0;
    m_parameters.lane_bytes = m_e.lane_bytes;
    if (auto r = copy(m_parameters.places, m_e.places.data(), places_bytes); !r) return r;
    if (auto r = copy(m_parameters.steps, steps.data(), steps_bytes); !r) return r;
    if (auto r = copy(m_parameters.tests, m_tests.data(), tests_bytes); !r) return r;
    return clear(k_readings_offset, readings_bytes());
  }

  // L2 differs from SM to SM, so tests that follow each other stay on one.
  Result<void> launch_all() {
    const unsigned sms = m_r.device.sm_count;
    const bool spread = m_e.at_once && !m_e.sm;
    m_parameters.sm = spread ? k_any_sm : m_e.sm.value_or(0);
    const std::uint64_t most_cycles = spread ? k_launch_cycles * sms / 2 : k_launch_cycles;
    const auto tests = static_cast<unsigned>(m_tests.size());
    for (unsigned first = 0; first < tests;) {
      if (m_r.cancelled()) return fail(ErrorKind::interrupted, "interrupted");
      std::uint64_t cycles = m_test_cycles[first];
      unsigned end = first + 1;
      while (end < tests && cycles + m_test_cycles[end] <= most_cycles) cycles += m_test_cycles[end++];
      m_parameters.first_test = first;
      m_parameters.end_test = end;
      if (auto r = launch(spread ? std::min(sms, end - first) : 4 * sms); !r) return r;
      first = end;
    }
    return {};
  }

  // Again until a block came to run on the wanted SM: all blocks of one grid may be gone before one is put there.
  Result<void> launch(unsigned blocks) {
    if (auto r = clear(0, k_readings_offset); !r) return r;
    m_shape.blocks = blocks;
    for (int attempt = 0; attempt < 4; ++attempt, m_shape.blocks *= 4) {
      if (auto r = m_r.launcher.launch(m_module, m_kernel, m_shape, m_parameters); !r) return r;
      if (auto r = m_r.launcher.wait(m_kernel); !r) return r;
      unsigned claimed = 0;
      if (auto r = read(&claimed, k_claimed_offset, sizeof claimed); !r) return r;
      if (claimed != 0) return {};
    }
    return fail(ErrorKind::measurement,
                fmt::format("no block of kernel {} came to run on SM {}", m_kernel, m_parameters.sm));
  }

  Result<void> copy(DevicePointer to, const void* from, std::size_t bytes) {
    if (bytes == 0) return {};
    if (const auto result = m_r.driver.memcpy_htod(to, from, bytes); result != k_success)
      return tl::unexpected(driver_error(m_r.driver, result, "cannot copy a sequence to the GPU"));
    return {};
  }
  Result<void> clear(std::size_t offset, std::size_t bytes) {
    if (bytes == 0) return {};
    if (const auto result = m_r.driver.memset_d8(m_scratch + offset, 0, bytes); result != k_success)
      return tl::unexpected(driver_error(m_r.driver, result, "cannot clear device memory"));
    return {};
  }
  Result<void> read(void* host, std::size_t offset, std::size_t bytes) {
    if (const auto result = m_r.driver.memcpy_dtoh(host, m_scratch + offset, bytes); result != k_success)
      return tl::unexpected(
          driver_error(m_r.driver, result, fmt::format("cannot read the results of kernel {}", m_kernel)));
    return {};
  }

  const SequenceExperiment& m_e;
  const ListResources& m_list;
  const ChaseResources& m_r;
  ModuleId m_module;
  std::string m_kernel;
  LaunchShape m_shape;
  DevicePointer m_scratch = 0;
  SequenceParameters m_parameters{};
  std::vector<SequenceTestWords> m_tests;
  std::vector<std::uint64_t> m_test_cycles;
  std::size_t m_readings = 0;
  SequenceSamples m_samples;
};

}  // namespace

Result<SequenceSamples> run_sequence(const SequenceExperiment& experiment, const ListResources& list,
                                     const ChaseResources& resources) {
  return SequenceRun(experiment, list, resources).run();
}

}  // namespace gpusonde::cuda
