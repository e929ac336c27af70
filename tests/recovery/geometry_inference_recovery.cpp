// The inference of cache geometry over many more cases than the unit tests have time for: further numbers of ways,
// published and random functions of the address, whole GPUs' maps.
#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "../unit/inference/class_labels.hpp"
#include "../unit/inference/replacement_checks.hpp"
#include "core/units.hpp"
#include "inference/gf2.hpp"

namespace gpusonde {
namespace {

class ReplacementOfWays : public testing::TestWithParam<std::uint32_t> {};
INSTANTIATE_TEST_SUITE_P(Recovery, ReplacementOfWays, testing::Values(16, 32));

TEST_P(ReplacementOfWays, names_what_is_known_and_nothing_else) {
  expect_simulated_policies_recovered(GetParam());
  expect_shift_register_not_random(GetParam());
}

TEST(ReplacementRecovery, unknown_policies_of_many_ways_have_no_name) {
  for (const std::uint32_t ways : {16U, 64U}) expect_unknown_unnamed(ways);
}

TEST(ReplacementRecovery, protection_insertion_and_chance_of_more_ways) {
  for (const std::uint32_t ways : {8U, 16U}) {
    expect_protection_by_hits_told(ways);
    expect_insertion_told_from_an_empty_start(ways);
    expect_random_that_spares_the_last(ways);
  }
}

TEST(ReplacementRecovery, candidates_of_any_number_of_ways_hold_the_simulated_policies) {
  for (std::uint32_t ways = 2; ways <= 64; ++ways) expect_candidates_hold_simulated_policies(ways);
}

TEST(ReplacementRecovery, random_cases_have_no_wrong_name) { expect_no_wrong_name(21, 100, 16); }

TEST(ClassFunctionRecovery, published_slices_with_wrong_labels_line_by_line) {
  for (const auto& [model, memory_bytes] : {std::pair{"rtx4090", 24 * k_gib}, std::pair{"l40s", 48 * k_gib}}) {
    const auto slice = slice_function_of(model);
    const auto fit = fit_of(slice, memory_bytes, 0.002);
    ASSERT_TRUE(fit.ok()) << model << ": " << fit.reason;
    EXPECT_GT(fit.outvoted, 0U);
    EXPECT_EQ(not_predicted(fit.function, slice, memory_bytes, 1000000), 0U);
  }
}

TEST(ClassFunctionRecovery, xor_hashes) {
  Random random(12);
  for (const unsigned rank_wanted : {3U, 7U}) {
    std::vector<std::uint64_t> masks;
    while (masks.size() < rank_wanted) {
      masks.push_back(random.next() & 0x7FFFFFF80);
      if (rank(masks) < masks.size()) masks.pop_back();
    }
    const auto hash = AddressFunction::parities(masks);
    const auto fit = fit_of(hash, 24 * k_gib);
    ASSERT_TRUE(fit.ok()) << rank_wanted << ": " << fit.reason;
    EXPECT_EQ(fit.function.key.masks, canonical_basis(masks));
    EXPECT_EQ(not_predicted(fit.function, hash, 24 * k_gib, 20000), 0U);
  }
}

TEST(ClassFunctionRecovery, counts_with_odd_factors) {
  const std::vector<std::pair<std::uint64_t, std::uint64_t>> unit_and_count{
      {256, 12}, {1024, 24}, {2048, 80}, {128, 96}, {4096, 63}};
  for (const auto& [unit, count] : unit_and_count) {
    const auto memory_bytes = (16 + count) * k_gib;
    const auto truth = AddressFunction::modulo(unit, count);
    const auto fit = fit_of(truth, memory_bytes);
    ASSERT_TRUE(fit.ok()) << unit << " " << count << ": " << fit.reason;
    EXPECT_EQ(fit.function.key.size(), count);
    EXPECT_EQ(not_predicted(fit.function, truth, memory_bytes, 20000), 0U);
  }
}

TEST(ClassFunctionRecovery, pages_with_one_label_of_several_hundred_wrong) {
  const auto slice = slice_function_of("rtx4090");
  const auto pages = labelled_pages(slice, 4, 9, 0.002);
  const auto fit = fit_class_function_in_pages(pages.samples);
  ASSERT_TRUE(fit.ok()) << fit.reason;
  expect_all_lines(fit, pages, slice);
}

TEST(ClassFunctionRecovery, pages_of_a_xor_hash) {
  const auto truth = AddressFunction::parities({0x123456780, 0x3FF100000, 0x155555500});
  const auto pages = labelled_pages(truth, 4, 4);
  const auto fit = fit_class_function_in_pages(pages.samples);
  ASSERT_TRUE(fit.ok()) << fit.reason;
  expect_all_lines(fit, pages, truth);
}

TEST(ClassFunctionRecovery, pages_of_a_count_with_an_odd_factor) {
  const auto truth = AddressFunction::modulo(1024, 40);
  const auto pages = labelled_pages(truth, 4, 4);
  const auto fit = fit_class_function_in_pages(pages.samples);
  ASSERT_TRUE(fit.ok()) << fit.reason;
  expect_all_lines(fit, pages, truth);
}

TEST(ClassFunctionRecovery, too_many_wrong_labels_are_refused) {
  const auto fit = fit_of(slice_function_of("rtx4090"), 24 * k_gib, 0.05);
  EXPECT_FALSE(fit.ok());
  EXPECT_FALSE(fit.reason.empty());
}

TEST(ClassFunctionRecovery, two_residues_far_apart) {
  const auto truth = program("return (a >> 7) % 3 * 5 + (a >> 20) % 5");
  const auto fit = fit_of(truth, k_gib);
  ASSERT_TRUE(fit.ok()) << fit.reason;
  EXPECT_EQ(fit.function.key.terms, (std::vector<ResidueTerm>{{7, 0, 3}, {20, 0, 5}}));
  EXPECT_EQ(fit.function.key.size(), 15U);
  EXPECT_EQ(not_predicted(fit.function, truth, k_gib, 20000), 0U);
}

TEST(ClassFunctionRecovery, rare_classes_are_not_taken_for_wrong_labels) {
  // One line in 500, anywhere: "all the same" would be right about the others.
  const auto rare = [](std::uint64_t a) { return mix64(a) % 500 == 0 ? 1U : 0U; };
  const auto fit = fit_of(rare, 24 * k_gib);
  EXPECT_FALSE(fit.ok());
}

TEST(ClassFunctionRecovery, a_product_of_bits_has_no_few_parities) {
  const auto truth = [](std::uint64_t a) {
    std::uint32_t sum = 0;
    for (unsigned bit = 7; bit < 33; bit += 2) sum ^= static_cast<std::uint32_t>(a >> bit & a >> (bit + 1) & 1U);
    return sum;
  };
  const auto fit = fit_of(truth, 24 * k_gib);
  EXPECT_FALSE(fit.ok());
  EXPECT_FALSE(fit.reason.empty());
}

}  // namespace
}  // namespace gpusonde
