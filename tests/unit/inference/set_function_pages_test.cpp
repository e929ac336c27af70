// Set functions seen through pages at unknown places: masks of the offsets, and the constants of pages.
#include "inference/set_function_pages.hpp"

#include <gtest/gtest.h>

#include <bit>
#include <set>
#include <string>

#include "set_groups.hpp"

namespace gpusonde {
namespace {

constexpr std::uint64_t k_page_bytes = 2 * k_mib;
constexpr std::uint64_t k_offset_bits = (k_page_bytes - 1) & ~(k_line_bytes - 1);
const SetFeatures k_offsets{k_offset_bits, 0, 0, {}};

/// Pages whose frames lie anywhere in 24 GiB, and masks over physical bits.
struct Scene {
  std::vector<std::uint64_t> frames;
  std::vector<std::uint64_t> masks;

  [[nodiscard]] std::uint64_t value(std::uint64_t physical) const {
    std::uint64_t value = 0;
    for (std::size_t i = 0; i < masks.size(); ++i)
      value |= std::uint64_t{std::popcount(physical & masks[i]) % 2 == 1} << i;
    return value;
  }
  [[nodiscard]] std::uint64_t set_of(std::uint64_t line) const {
    return value(frames[line / k_page_bytes] * k_page_bytes + line % k_page_bytes);
  }
};

Scene random_scene(std::size_t pages, unsigned rank, Random& random) {
  Scene scene;
  for (std::size_t i = 0; i < pages; ++i) scene.frames.push_back(random.below(12288));
  // Each mask has an offset bit of its own, so that all of them show within a page.
  for (unsigned i = 0; i < rank; ++i) {
    const auto own = std::uint64_t{1} << (7 + i);
    const auto others = ~std::uint64_t{0} << (7 + rank) & ((std::uint64_t{1} << 35) - 1);
    scene.masks.push_back((random.next() & others) | own);
  }
  return scene;
}

std::set<std::uint64_t> span_of(const std::vector<std::uint64_t>& masks) {
  std::set<std::uint64_t> span{0};
  for (const auto mask : masks) {
    auto more = span;
    for (const auto sum : span) more.insert(sum ^ mask);
    span = more;
  }
  return span;
}

TEST(SetFunctionPages, FindsMasksOfOffsetsAndConstantsOfPages) {
  for (std::uint64_t seed = 1; seed <= 8; ++seed) {
    Random random(seed);
    const auto scene = random_scene(40, 8, random);
    const auto draw = lines_below(40 * k_page_bytes);
    const auto set_of = [&](std::uint64_t line) { return scene.set_of(line); };
    auto groups = groups_of(120, 17, draw, set_of, random);
    spoil(groups, 12, draw, set_of, random);
    const auto non_conflicts = non_conflicts_of(8000, draw, set_of, random);
    const auto paged = fit_set_function_in_pages(groups, non_conflicts, k_offsets, k_page_bytes, {});
    ASSERT_TRUE(paged.fit.ok()) << seed << ": " << paged.fit.reason;
    std::vector<std::uint64_t> found;
    for (const auto& mask : paged.fit.function.masks) found.push_back(mask.address);
    std::vector<std::uint64_t> truth;
    for (const auto mask : scene.masks) truth.push_back(mask & k_offset_bits);
    EXPECT_EQ(span_of(found), span_of(truth));
    ASSERT_EQ(paged.pages.size(), 40U);
    for (int i = 0; i < 20000; ++i) {
      const auto a = draw(random);
      const auto b = draw(random);
      EXPECT_EQ(paged.may_share_set(a, b), set_of(a) == set_of(b));
    }
  }
}

// One mask has no offset bit: pages seem to go together that do not, and nothing false is said of lines apart.
TEST(SetFunctionPages, MasksOfUnknownBitsAloneShowNothing) {
  Random random(3);
  auto scene = random_scene(40, 7, random);
  scene.masks.push_back(std::uint64_t{5} << 22);
  const auto draw = lines_below(40 * k_page_bytes);
  const auto set_of = [&](std::uint64_t line) { return scene.set_of(line); };
  const auto paged =
      fit_set_function_in_pages(groups_of(120, 17, draw, set_of, random), non_conflicts_of(4000, draw, set_of, random),
                                k_offsets, k_page_bytes, {});
  ASSERT_TRUE(paged.fit.ok()) << paged.fit.reason;
  EXPECT_EQ(paged.fit.rank, 7U);
  int known = 0;
  for (int i = 0; i < 20000; ++i) {
    const auto a = draw(random);
    const auto b = draw(random);
    const auto may = paged.may_share_set(a, b);
    known += may ? 1 : 0;
    EXPECT_TRUE(set_of(a) != set_of(b) || may != std::optional(false));
  }
  EXPECT_GT(known, 5000);
}

TEST(SetFunctionPages, PagesThatNoGroupLinksStayApart) {
  Random random(4);
  const auto scene = random_scene(40, 6, random);
  const auto set_of = [&](std::uint64_t line) { return scene.set_of(line); };
  const auto lower = lines_below(20 * k_page_bytes);
  const auto upper = [&](Random& from) { return lower(from) + 20 * k_page_bytes; };
  auto groups = groups_of(80, 17, lower, set_of, random);
  for (auto& group : groups_of(80, 17, upper, set_of, random)) groups.push_back(std::move(group));
  const auto paged =
      fit_set_function_in_pages(groups, non_conflicts_of(3000, lower, set_of, random), k_offsets, k_page_bytes, {});
  ASSERT_TRUE(paged.fit.ok()) << paged.fit.reason;
  ASSERT_EQ(paged.pages.size(), 40U);
  EXPECT_EQ(paged.may_share_set(0, 20 * k_page_bytes), std::nullopt);
  EXPECT_TRUE(paged.may_share_set(0, 19 * k_page_bytes).has_value());
  EXPECT_TRUE(paged.may_share_set(20 * k_page_bytes, 39 * k_page_bytes).has_value());
  EXPECT_EQ(paged.may_share_set(0, 50 * k_page_bytes), std::nullopt);  // never seen
}

TEST(SetFunctionPages, RefusesWhatDoesNotSplit) {
  auto features = k_offsets;
  features.quotient_divisor = 1152;
  features.quotient_bits = 4;
  EXPECT_FALSE(fit_set_function_in_pages({}, {}, features, k_page_bytes, {}).fit.ok());
  features = k_offsets;
  features.address_bits |= k_page_bytes;
  const auto paged = fit_set_function_in_pages({}, {}, features, k_page_bytes, {});
  EXPECT_EQ(paged.fit.reason, "within pages only parities of the offset's bits can be looked for");
}

TEST(SetFunctionPages, RefusesGroupsWithTooFewLinesInOnePage) {
  Random random(5);
  const auto scene = random_scene(4000, 8, random);
  const auto draw = lines_below(4000 * k_page_bytes);
  const auto set_of = [&](std::uint64_t line) { return scene.set_of(line); };
  const auto paged =
      fit_set_function_in_pages(groups_of(40, 17, draw, set_of, random), non_conflicts_of(3000, draw, set_of, random),
                                k_offsets, k_page_bytes, {});
  EXPECT_FALSE(paged.fit.ok());
  EXPECT_TRUE(paged.fit.reason.starts_with("too few conflicts")) << paged.fit.reason;
  EXPECT_TRUE(paged.pages.empty());
}

}  // namespace
}  // namespace gpusonde
