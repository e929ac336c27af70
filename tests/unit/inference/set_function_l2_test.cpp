// The set function of an RTX 4090's L2, which divides by 1152 and looks at a residue, from lines of single slices.
#include <gtest/gtest.h>

#include <vector>

#include "inference/set_function.hpp"
#include "model/address_function.hpp"
#include "model/device_model.hpp"
#include "set_groups.hpp"

namespace gpusonde {
namespace {

constexpr std::uint64_t k_memory_bytes = 24 * k_gib;

/// q = a / 1152, and the residue of the printed b9.
SetFeatures l2_features() {
  SetFeatures features;
  features.address_bits = ((std::uint64_t{1} << 35) - 1) & ~std::uint64_t{127};
  features.quotient_divisor = 1152;
  features.quotient_bits = 25;
  features.residues = {{15, 0, 9}};
  return features;
}

class Rtx4090L2 : public testing::Test {
 protected:
  void SetUp() override {
    const auto model = find_model("rtx4090");
    ASSERT_TRUE(model);
    m_slice = model->caches[1].slice_function;
    m_set = model->caches[1].set_function;
  }
  [[nodiscard]] auto draw_of(std::uint32_t slice) const {
    return [this, slice](Random& random) {
      for (;;) {
        const auto line = lines_below(k_memory_bytes)(random);
        if (m_slice(line) == slice) return line;
      }
    };
  }
  [[nodiscard]] auto set_of() const {
    return [this](std::uint64_t line) -> std::uint64_t { return m_set(line); };
  }
  [[nodiscard]] std::vector<std::uint64_t> lines_of(std::uint32_t slice, std::size_t count) const {
    Random random(slice);
    std::vector<std::uint64_t> lines(count);
    for (auto& line : lines) line = draw_of(slice)(random);
    return lines;
  }

  AddressFunction m_slice;
  AddressFunction m_set;
};

TEST_F(Rtx4090L2, OneSliceGivesTheFunctionOfAll) {
  Random random(2);
  const auto draw = draw_of(5);
  const auto groups = groups_of(30, 17, draw, set_of(), random);
  const auto non_conflicts = non_conflicts_of(500, draw, set_of(), random);
  SetFitOptions options;
  options.sets_hint = {1000, 1050};
  const auto fit = fit_set_function(groups, non_conflicts, l2_features(), options);
  ASSERT_TRUE(fit.ok()) << fit.reason;
  EXPECT_EQ(fit.rank, 10U);
  EXPECT_TRUE(fit.complete);
  EXPECT_EQ(fit.explained_groups, 30U);
  EXPECT_EQ(fit.non_conflicts_alike, 0U);
  const auto value = [&](std::uint64_t line) { return fit.function.value(line); };
  EXPECT_TRUE(same_partition(lines_of(5, 1000000), value, set_of())) << fit.function.text();
  EXPECT_TRUE(same_partition(lines_of(30, 1000000), value, set_of())) << fit.function.text();
  const auto program = AddressFunction::parse(fit.function.text(), {});
  ASSERT_TRUE(program) << program.error().message;
  for (const auto line : lines_of(5, 1000)) EXPECT_EQ((*program)(line), fit.function.value(line));
}

TEST_F(Rtx4090L2, AddressBitsAloneDoNotExplainIt) {
  Random random(3);
  const auto draw = draw_of(5);
  const auto groups = groups_of(30, 17, draw, set_of(), random);
  auto features = l2_features();
  features.quotient_divisor = 0;
  features.quotient_bits = 0;
  features.residues.clear();
  const auto fit = fit_set_function(groups, non_conflicts_of(500, draw, set_of(), random), features, {});
  EXPECT_FALSE(fit.ok()) << fit.function.text();
}

TEST_F(Rtx4090L2, SlicesArePooled) {
  Random random(4);
  std::vector<LineGroup> groups;
  std::vector<LinePair> non_conflicts;
  SetFitOptions options;
  for (const std::uint32_t slice : {0U, 7U, 13U, 22U, 35U}) {
    const auto draw = draw_of(slice);
    for (auto& group : groups_of(10, 17, draw, set_of(), random)) {
      groups.push_back(std::move(group));
      options.group_pools.push_back(slice);
    }
    for (const auto& pair : non_conflicts_of(100, draw, set_of(), random)) non_conflicts.push_back(pair);
  }
  const auto fit = fit_set_function(groups, non_conflicts, l2_features(), options);
  ASSERT_TRUE(fit.ok()) << fit.reason;
  EXPECT_EQ(fit.rank, 10U);
  const auto value = [&](std::uint64_t line) { return fit.function.value(line); };
  for (const std::uint32_t slice : {7U, 19U})
    EXPECT_TRUE(same_partition(lines_of(slice, 100000), value, set_of())) << fit.function.text();
}

}  // namespace
}  // namespace gpusonde
