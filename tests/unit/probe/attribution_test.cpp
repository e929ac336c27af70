// Steps and their causes, with the figures of the cards they were seen on.
#include <gtest/gtest.h>

#include "probe/hierarchy.hpp"

namespace gpusonde {
namespace {

StepControls controls(std::optional<double> random, std::optional<double> grouped, std::optional<double> sparse) {
  return {.size_bytes = 48.0 * 1024 * 1024,
          .random_cycles = random,
          .page_grouped_cycles = grouped,
          .sparse_cycles = sparse};
}

// H200, near to far L2: the same lines page by page stay far, a fraction of them is near.
TEST(Attribution, a_capacity_step_stays_page_by_page) {
  EXPECT_EQ(attribute_step(281, 525, controls(525.5, 525.7, 280.7)).cause, StepCause::capacity);
}

// H200, far L2 to DRAM: so few lines fit the near partition, which says nothing about this step.
TEST(Attribution, a_sparse_control_below_the_lower_level_has_no_say) {
  EXPECT_EQ(attribute_step(525, 685, controls(683.8, 683.5, 280.8)).cause, StepCause::capacity);
}

// RTX 4090, L2 inside and beyond the reach of the first-level TLB.
TEST(Attribution, a_translation_step_goes_page_by_page) {
  EXPECT_EQ(attribute_step(330, 341, controls(341, 330.1, 341)).cause, StepCause::translation);
}

TEST(Attribution, no_control_leaves_it_open) {
  EXPECT_EQ(attribute_step(330, 341, controls({}, {}, {})).cause, StepCause::unattributed);
}

TEST(Attribution, controls_that_contradict_each_other_leave_it_open) {
  EXPECT_EQ(attribute_step(330, 660, controls(660, 660, 660)).cause, StepCause::unattributed);
}

TEST(Attribution, between_the_levels_leaves_it_open) {
  EXPECT_EQ(attribute_step(330, 660, controls(660, 495, {})).cause, StepCause::unattributed);
}

TEST(Attribution, a_step_that_does_not_come_again_is_none) {
  const auto attribution = attribute_step(330, 341, controls(331, 330, 330));
  EXPECT_EQ(attribution.cause, StepCause::unattributed);
  EXPECT_TRUE(attribution.note.starts_with("not reproduced")) << attribution.note;
}

}  // namespace
}  // namespace gpusonde
