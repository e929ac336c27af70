#include "target/cuda/clock_control.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>

namespace gpusonde::cuda {
namespace {

constexpr const char* k_need_root = "locking and unlocking clocks needs root; run it again with sudo, or see --dry-run";

// All clocks of a supported-clocks query; empty when the card does not list them.
template <class Getter>
std::vector<unsigned> list_of(Getter&& getter) {
  unsigned count = 0;
  std::vector<unsigned> clocks;
  const auto result = getter(&count, nullptr);
  if (result != k_nvml_success && result != k_nvml_insufficient_size) return clocks;
  clocks.resize(count);
  if (count == 0 || getter(&count, clocks.data()) != k_nvml_success) return {};
  clocks.resize(count);
  return clocks;
}

std::vector<unsigned> memory_clocks(const NvmlTable& nvml, NvmlDevice device) {
  if (nvml.supported_memory_clocks == nullptr) return {};
  return list_of([&](unsigned* count, unsigned* mhz) { return nvml.supported_memory_clocks(device, count, mhz); });
}

// At the memory clock that will be in force: the one asked for, else the highest.
std::vector<unsigned> sm_clocks(const NvmlTable& nvml, NvmlDevice device, std::uint32_t memory_mhz) {
  if (nvml.supported_graphics_clocks == nullptr) return {};
  const auto memory = memory_clocks(nvml, device);
  if (memory.empty()) return {};
  const bool listed = std::find(memory.begin(), memory.end(), memory_mhz) != memory.end();
  const unsigned at = listed ? memory_mhz : *std::max_element(memory.begin(), memory.end());
  return list_of(
      [&](unsigned* count, unsigned* mhz) { return nvml.supported_graphics_clocks(device, at, count, mhz); });
}

unsigned nearest(const std::vector<unsigned>& clocks, unsigned mhz) {
  return *std::min_element(clocks.begin(), clocks.end(), [&](unsigned a, unsigned b) {
    const auto distance = [&](unsigned c) { return c > mhz ? c - mhz : mhz - c; };
    return distance(a) < distance(b);
  });
}

// An empty list says nothing, so anything passes.
Result<void> must_be_listed(const std::vector<unsigned>& clocks, unsigned mhz, const char* option) {
  if (clocks.empty() || std::find(clocks.begin(), clocks.end(), mhz) != clocks.end()) return {};
  return fail(ErrorKind::usage,
              fmt::format("this GPU has no clock of {} MHz for {}; the nearest is {} ({} to {})", mhz, option,
                          nearest(clocks, mhz), *std::min_element(clocks.begin(), clocks.end()),
                          *std::max_element(clocks.begin(), clocks.end())));
}

Error refused(const NvmlTable& nvml, NvmlResult result, const std::string& doing) {
  if (result == k_nvml_no_permission) return {ErrorKind::usage, k_need_root};
  return {result == k_nvml_not_supported ? ErrorKind::unsupported : ErrorKind::measurement,
          fmt::format("this GPU's driver refuses to {} ({})", doing, nvml_text(nvml, result))};
}

// One thing done to one clock: `lock` or `unlock`, and to what.
struct Step {
  std::string verb;
  std::string rest;
  [[nodiscard]] std::string to_do() const { return verb + " " + rest; }
};

// Notes a step that was done, or with dry_run would be. Returns NVML's answer.
NvmlResult note(ClockChange& change, bool dry_run, const Step& step, NvmlResult result) {
  if (result == k_nvml_success)
    change.steps.push_back(dry_run ? "would " + step.to_do() : fmt::format("{}ed {}", step.verb, step.rest));
  return result;
}

}  // namespace

Result<ClockChange> lock_clocks(const NvmlTable& nvml, NvmlDevice device, const ClockRequest& request) {
  const auto& [sm_mhz, memory_mhz, dry_run, is_root] = request;
  if (sm_mhz == 0) return fail(ErrorKind::usage, "an SM clock of 0 MHz; give --sm MHZ");
  if (auto r = must_be_listed(sm_clocks(nvml, device, memory_mhz), sm_mhz, "--sm"); !r)
    return tl::unexpected(r.error());
  if (memory_mhz != 0) {
    if (auto r = must_be_listed(memory_clocks(nvml, device), memory_mhz, "--mem"); !r) return tl::unexpected(r.error());
  }
  if (!dry_run && !is_root) return fail(ErrorKind::usage, k_need_root);
  if (nvml.lock_gpu_clocks == nullptr)
    return fail(ErrorKind::unsupported, "this NVIDIA driver cannot lock clocks; install one of 418 or later");

  ClockChange change;
  const Step lock_sm{"lock", fmt::format("the SM clock to {} MHz", sm_mhz)};
  if (const auto result =
          note(change, dry_run, lock_sm, dry_run ? k_nvml_success : nvml.lock_gpu_clocks(device, sm_mhz, sm_mhz));
      result != k_nvml_success)
    return tl::unexpected(refused(nvml, result, lock_sm.to_do()));
  if (memory_mhz == 0) return change;
  const Step lock_memory{"lock", fmt::format("the memory clock to {} MHz", memory_mhz)};
  NvmlResult result = k_nvml_not_supported;
  if (nvml.lock_memory_clocks != nullptr)
    result = dry_run ? k_nvml_success : nvml.lock_memory_clocks(device, memory_mhz, memory_mhz);
  if (note(change, dry_run, lock_memory, result) != k_nvml_success)
    change.warnings.push_back(fmt::format("the driver refuses to {} ({}); the SM clock stays locked",
                                          lock_memory.to_do(), nvml_text(nvml, result)));
  return change;
}

Result<ClockChange> unlock_clocks(const NvmlTable& nvml, NvmlDevice device, bool dry_run, bool is_root) {
  if (!dry_run && !is_root) return fail(ErrorKind::usage, k_need_root);
  if (nvml.reset_gpu_clocks == nullptr)
    return fail(ErrorKind::unsupported, "this NVIDIA driver cannot lock clocks; install one of 418 or later");
  ClockChange change;
  const Step unlock_sm{"unlock", "the SM clock"};
  if (const auto result = note(change, dry_run, unlock_sm, dry_run ? k_nvml_success : nvml.reset_gpu_clocks(device));
      result != k_nvml_success)
    return tl::unexpected(refused(nvml, result, unlock_sm.to_do()));
  const Step unlock_memory{"unlock", "the memory clock"};
  NvmlResult result = k_nvml_not_supported;
  if (nvml.reset_memory_clocks != nullptr) result = dry_run ? k_nvml_success : nvml.reset_memory_clocks(device);
  if (note(change, dry_run, unlock_memory, result) != k_nvml_success)
    change.warnings.push_back(
        fmt::format("the driver refuses to {} ({})", unlock_memory.to_do(), nvml_text(nvml, result)));
  return change;
}

}  // namespace gpusonde::cuda
