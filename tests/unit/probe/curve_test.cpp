#include "probe/curve.hpp"

#include <gtest/gtest.h>

namespace gpusonde {
namespace {

ChaseExperiment chase(std::uint64_t nodes, Warmup warmup, LoadPath path = LoadPath::global_cg) {
  ChaseExperiment experiment;
  experiment.ring.order.node_count = nodes;
  experiment.path = path;
  experiment.warmup = warmup;
  return experiment;
}

ChaseSamples samples(std::vector<std::uint64_t> cycles) {
  ChaseSamples result;
  result.hops = 8;
  result.cycles = std::move(cycles);
  return result;
}

TEST(Curve, a_hop_is_the_median_repetition) {
  const auto latency = hop_latency(samples({80, 800, 88}));
  EXPECT_EQ(latency.cycles, 11);
  EXPECT_EQ(latency.low, 10);
  EXPECT_EQ(latency.high, 100);
}

TEST(Curve, a_serially_warmed_row_counts_before_a_parallel_one) {
  Table table;
  append_curve_row(table, chase(64, Warmup::serial), samples({80}), 1000);
  append_curve_row(table, chase(64, Warmup::parallel), samples({160}), 1000);
  append_curve_row(table, chase(32, Warmup::parallel), samples({240}), 1000);
  append_curve_row(table, chase(16, Warmup::parallel), samples({8}), 1000);
  append_curve_row(table, chase(16, Warmup::parallel), samples({16}), 1000);
  append_curve_row(table, chase(64, Warmup::serial, LoadPath::global_ca), samples({8}), 1000);
  const auto curve = read_curve(table, {"cg", "pointer"});
  ASSERT_EQ(curve.size(), 3U);
  EXPECT_EQ(curve[0].size_bytes, 16 * 128);
  EXPECT_EQ(curve[0].latency, 2);  // the later of two
  EXPECT_EQ(curve[1].latency, 30);
  EXPECT_EQ(curve[2].latency, 10);
  EXPECT_EQ(parallel_only_sizes(table, {"cg", "pointer"}), (std::vector<std::uint64_t>{16 * 128, 32 * 128}));
  EXPECT_EQ(curve_keys(table), (std::vector<CurveKey>{{"cg", "pointer"}, {"ca", "pointer"}}));
  EXPECT_EQ((*table.column<double>("latency_ns"))[0], 10);
}

TEST(Curve, a_table_of_other_columns_has_no_curve) {
  Table table;
  table.make<std::string>("policy").emplace_back("cg");
  EXPECT_TRUE(curve_keys(table).empty());
  EXPECT_TRUE(read_curve(table, {"cg", "pointer"}).empty());
}

}  // namespace
}  // namespace gpusonde
