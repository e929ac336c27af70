// The same functions found from offsets within pages, whose places in memory the fit does not see.
#include "inference/class_fit_pages.hpp"

#include <gtest/gtest.h>

#include "class_labels.hpp"
#include "core/units.hpp"
#include "inference/class_plan.hpp"

namespace gpusonde {
namespace {

TEST(ClassFitPages, FourPagesOfThePublished36Slices) {
  const auto slice = slice_function_of("rtx4090");
  const auto truth = [&slice](std::uint64_t a) { return scrambled(slice(a)); };
  const auto pages = labelled_pages(truth, 4, 1);
  const auto fit = fit_class_function_in_pages(pages.samples);
  ASSERT_TRUE(fit.ok()) << fit.reason;
  EXPECT_EQ(fit.class_count, 36U);
  ASSERT_EQ(fit.pages.size(), 4U);
  for (const auto& page : fit.pages) {
    EXPECT_TRUE(page.matched) << page.reason;
    EXPECT_EQ(page.wrong, 0U);
  }
  expect_all_lines(fit, pages, truth);
}

TEST(ClassFitPages, APageOfFewSamplesIsPlacedToo) {
  const auto slice = slice_function_of("rtx4090");
  auto pages = labelled_pages(slice, 4, 2);
  Random random(8);
  pages.frames.push_back(random.below(24 * k_gib / k_page_bytes) * k_page_bytes);
  for (int i = 0; i < 200; ++i) {
    const auto offset = random.below(k_page_bytes / 128) * 128;
    pages.samples.push_back({4, offset, slice(pages.frames[4] + offset)});
  }
  const auto fit = fit_class_function_in_pages(pages.samples);
  ASSERT_TRUE(fit.ok()) << fit.reason;
  expect_all_lines(fit, pages, slice);
}

TEST(ClassFitPages, PagesThatDoNotMatchAreReported) {
  const auto slice = slice_function_of("rtx4090");
  auto pages = labelled_pages(slice, 4, 2);
  for (int i = 0; i < 20; ++i)
    pages.samples.push_back({50, static_cast<std::uint64_t>(i) * 128, slice(static_cast<std::uint64_t>(i) * 128)});
  for (std::uint64_t offset = 0; offset < k_page_bytes; offset += 4096)
    pages.samples.push_back({51, offset, static_cast<std::uint32_t>(mix64(offset) % 36)});
  const auto fit = fit_class_function_in_pages(pages.samples);
  ASSERT_TRUE(fit.ok()) << fit.reason;
  ASSERT_EQ(fit.pages.size(), 6U);
  for (const auto& page : fit.pages) {
    EXPECT_EQ(page.matched, page.page < 4) << page.page;
    EXPECT_EQ(page.reason.empty(), page.matched);
  }
  EXPECT_EQ(fit.label(51, 0), std::nullopt);
  EXPECT_EQ(fit.label(52, 0), std::nullopt);
}

TEST(ClassFitPages, RandomClassesAndTooFewSamplesAreRefused) {
  const auto pages = labelled_pages([](std::uint64_t a) { return static_cast<std::uint32_t>(mix64(a) % 12); }, 2, 6);
  EXPECT_FALSE(fit_class_function_in_pages(pages.samples).ok());
  EXPECT_FALSE(fit_class_function_in_pages({}).ok());
  const auto few = fit_class_function_in_pages(std::span(pages.samples).first(300));
  EXPECT_FALSE(few.ok());
  EXPECT_FALSE(few.reason.empty());
}

}  // namespace
}  // namespace gpusonde
