#include <gtest/gtest.h>

#include "gpusonde/error.hpp"
#include "gpusonde/run.hpp"

namespace gpusonde {
namespace {

TEST(ExitCodes, AreTheDocumentedOnes) {
  EXPECT_EQ(exit_code(ErrorKind::usage), 2);
  EXPECT_EQ(exit_code(ErrorKind::bad_input), 2);
  EXPECT_EQ(exit_code(ErrorKind::output), 2);
  EXPECT_EQ(exit_code(ErrorKind::no_device), 3);
  EXPECT_EQ(exit_code(ErrorKind::unsupported), 1);
  EXPECT_EQ(exit_code(ErrorKind::measurement), 1);
  EXPECT_EQ(exit_code(ErrorKind::interrupted), 130);
}

TEST(Outcomes, HaveTheirNames) {
  EXPECT_EQ(to_string(Outcome::ok), "ok");
  EXPECT_EQ(to_string(Outcome::unsupported), "unsupported");
  EXPECT_EQ(to_string(Outcome::skipped), "skipped");
  EXPECT_EQ(to_string(Outcome::inconclusive), "inconclusive");
  EXPECT_EQ(to_string(Outcome::failed), "failed");
}

TEST(Tables, FindColumnsByNameAndType) {
  Measurements measurements;
  auto& table = measurements.table("latency.curve");
  auto& sizes = table.make<std::uint64_t>("size_bytes");
  table.make<double>("latency_cycles") = {32.0, 275.5};
  sizes = {4096, 1 << 20};  // the reference stays valid
  EXPECT_EQ(table.rows(), 2U);
  ASSERT_NE(measurements.find("latency.curve"), nullptr);
  EXPECT_EQ(measurements.find("other"), nullptr);
  EXPECT_EQ(measurements.find("latency.curve")->column<std::uint64_t>("size_bytes")->at(1), 1U << 20);
  EXPECT_EQ(table.column<double>("size_bytes"), nullptr);
  EXPECT_EQ(table.column<double>("absent"), nullptr);
  EXPECT_EQ(&measurements.table("latency.curve"), &table);
  EXPECT_EQ(Table{}.rows(), 0U);
}

TEST(Runs, FindFindingsById) {
  gpusonde::Run run;
  Finding capacity;
  capacity.id = "l1.capacity";
  capacity.unit = "bytes";
  run.findings.push_back(capacity);
  ASSERT_NE(run.finding("l1.capacity"), nullptr);
  EXPECT_EQ(run.finding("l1.capacity")->unit, "bytes");
  EXPECT_EQ(run.finding("l2.capacity"), nullptr);
}

}  // namespace
}  // namespace gpusonde
