// Clock control and state on a fake NVML.
#include "target/cuda/clock_control.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include <array>
#include <cstring>

#include "target/cuda/nvml_state.hpp"

namespace gpusonde::cuda {
namespace {

struct Calls {
  unsigned locked_sm = 0;
  unsigned locked_memory = 0;
  int resets = 0;
};
Calls g_calls;
NvmlResult g_memory_answer = k_nvml_success;
NvmlResult g_sm_answer = k_nvml_success;

NvmlResult list_clocks(const std::array<unsigned, 3>& all, unsigned* count, unsigned* mhz) {
  if (mhz == nullptr || *count < all.size()) {
    *count = 3;
    return k_nvml_insufficient_size;
  }
  std::copy(all.begin(), all.end(), mhz);
  *count = 3;
  return k_nvml_success;
}

NvmlTable fake_nvml() {
  g_calls = {};
  g_memory_answer = g_sm_answer = k_nvml_success;
  NvmlTable t;
  t.error_string = [](NvmlResult r) { return r == k_nvml_not_supported ? "Not Supported" : "Unknown Error"; };
  t.supported_memory_clocks = [](NvmlDevice, unsigned* count, unsigned* mhz) {
    return list_clocks({3201, 2619, 1593}, count, mhz);
  };
  t.supported_graphics_clocks = [](NvmlDevice, unsigned memory_mhz, unsigned* count, unsigned* mhz) {
    return memory_mhz == 1593 ? list_clocks({600, 500, 345}, count, mhz) : list_clocks({1980, 1965, 345}, count, mhz);
  };
  t.lock_gpu_clocks = [](NvmlDevice, unsigned low, unsigned high) {
    if (g_sm_answer == k_nvml_success && low == high) g_calls.locked_sm = low;
    return g_sm_answer;
  };
  t.lock_memory_clocks = [](NvmlDevice, unsigned low, unsigned high) {
    if (g_memory_answer == k_nvml_success && low == high) g_calls.locked_memory = low;
    return g_memory_answer;
  };
  t.reset_gpu_clocks = [](NvmlDevice) {
    ++g_calls.resets;
    return k_nvml_success;
  };
  t.reset_memory_clocks = [](NvmlDevice) {
    ++g_calls.resets;
    return g_memory_answer;
  };
  return t;
}

TEST(LockClocks, LocksBoth) {
  const auto nvml = fake_nvml();
  const auto change = lock_clocks(nvml, nullptr, {.sm_mhz = 1965, .memory_mhz = 3201, .is_root = true});
  ASSERT_TRUE(change.has_value());
  EXPECT_EQ(g_calls.locked_sm, 1965U);
  EXPECT_EQ(g_calls.locked_memory, 3201U);
  EXPECT_EQ(change->steps,
            (std::vector<std::string>{"locked the SM clock to 1965 MHz", "locked the memory clock to 3201 MHz"}));
  EXPECT_TRUE(change->warnings.empty());
}

TEST(LockClocks, ARefusedMemoryClockIsAWarning) {
  const auto nvml = fake_nvml();
  g_memory_answer = k_nvml_not_supported;
  const auto change = lock_clocks(nvml, nullptr, {.sm_mhz = 1965, .memory_mhz = 2619, .is_root = true});
  ASSERT_TRUE(change.has_value());
  EXPECT_EQ(g_calls.locked_sm, 1965U);
  ASSERT_EQ(change->warnings.size(), 1U);
  EXPECT_EQ(change->warnings[0],
            "the driver refuses to lock the memory clock to 2619 MHz (Not Supported); the SM clock stays locked");
}

TEST(LockClocks, NeedsRootAndSaysSo) {
  const auto nvml = fake_nvml();
  const auto change = lock_clocks(nvml, nullptr, {.sm_mhz = 1965});
  ASSERT_FALSE(change.has_value());
  EXPECT_EQ(change.error().kind, ErrorKind::usage);
  EXPECT_NE(change.error().message.find("needs root"), std::string::npos);
  EXPECT_EQ(g_calls.locked_sm, 0U);
}

TEST(LockClocks, RefusedPermissionIsToldAsRoot) {
  const auto nvml = fake_nvml();
  g_sm_answer = k_nvml_no_permission;
  const auto change = lock_clocks(nvml, nullptr, {.sm_mhz = 1965, .is_root = true});
  ASSERT_FALSE(change.has_value());
  EXPECT_EQ(change.error().kind, ErrorKind::usage);
}

TEST(LockClocks, DryRunChangesNothingAndNeedsNoRoot) {
  const auto nvml = fake_nvml();
  const auto change = lock_clocks(nvml, nullptr, {.sm_mhz = 1965, .memory_mhz = 3201, .dry_run = true});
  ASSERT_TRUE(change.has_value());
  EXPECT_EQ(g_calls.locked_sm, 0U);
  EXPECT_EQ(g_calls.locked_memory, 0U);
  EXPECT_EQ(change->steps, (std::vector<std::string>{"would lock the SM clock to 1965 MHz",
                                                     "would lock the memory clock to 3201 MHz"}));
}

TEST(LockClocks, NamesTheNearestClock) {
  const auto nvml = fake_nvml();
  const auto sm = lock_clocks(nvml, nullptr, {.sm_mhz = 2500, .dry_run = true});
  ASSERT_FALSE(sm.has_value());
  EXPECT_EQ(sm.error().kind, ErrorKind::usage);
  EXPECT_EQ(sm.error().message, "this GPU has no clock of 2500 MHz for --sm; the nearest is 1980 (345 to 1980)");
  const auto memory = lock_clocks(nvml, nullptr, {.sm_mhz = 345, .memory_mhz = 2000, .dry_run = true});
  ASSERT_FALSE(memory.has_value());
  EXPECT_EQ(memory.error().message, "this GPU has no clock of 2000 MHz for --mem; the nearest is 1593 (1593 to 3201)");
}

TEST(LockClocks, SmClocksAreThoseOfTheMemoryClockAskedFor) {
  const auto nvml = fake_nvml();
  EXPECT_TRUE(lock_clocks(nvml, nullptr, {.sm_mhz = 600, .memory_mhz = 1593, .dry_run = true}).has_value());
  EXPECT_FALSE(lock_clocks(nvml, nullptr, {.sm_mhz = 600, .memory_mhz = 3201, .dry_run = true}).has_value());
}

TEST(LockClocks, ACardThatListsNoClocksIsAsked) {
  auto nvml = fake_nvml();
  nvml.supported_memory_clocks = [](NvmlDevice, unsigned*, unsigned*) { return k_nvml_not_supported; };
  EXPECT_TRUE(lock_clocks(nvml, nullptr, {.sm_mhz = 777, .is_root = true}).has_value());
  EXPECT_EQ(g_calls.locked_sm, 777U);
}

TEST(LockClocks, AnOldLibraryCannot) {
  auto nvml = fake_nvml();
  nvml.lock_gpu_clocks = nullptr;
  EXPECT_EQ(lock_clocks(nvml, nullptr, {.sm_mhz = 1965, .is_root = true}).error().kind, ErrorKind::unsupported);
}

TEST(UnlockClocks, ResetsBoth) {
  const auto nvml = fake_nvml();
  const auto change = unlock_clocks(nvml, nullptr, false, true);
  ASSERT_TRUE(change.has_value());
  EXPECT_EQ(g_calls.resets, 2);
  EXPECT_EQ(change->steps, (std::vector<std::string>{"unlocked the SM clock", "unlocked the memory clock"}));
}

TEST(UnlockClocks, DryRunResetsNothing) {
  const auto nvml = fake_nvml();
  EXPECT_TRUE(unlock_clocks(nvml, nullptr, true, false).has_value());
  EXPECT_EQ(g_calls.resets, 0);
  EXPECT_FALSE(unlock_clocks(nvml, nullptr, false, false).has_value());
}

TEST(NvmlState, NamesThrottleReasons) {
  EXPECT_TRUE(throttle_reason_names(0).empty());
  EXPECT_EQ(throttle_reason_names(0x1 | 0x4 | 0x40),
            (std::vector<std::string>{"gpu_idle", "sw_power_cap", "hw_thermal_slowdown"}));
  EXPECT_EQ(throttle_reason_names(0x1000), (std::vector<std::string>{"unknown_0x1000"}));
}

TEST(NvmlState, EnvironmentCountsOtherProcesses) {
  NvmlTable t;
  t.driver_version = [](char* text, unsigned) {
    std::strcpy(text, "580.65.06");
    return k_nvml_success;
  };
  t.ecc_mode = [](NvmlDevice, unsigned* current, unsigned* pending) {
    *current = *pending = 1;
    return k_nvml_success;
  };
  t.mig_mode = [](NvmlDevice, unsigned*, unsigned*) { return k_nvml_not_supported; };
  t.compute_processes = [](NvmlDevice, unsigned* count, NvmlProcess* processes) {
    processes[0].pid = static_cast<unsigned>(getpid());
    processes[1].pid = 1;
    *count = 2;
    return k_nvml_success;
  };
  t.clock = [](NvmlDevice, NvmlClock which, unsigned* mhz) {
    *mhz = which == NvmlClock::memory ? 3201 : 1980;
    return k_nvml_success;
  };
  Environment environment;
  fill_environment(t, nullptr, environment);
  EXPECT_EQ(environment.driver_version, "580.65.06");
  EXPECT_EQ(environment.ecc, "on");
  EXPECT_EQ(environment.mig, "");
  EXPECT_EQ(environment.other_processes, 1U);
  EXPECT_EQ(environment.clocks.sm_mhz, 1980U);
  EXPECT_EQ(environment.clocks.memory_mhz, 3201U);
}

TEST(NvmlState, AnEmptyLibraryLeavesEverythingUnknown) {
  ClockSnapshot snapshot;
  fill_snapshot(NvmlTable{}, nullptr, snapshot);
  EXPECT_EQ(snapshot.sm_mhz, 0U);
  EXPECT_EQ(snapshot.pstate, "");
}

}  // namespace
}  // namespace gpusonde::cuda
