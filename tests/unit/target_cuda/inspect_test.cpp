// The embedded PTX: all kernels there, and what ptxas must see.
#include "target/cuda/inspect.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <set>

#include "sass_excerpts.hpp"
#include "target/cuda/chase_session.hpp"
#include "target/cuda/disassembler.hpp"
#include "target/cuda/kernel_modules.hpp"

namespace gpusonde::cuda {
namespace {

std::size_t count(std::string_view text, std::string_view what) {
  std::size_t n = 0;
  for (auto at = text.find(what); at != std::string_view::npos; at = text.find(what, at + 1)) ++n;
  return n;
}

TEST(Inspect, EveryKernelAnExperimentNeedsIsThere) {
  std::set<std::string> names;
  for (const auto& module : kernel_modules())
    for (const auto& [name, ptx] : split_ptx(module.ptx)) names.insert(name);
  EXPECT_EQ(names.size(), 74U);
  for (const auto path :
       {LoadPath::global_ca, LoadPath::global_cg, LoadPath::global_cv, LoadPath::global_nc, LoadPath::shared})
    for (const auto chain : {ChainKind::pointer, ChainKind::index})
      for (const auto timing : {HopTiming::aggregate, HopTiming::per_hop})
        EXPECT_TRUE(names.contains(chase_kernel_name(path, chain, timing)));
  for (const char* name : {"link",
                           "link_list",
                           "timer",
                           "loop_overhead",
                           "spin_clock",
                           "sequence_ca",
                           "sequence_cg",
                           "sequence_cv",
                           "sequence_nc",
                           "sequence_cg_0",
                           "sequence_cg_64",
                           "sequence_cg_128",
                           "sequence_cg_256",
                           "link_self",
                           "line_map_load",
                           "line_map_atomic",
                           "throughput",
                           "link_lines",
                           "touch_ring",
                           "place_chains",
                           "memory_constant",
                           "memory_texture",
                           "memory_read_only",
                           "memory_shared",
                           "sharing_constant",
                           "sharing_texture",
                           "sharing_read_only",
                           "cluster_latency"})
    EXPECT_TRUE(names.contains(name));
  for (const std::string what : {"ca_word", "cg_word", "cg_line"})
    for (const std::string chains : {"1", "2", "4", "8"}) EXPECT_TRUE(names.contains("loaded_" + what + "_" + chains));
  for (const std::string what :
       {"ca_read", "cg_read", "cg_write", "cg_copy", "shared_read", "shared_write", "shared_copy"})
    for (const std::string blocks : {"1", "2"}) EXPECT_TRUE(names.contains("stream_" + what + "_" + blocks));
}

// What later chips added lies in a module of its own, so that nothing else needs them.
TEST(Inspect, PtxIsForAnyChipSinceVoltaOrSaysItsOwn) {
  for (const auto& module : kernel_modules()) {
    const bool ampere = module.name == "sequence_l2";
    const bool hopper = module.name == "cluster";
    const char* target = ampere   ? ".version 7.4\n.target sm_80\n"
                         : hopper ? ".version 7.8\n.target sm_90\n"
                                  : ".version 6.0\n.target sm_70\n";
    EXPECT_NE(module.ptx.find(target), std::string_view::npos) << module.name;
    EXPECT_EQ(module.least_capability, ampere ? 80U : hopper ? 90U : 70U) << module.name;
    EXPECT_EQ(module.ptx.find(".local"), std::string_view::npos) << module.name << ": local memory passes through L1";
  }
}

TEST(Inspect, AggregateChasesHaveTheLoadsOfBothLoopsAndTheWarmUp) {
  const std::map<std::string, std::string> loads{{"chase_ca_pointer", "ld.global.ca.u64"},
                                                 {"chase_cg_pointer", "ld.global.cg.u64"},
                                                 {"chase_cv_pointer", "ld.global.cv.u64"},
                                                 {"chase_nc_index", "ld.global.nc.u32"},
                                                 {"chase_shared_pointer", "ld.shared.u64"}};
  std::size_t seen = 0;
  for (const auto& [name, ptx] : split_ptx(kernel_modules()[1].ptx)) {
    const auto load = loads.find(name);
    if (load == loads.end()) continue;
    ++seen;
    EXPECT_EQ(count(ptx, load->second), 64U + 8 + 1) << name;
  }
  EXPECT_EQ(seen, loads.size());
}

TEST(Inspect, MachineCodeGoesToItsKernel) {
  std::vector<KernelCode> kernels{{.name = "timer", .ptx = {}, .sass = {}, .checks = {}},
                                  {.name = "chase_ca_pointer", .ptx = {}, .sass = {}, .checks = {}}};
  add_machine_code(kernels, test::k_chase_ca_pointer, "sm_90");
  EXPECT_TRUE(kernels[0].checks.empty());
  ASSERT_EQ(kernels[1].checks.size(), 4U);
  EXPECT_TRUE(std::all_of(kernels[1].checks.begin(), kernels[1].checks.end(), [](const auto& c) { return c.passed; }));
  EXPECT_NE(kernels[1].sass.find("SR_CLOCKLO"), std::string::npos);
}

TEST(Inspect, WithoutADevicePtxOnly) {
  const auto report = inspect_kernels(std::nullopt, "cg_index");
  ASSERT_TRUE(report.has_value());
  ASSERT_EQ(report->kernels.size(), 2U);
  EXPECT_EQ(report->modules.size(), 2U);
  EXPECT_TRUE(report->modules[0].cubin.empty());
}

TEST(Inspect, AnUnknownKernelNamesWhatThereIs) {
  const auto report = inspect_kernels(std::nullopt, "nonsense");
  ASSERT_FALSE(report.has_value());
  EXPECT_EQ(report.error().kind, ErrorKind::usage);
  EXPECT_NE(report.error().message.find("spin_clock"), std::string::npos);
}

TEST(Disassembler, RunsWithoutAShell) {
  const auto text = output_of({"/bin/echo", "$(id); `id` > /dev/null"});
  ASSERT_TRUE(text.has_value());
  EXPECT_EQ(*text, "$(id); `id` > /dev/null\n");
  EXPECT_FALSE(output_of({"/bin/false"}).has_value());
  EXPECT_FALSE(output_of({"/nonexistent/tool"}).has_value());
}

}  // namespace
}  // namespace gpusonde::cuda
