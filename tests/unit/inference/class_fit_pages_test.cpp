// The same functions found from offsets within pages, whose places in memory the fit does not see.
#include "inference/class_fit_pages.hpp"

#include <gtest/gtest.h>

#include "class_labels.hpp"
#include "core/units.hpp"
#include "inference/class_plan.hpp"

namespace gpusonde {
namespace {

constexpr std::uint64_t k_page_bytes = 2 * k_mib;

struct Labelled {
  std::vector<std::uint64_t> frames;  ///< physical address by page number
  std::vector<PageSample> samples;
};

template <class Function>
Labelled labelled_pages(const Function& truth, std::size_t count, std::uint64_t seed, double wrong_labels = 0) {
  Random random(seed);
  Labelled pages;
  for (std::size_t page = 0; page < count; ++page) {
    pages.frames.push_back(random.below(24 * k_gib / k_page_bytes) * k_page_bytes);
    const auto offsets = plan_page_offsets(k_page_bytes, seed + page).value();
    for (const auto offset : offsets) {
      const bool wrong = random.uniform() < wrong_labels;
      pages.samples.push_back({page, offset, truth(wrong ? random.below(24 * k_gib) : pages.frames[page] + offset)});
    }
  }
  return pages;
}

template <class Function>
void expect_all_lines(const PageFit& fit, const Labelled& pages, const Function& truth) {
  std::size_t wrong = 0;
  for (std::size_t page = 0; page < pages.frames.size(); ++page)
    for (std::uint64_t offset = 0; offset < k_page_bytes; offset += 128)
      wrong += fit.label(page, offset) == truth(pages.frames[page] + offset) ? 0 : 1;
  EXPECT_EQ(wrong, 0U);
}

TEST(ClassFitPages, FourPagesOfThePublished36Slices) {
  const auto slice = slice_function_of("rtx4090");
  const auto truth = [&slice](std::uint64_t a) { return scrambled(slice(a)); };
  for (std::uint64_t seed = 1; seed <= 3; ++seed) {
    const auto pages = labelled_pages(truth, 4, seed);
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
}

TEST(ClassFitPages, OneLabelOfSeveralHundredIsWrong) {
  const auto slice = slice_function_of("rtx4090");
  const auto pages = labelled_pages(slice, 4, 9, 0.002);
  const auto fit = fit_class_function_in_pages(pages.samples);
  ASSERT_TRUE(fit.ok()) << fit.reason;
  expect_all_lines(fit, pages, slice);
}

TEST(ClassFitPages, XorHashesAndCounts) {
  for (const auto& truth :
       {AddressFunction::parities({0x123456780, 0x3FF100000, 0x155555500}), AddressFunction::modulo(4096, 12),
        AddressFunction::modulo(128, 5), AddressFunction::modulo(1024, 40)}) {
    const auto pages = labelled_pages(truth, 4, 4);
    const auto fit = fit_class_function_in_pages(pages.samples);
    ASSERT_TRUE(fit.ok()) << truth.text() << ": " << fit.reason;
    expect_all_lines(fit, pages, truth);
  }
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
  const auto pages = labelled_pages([](std::uint64_t a) { return static_cast<std::uint32_t>(mix64(a) % 12); }, 4, 6);
  EXPECT_FALSE(fit_class_function_in_pages(pages.samples).ok());
  EXPECT_FALSE(fit_class_function_in_pages({}).ok());
  const auto few = fit_class_function_in_pages(std::span(pages.samples).first(300));
  EXPECT_FALSE(few.ok());
  EXPECT_FALSE(few.reason.empty());
}

}  // namespace
}  // namespace gpusonde
