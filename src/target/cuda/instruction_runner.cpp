#include "target/cuda/instruction_runner.hpp"

#include <algorithm>
#include <array>

#include "target/cuda/instruction_ptx.hpp"

namespace gpusonde::cuda {
namespace {

constexpr std::size_t k_limit_bytes = std::size_t{1} << 30;
constexpr std::size_t k_sink_offset = 0;
constexpr std::size_t k_operands_offset = 256;
constexpr std::size_t k_results_offset = 4096;
constexpr std::uint32_t k_lanes = 32;
// A few hundred operations: enough to divide by, and few enough for the innermost instruction cache.
constexpr std::uint32_t k_short_operations = 96;
constexpr std::uint32_t k_longest_short = 32;

class InstructionRun {
 public:
  InstructionRun(const InstructionExperiment& e, const ChaseResources& r)
      : m_e(e), m_r(r), m_module(instruction_module_name(e.operation, e.chains)) {
    m_samples.short_length = std::min(k_longest_short, k_short_operations / e.chains);
    m_samples.long_length = 3 * m_samples.short_length;
  }

  Result<InstructionSamples> run() {
    if (auto r = prepare(); !r) return tl::unexpected(r.error());
    auto cycles = time("_short");
    if (!cycles) return tl::unexpected(cycles.error());
    m_samples.short_cycles = std::move(*cycles);
    cycles = time("_long");
    if (!cycles) return tl::unexpected(cycles.error());
    m_samples.long_cycles = std::move(*cycles);
    return std::move(m_samples);
  }

 private:
  Result<void> prepare() {
    const auto scratch = m_r.scratch.at_least(k_results_offset + 8 * turns(), k_limit_bytes);
    if (!scratch) return tl::unexpected(scratch.error());
    m_scratch = *scratch;
    std::array<InstructionOperands, k_lanes> operands{};
    operands.fill(instruction_operands(m_e.operation));
    if (auto r = driver_done(m_r.driver,
                             m_r.driver.memcpy_htod(m_scratch + k_operands_offset, operands.data(), sizeof operands),
                             "cannot copy operands to the GPU");
        !r)
      return r;
    return m_r.launcher.compile(m_module, [&] {
      return instruction_ptx(m_e.operation, m_e.chains, static_cast<std::uint32_t>(m_samples.short_length),
                             static_cast<std::uint32_t>(m_samples.long_length));
    });
  }

  /// The first turn, which fetches the code, is not kept.
  [[nodiscard]] std::size_t turns() const { return std::size_t{m_e.repetitions} + 1; }

  Result<std::vector<std::uint64_t>> time(const char* length) {
    if (auto r = driver_done(m_r.driver, m_r.driver.memset_d8(m_scratch + k_results_offset, 0, 8 * turns()),
                             "cannot clear device memory");
        !r)
      return tl::unexpected(r.error());
    const InstructionParameters parameters{m_scratch + k_results_offset, m_scratch + k_operands_offset,
                                           m_scratch + k_sink_offset, static_cast<unsigned>(turns()), 0};
    const auto kernel = m_module + length;
    if (auto r = m_r.launcher.launch_made(m_module, kernel, {1, k_lanes, 0}, parameters); !r)
      return tl::unexpected(r.error());
    if (auto r = m_r.launcher.wait(kernel); !r) return tl::unexpected(r.error());
    std::vector<std::uint64_t> cycles(turns());
    if (auto r = driver_done(m_r.driver,
                             m_r.driver.memcpy_dtoh(cycles.data(), m_scratch + k_results_offset, 8 * cycles.size()),
                             "cannot read the cycles of operations");
        !r)
      return tl::unexpected(r.error());
    cycles.erase(cycles.begin());
    return cycles;
  }

  const InstructionExperiment& m_e;
  const ChaseResources& m_r;
  std::string m_module;
  DevicePointer m_scratch = 0;
  InstructionSamples m_samples;
};

}  // namespace

Result<InstructionSamples> run_instruction(const InstructionExperiment& experiment, const ChaseResources& resources) {
  return InstructionRun(experiment, resources).run();
}

}  // namespace gpusonde::cuda
