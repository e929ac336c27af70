// What the driver of an H200 made of the kernels (nvdisasm's text): the checks pass on it, and fail when it is
// spoiled.
#include <gtest/gtest.h>

#include "../../captures/capture.hpp"
#include "target/cuda/sass_checks.hpp"
#include "target/cuda/sass_parser.hpp"

namespace gpusonde::cuda {
namespace {

std::string machine_code(const std::string& kernel) {
  return read_compressed("tests/unit/target_cuda/data/" + kernel + ".sm_90.sass.gz");
}

std::vector<SassCheck> checks_of(const std::string& text, const std::string& kernel) {
  for (const auto& function : parse_sass(text))
    if (function.name == kernel) return check_sass(function);
  ADD_FAILURE() << kernel << " not found in " << text.substr(0, 200);
  return {};
}

std::string replaced(std::string text, const std::string& from, const std::string& to) {
  for (auto at = text.find(from); at != std::string::npos; at = text.find(from, at + to.size()))
    text.replace(at, from.size(), to);
  return text;
}

class RealSass : public testing::TestWithParam<const char*> {};

TEST_P(RealSass, passes_every_check) {
  const auto checks = checks_of(machine_code(GetParam()), GetParam());
  EXPECT_EQ(checks.size(), 3U);
  for (const auto& check : checks) EXPECT_TRUE(check.passed) << check.what << ": " << check.detail;
}

INSTANTIATE_TEST_SUITE_P(Sm90, RealSass,
                         testing::Values("chase_ca_pointer", "chase_cg_index", "chase_ca_pointer_timed",
                                         "chase_shared_pointer"));

TEST(RealSass, another_cache_operator_is_seen) {
  const auto checks = checks_of(replaced(machine_code("chase_cg_index"), "STRONG.GPU", "STRONG.SM"), "chase_cg_index");
  ASSERT_FALSE(checks.empty());
  EXPECT_FALSE(checks[0].passed);
}

TEST(RealSass, narrower_loads_are_seen) {
  const auto checks = checks_of(replaced(machine_code("chase_ca_pointer"), "LDG.E.64.", "LDG.E."), "chase_ca_pointer");
  ASSERT_FALSE(checks.empty());
  EXPECT_FALSE(checks[0].passed);
}

}  // namespace
}  // namespace gpusonde::cuda
