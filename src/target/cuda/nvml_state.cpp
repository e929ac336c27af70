#include "target/cuda/nvml_state.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <array>

namespace gpusonde::cuda {
namespace {

// Bits of nvmlClocksThrottleReasons, nvml.h.
struct ReasonName {
  unsigned long long bit;
  const char* name;
};
constexpr std::array k_reasons{ReasonName{0x1, "gpu_idle"},
                               ReasonName{0x2, "applications_clocks_setting"},
                               ReasonName{0x4, "sw_power_cap"},
                               ReasonName{0x8, "hw_slowdown"},
                               ReasonName{0x10, "sync_boost"},
                               ReasonName{0x20, "sw_thermal_slowdown"},
                               ReasonName{0x40, "hw_thermal_slowdown"},
                               ReasonName{0x80, "hw_power_brake_slowdown"},
                               ReasonName{0x100, "display_clock_setting"}};

/// The value of a getter with one result; 0 when it is absent or refuses.
template <class Getter, class... Arguments>
unsigned value_of(Getter getter, Arguments... arguments) {
  unsigned value = 0;
  if (getter == nullptr || getter(arguments..., &value) != k_nvml_success) return 0;
  return value;
}

std::string on_or_off(NvmlResult (*getter)(NvmlDevice, unsigned*, unsigned*), NvmlDevice device) {
  unsigned current = 0;
  unsigned pending = 0;
  if (getter == nullptr || getter(device, &current, &pending) != k_nvml_success) return {};
  return current != 0 ? "on" : "off";
}

// Inside a container the pid that NVML reports may be another than ours; the count is then one too high.
std::uint32_t other_processes(const NvmlTable& nvml, NvmlDevice device) {
  if (nvml.compute_processes == nullptr) return 0;
  std::array<NvmlProcess, 256> processes{};
  unsigned count = processes.size();
  const auto result = nvml.compute_processes(device, &count, processes.data());
  if (result == k_nvml_insufficient_size) return count;
  if (result != k_nvml_success) return 0;
  const auto self = static_cast<unsigned>(getpid());
  return static_cast<std::uint32_t>(std::count_if(processes.begin(), processes.begin() + count,
                                                  [&](const NvmlProcess& process) { return process.pid != self; }));
}

std::vector<std::string> reasons_now(const NvmlTable& nvml, NvmlDevice device) {
  unsigned long long bits = 0;
  if (nvml.throttle_reasons == nullptr || nvml.throttle_reasons(device, &bits) != k_nvml_success) return {};
  return throttle_reason_names(bits);
}

}  // namespace

std::vector<std::string> throttle_reason_names(unsigned long long bits) {
  std::vector<std::string> names;
  for (const auto& [bit, name] : k_reasons) {
    if ((bits & bit) != 0) names.emplace_back(name);
    bits &= ~bit;
  }
  if (bits != 0) names.push_back(fmt::format("unknown_{:#x}", bits));
  return names;
}

ClockState clock_state(const NvmlTable& nvml, NvmlDevice device) {
  return {value_of(nvml.clock, device, NvmlClock::sm), value_of(nvml.clock, device, NvmlClock::memory),
          reasons_now(nvml, device)};
}

void fill_environment(const NvmlTable& nvml, NvmlDevice device, Environment& environment) {
  std::array<char, 128> version{};
  if (nvml.driver_version != nullptr && nvml.driver_version(version.data(), version.size() - 1) == k_nvml_success)
    environment.driver_version = version.data();
  environment.ecc = on_or_off(nvml.ecc_mode, device);
  environment.mig = on_or_off(nvml.mig_mode, device);
  environment.other_processes = other_processes(nvml, device);
  environment.clocks = clock_state(nvml, device);
}

void fill_snapshot(const NvmlTable& nvml, NvmlDevice device, ClockSnapshot& snapshot) {
  snapshot.sm_mhz = value_of(nvml.clock, device, NvmlClock::sm);
  snapshot.graphics_mhz = value_of(nvml.clock, device, NvmlClock::graphics);
  snapshot.memory_mhz = value_of(nvml.clock, device, NvmlClock::memory);
  snapshot.sm_max_mhz = value_of(nvml.max_clock, device, NvmlClock::sm);
  snapshot.graphics_max_mhz = value_of(nvml.max_clock, device, NvmlClock::graphics);
  snapshot.memory_max_mhz = value_of(nvml.max_clock, device, NvmlClock::memory);
  unsigned state = 0;
  if (nvml.performance_state != nullptr && nvml.performance_state(device, &state) == k_nvml_success && state <= 15)
    snapshot.pstate = fmt::format("P{}", state);
  snapshot.temperature_c = value_of(nvml.temperature, device, 0);
  snapshot.power_w = value_of(nvml.power_usage, device) / 1000.0;
  snapshot.power_limit_w = value_of(nvml.power_limit, device) / 1000.0;
  NvmlUtilization utilization;
  if (nvml.utilization != nullptr && nvml.utilization(device, &utilization) == k_nvml_success) {
    snapshot.gpu_utilization_percent = utilization.gpu_percent;
    snapshot.memory_utilization_percent = utilization.memory_percent;
  }
  snapshot.throttle_reasons = reasons_now(nvml, device);
}

}  // namespace gpusonde::cuda
