#include <gtest/gtest.h>

#include "experiment/experiment.hpp"

namespace gpusonde {
namespace {

TEST(ExperimentNames, AreThoseOfThePtxOperators) {
  EXPECT_EQ(to_string(LoadPath::global_ca), "ca");
  EXPECT_EQ(to_string(LoadPath::global_cg), "cg");
  EXPECT_EQ(to_string(LoadPath::global_cv), "cv");
  EXPECT_EQ(to_string(LoadPath::global_nc), "nc");
  EXPECT_EQ(to_string(LoadPath::shared), "shared");
  EXPECT_EQ(to_string(ChainKind::pointer), "pointer");
  EXPECT_EQ(to_string(ChainKind::index), "index");
  EXPECT_EQ(to_string(Warmup::none), "none");
  EXPECT_EQ(to_string(Warmup::serial), "serial");
  EXPECT_EQ(to_string(Warmup::parallel), "parallel");
}

TEST(Ring, FootprintIsNodesTimesStride) {
  Ring ring;
  ring.first_byte = 4096;
  ring.order.node_count = 10;
  ring.order.stride_bytes = 256;
  EXPECT_EQ(ring.footprint_bytes(), 2560U);
}

}  // namespace
}  // namespace gpusonde
