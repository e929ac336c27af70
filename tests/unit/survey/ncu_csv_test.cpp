// What Nsight Compute prints, as it prints it: with lines of its own around the table, with commas in numbers, without
// permission, or something else.
#include "survey/ncu_csv.hpp"

#include <gtest/gtest.h>

namespace gpusonde {
namespace {

constexpr const char* k_sectors = "l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum";
constexpr const char* k_requests = "l1tex__t_requests_pipe_lsu_mem_global_op_ld.sum";

const std::string k_head =
    R"("ID","Process ID","Process Name","Host Name","Kernel Name","Context","Stream","Block Size","Grid Size","Device","CC","Section Name","Metric Name","Metric Unit","Metric Value")"
    "\n";

// clang-format off
std::string row(int id, const std::string& kernel, const std::string& metric, const std::string& value) {
  return "\"" + std::to_string(id) + R"x(","4711","gpusonde","127.0.0.1",")x" + kernel +
         R"x(","1","7","(1024, 1, 1)","(528, 1, 1)","0","9.0","Command line profiler metrics",")x" + metric +
         R"x(","sector",")x" + value + "\"\n";
}
// clang-format on

/// Two launches of 256 and 512 loads of eight sectors, with 40 sectors of their own each.
std::string two_launches() {
  return "==PROF== Connected to process 4711 (/usr/bin/gpusonde)\n"
         "==PROF== Profiling \"sequence_ca\" - 0: 0%....50%....100% - 1 pass\n"
         "==PROF== Disconnected from process 4711\n" +
         k_head + row(0, "sequence_ca(SequenceParameters)", k_requests, "266") +
         row(0, "sequence_ca(SequenceParameters)", k_sectors, "2,088") + row(1, "link_self", k_sectors, "77") +
         row(2, "sequence_ca(SequenceParameters)", k_requests, "522") +
         row(2, "sequence_ca(SequenceParameters)", k_sectors, "4,136");
}

TEST(NcuCsv, LaunchesAndTheirCounters) {
  const auto launches = parse_ncu_csv(two_launches(), "sequence_ca");
  ASSERT_TRUE(launches) << launches.error().message;
  ASSERT_EQ(launches->size(), 2U);
  ASSERT_NE((*launches)[0].find(k_sectors), nullptr);
  EXPECT_EQ(*(*launches)[0].find(k_sectors), 2088);
  EXPECT_EQ(*(*launches)[1].find(k_requests), 522);
  EXPECT_EQ((*launches)[1].find("other"), nullptr);
  EXPECT_EQ(*counter_slope(*launches, k_sectors, 256), 8);
  EXPECT_EQ(*counter_slope(*launches, k_requests, 256), 1);
}

// As ncu 2025 printed it on an H200 (other columns cut): two gathers of stride 2, each with its list of places.
TEST(NcuCsv, OfAnH200) {
  std::string text =
      "==WARNING== Note: Running with unmodified GPU clocks.\n==PROF== Connected to process 471 (gs)\n" + k_head;
  for (const auto* metric : {k_requests, k_sectors}) text += row(0, "spin_clock", metric, "0");
  text += row(1, "sequence_ca", k_requests, "736") + row(1, "sequence_ca", k_sectors, "4,320");
  text += row(2, "sequence_ca", k_requests, "1,248") + row(2, "sequence_ca", k_sectors, "8,416");
  const auto launches = parse_ncu_csv(text, "sequence_ca");
  ASSERT_TRUE(launches) << launches.error().message;
  EXPECT_EQ(*counter_slope(*launches, k_requests, 256), 2);  // one of them reads the list
  EXPECT_EQ(*counter_slope(*launches, k_sectors, 256), 16);  // and 8 of these are its
}

TEST(NcuCsv, WithoutPermissionTheRemedyIsGiven) {
  const auto launches = parse_ncu_csv(
      "==PROF== Connected to process 4711 (/usr/bin/gpusonde)\n"
      "==ERROR== ERR_NVGPUCTRPERM - The user does not have permission to access NVIDIA GPU Performance Counters on the "
      "target device 0. For instructions on enabling permissions and to get more information see "
      "https://developer.nvidia.com/ERR_NVGPUCTRPERM\n"
      "==PROF== Disconnected from process 4711\n==WARNING== No kernels were profiled.\n",
      "sequence_ca");
  ASSERT_FALSE(launches);
  EXPECT_EQ(launches.error().kind, ErrorKind::unsupported);
  EXPECT_EQ(launches.error().message,
            "hardware counters are forbidden to this user; run as root, or load the driver with "
            "NVreg_RestrictProfilingToAdminUsers=0");
}

std::string message_of(const std::string& text) {
  const auto launches = parse_ncu_csv(text, "sequence_ca");
  EXPECT_FALSE(launches);
  if (launches) return {};
  EXPECT_EQ(launches.error().kind, ErrorKind::unsupported);
  return launches.error().message;
}

TEST(NcuCsv, SomethingElseIsSaidAsItWasRead) {
  EXPECT_NE(message_of("==ERROR== Failed to find metric l1tex__nonsense\n").find("Failed to find metric"),
            std::string::npos);
  EXPECT_NE(message_of("").find("no table"), std::string::npos);
  EXPECT_NE(message_of("\"ID\",\"Kernel Name\",\"sectors\"\n\"0\",\"sequence_ca\",\"5\"\n").find("other columns"),
            std::string::npos);
  EXPECT_NE(message_of(k_head + row(0, "sequence_ca", k_sectors, "n/a")).find("'n/a'"), std::string::npos);
  EXPECT_NE(message_of(k_head + row(0, "another", k_sectors, "5")).find("no table"), std::string::npos);
  EXPECT_NE(message_of(k_head).find("no table"), std::string::npos);
}

TEST(NcuCsv, ASlopeNeedsTwoLaunchesAndTheCounter) {
  const auto launches = parse_ncu_csv(two_launches(), "sequence_ca");
  ASSERT_TRUE(launches);
  EXPECT_FALSE(counter_slope({(*launches)[0]}, k_sectors, 256));
  const auto missing = counter_slope(*launches, "lts__t_sectors.sum", 256);
  ASSERT_FALSE(missing);
  EXPECT_NE(missing.error().message.find("lts__t_sectors.sum"), std::string::npos);
}

}  // namespace
}  // namespace gpusonde
