// Functions found again from labels alone: published ones, random XOR hashes, counts with odd factors; and what is
// refused.
#include "inference/class_fit.hpp"

#include <gtest/gtest.h>

#include <fmt/format.h>

#include "class_labels.hpp"
#include "core/units.hpp"
#include "inference/class_plan.hpp"
#include "inference/gf2.hpp"

namespace gpusonde {
namespace {

TEST(ClassFit, ThePublished36SlicesOf24GiB) {
  const auto slice = slice_function_of("rtx4090");
  const auto truth = [&slice](std::uint64_t a) { return scrambled(slice(a)); };
  const auto fit = fit_of(truth, 24 * k_gib);
  ASSERT_TRUE(fit.ok()) << fit.reason;
  EXPECT_EQ(fit.class_count, 36U);
  EXPECT_FALSE(fit.function.is_linear());
  EXPECT_EQ(fit.held_out, 2000U);
  EXPECT_EQ(fit.held_out_wrong + fit.held_out_never_seen + fit.outvoted, 0U);
  EXPECT_EQ(not_predicted(fit.function, truth, 24 * k_gib, 100000), 0U);
  // Nothing that the published text does not name: its masks, and the bits between its two shifts.
  std::vector<std::uint64_t> published{0x76A990400, 0x2CCF7B000, 0x3C9041000, 0x2882B0800,
                                       0x8000,      0x5985E0500, 0x2354E4400, 0x10000};
  const auto rank_before = rank(published);
  published.insert(published.end(), fit.function.key.masks.begin(), fit.function.key.masks.end());
  EXPECT_EQ(rank(published), rank_before);
  // Its text is a program of the model's language.
  const auto text = program(fit.function.text());
  Random random(3);
  for (int i = 0; i < 10000; ++i) {
    const auto address = random.below(24 * k_gib);
    EXPECT_EQ(text(address), truth(address));
  }
}

TEST(ClassFit, ThePublished48SlicesOf48GiB) {
  const auto slice = slice_function_of("l40s");
  const auto fit = fit_of(slice, 48 * k_gib);
  ASSERT_TRUE(fit.ok()) << fit.reason;
  EXPECT_EQ(fit.class_count, 48U);
  EXPECT_EQ(not_predicted(fit.function, slice, 48 * k_gib, 100000), 0U);
}

TEST(ClassFit, SomeWrongLabels) {
  const auto slice = slice_function_of("rtx4090");
  const auto fit = fit_of(slice, 24 * k_gib, 0.004);
  ASSERT_TRUE(fit.ok()) << fit.reason;
  EXPECT_EQ(not_predicted(fit.function, slice, 24 * k_gib, 20000), 0U);
  EXPECT_GT(fit.outvoted, 0U);
}

TEST(ClassFit, RandomXorHashes) {
  Random random(11);
  for (const unsigned rank_wanted : {0U, 6U}) {
    std::vector<std::uint64_t> masks;
    while (masks.size() < rank_wanted) {
      masks.push_back(random.next() & 0x7FFFFFF80);
      if (rank(masks) < masks.size()) masks.pop_back();
    }
    const auto hash = AddressFunction::parities(masks);
    const auto fit = fit_of(hash, 24 * k_gib);
    ASSERT_TRUE(fit.ok()) << rank_wanted << ": " << fit.reason;
    EXPECT_TRUE(same_span(fit.function.key.masks, masks));
    EXPECT_EQ(fit.function.key.masks, canonical_basis(masks));
    EXPECT_TRUE(fit.function.key.terms.empty());
    EXPECT_TRUE(fit.function.is_linear());
    EXPECT_EQ(not_predicted(fit.function, hash, 24 * k_gib, 20000), 0U);
  }
}

TEST(ClassFit, AnyTableOverParities) {
  // Five parities and three classes: nothing linear is left.
  const auto hash = AddressFunction::parities({0x123456780, 0x3FF000000, 0x155555500, 0x80, 0x40000});
  const auto truth = [&hash](std::uint64_t a) { return static_cast<std::uint32_t>(mix64(hash(a) + 1) % 3); };
  const auto fit = fit_of(truth, 16 * k_gib);
  ASSERT_TRUE(fit.ok()) << fit.reason;
  EXPECT_FALSE(fit.function.is_linear());
  EXPECT_LE(fit.function.key.masks.size(), 5U);
  EXPECT_EQ(not_predicted(fit.function, truth, 16 * k_gib, 20000), 0U);
}

TEST(ClassFit, CountsWithOddFactors) {
  const std::vector<std::pair<std::uint64_t, std::uint64_t>> unit_and_count{{4096, 6}, {128, 5}};
  for (const auto& [unit, count] : unit_and_count) {
    const auto memory_bytes = (16 + count) * k_gib;
    const auto truth = AddressFunction::modulo(unit, count);
    const auto fit = fit_of(truth, memory_bytes);
    ASSERT_TRUE(fit.ok()) << unit << " " << count << ": " << fit.reason;
    EXPECT_EQ(fit.function.key.size(), count);
    EXPECT_EQ(not_predicted(fit.function, truth, memory_bytes, 20000), 0U);
  }
}

TEST(ClassFit, ParitiesWithAResidue) {
  for (const auto* text :
       {"return (parity(a & 0x123456780) + 2 * parity(a & 0x3ff000000)) * 5 + (a >> 12) % 5",
        "return [3, 1, 2, 0, 4, 1, 0, 2, 5, 3, 1, 4, 0, 0][(a >> 13) % 7 * 2 + parity(a & 0x7ff000f00)]",
        "return (((a + 0x8000) >> 16) % 9 + 3 * parity(a & 0x1c0000100)) % 9",
        "return (a / 384) % 8"}) {  // a unit with a factor 3 is a residue too
    const auto truth = program(text);
    const auto fit = fit_of(truth, 32 * k_gib);
    ASSERT_TRUE(fit.ok()) << text << ": " << fit.reason;
    EXPECT_EQ(not_predicted(fit.function, truth, 32 * k_gib, 20000), 0U) << text;
  }
}

TEST(ClassFit, OtherMemorySizesAndSeeds) {
  for (const auto& [seed, memory_bytes] : {std::pair{2U, 256 * k_mib}, std::pair{3U, 80 * k_gib}}) {
    const auto truth = program("return (a >> 12) % 5 * 4 + parity(a & 0x5555580) * 2 + parity(a & 0x8421000)");
    ClassPlanOptions options;
    options.seed = seed;
    const auto plan = plan_class_addresses(memory_bytes, options).value();
    const auto fit = fit_class_function(plan, labels_of(plan, truth));
    ASSERT_TRUE(fit.ok()) << seed << " " << memory_bytes << ": " << fit.reason;
    EXPECT_EQ(not_predicted(fit.function, truth, memory_bytes, 20000), 0U);
  }
}

TEST(ClassFit, ATableWithLostRows) {
  const auto slice = slice_function_of("rtx4090");
  auto plan = plan_class_addresses(24 * k_gib).value();
  std::erase_if(plan, [](std::uint64_t address) { return mix64(address) % 20 == 0; });
  const auto fit = fit_class_function(plan, labels_of(plan, slice));
  ASSERT_TRUE(fit.ok()) << fit.reason;
  EXPECT_EQ(not_predicted(fit.function, slice, 24 * k_gib, 20000), 0U);
}

TEST(ClassFit, RandomClassesAreRefused) {
  const auto fit = fit_of([](std::uint64_t a) { return static_cast<std::uint32_t>(mix64(a) % 36); }, 256 * k_mib);
  EXPECT_FALSE(fit.ok());
  EXPECT_NE(fit.reason.find("not explained"), std::string::npos) << fit.reason;
}

TEST(ClassFit, TooFewOrMalformedSamplesAreRefused) {
  const auto slice = slice_function_of("rtx4090");
  const auto plan = plan_class_addresses(24 * k_gib).value();
  const auto labels = labels_of(plan, slice);
  const std::span<const std::uint64_t> addresses(plan);
  const std::span<const std::uint32_t> all_labels(labels);
  for (const std::size_t count : {std::size_t{0}, std::size_t{1}, std::size_t{500}, std::size_t{4096}}) {
    const auto fit = fit_class_function(addresses.first(count), all_labels.first(count));
    EXPECT_FALSE(fit.ok()) << count;
    EXPECT_FALSE(fit.reason.empty());
  }
  EXPECT_FALSE(fit_class_function(addresses, all_labels.first(100)).ok());
  const auto loose = fit_class_function(addresses.last(5000), all_labels.last(5000));
  EXPECT_FALSE(loose.ok());
  EXPECT_NE(loose.reason.find("window"), std::string::npos) << loose.reason;
  ClassFitOptions options;
  options.line_bytes = 100;
  EXPECT_FALSE(fit_class_function(addresses, all_labels, options).ok());
  std::vector<std::uint32_t> all_different(plan.size());
  for (std::size_t i = 0; i < all_different.size(); ++i) all_different[i] = static_cast<std::uint32_t>(i);
  EXPECT_FALSE(fit_class_function(addresses, all_different).ok());
}

TEST(ClassFit, AddressesOutsideWhatVariedHaveNoClass) {
  const auto truth = AddressFunction::parities({0x12380, 0x54300});
  auto plan = plan_class_addresses(k_gib).value();
  for (auto& address : plan) address |= std::uint64_t{5} << 32;
  const auto fit = fit_class_function(plan, labels_of(plan, truth));
  ASSERT_TRUE(fit.ok()) << fit.reason;
  EXPECT_EQ(fit.function((std::uint64_t{5} << 32) + 0x80), truth(0x80));
  EXPECT_EQ(fit.function(0x80), std::nullopt);
}

}  // namespace
}  // namespace gpusonde
