// The value and the text of a class function, against closed forms.
#include "inference/class_function.hpp"

#include <gtest/gtest.h>

#include <algorithm>

#include "class_labels.hpp"
#include "inference/gf2.hpp"

namespace gpusonde {
namespace {

/// Three parities, each class a sum of constants.
ClassFunction linear_function() {
  ClassFunction function;
  function.key.masks = {0x80, 0x300, 0x5000};
  function.classes = {0, 1, 2, 3, 4, 5, 6, 7};
  for (std::int32_t at = 0; at < 8; ++at) function.table.push_back(at ^ 5);
  function.known_bits = 0xFFFF;
  return function;
}

/// (a >> 7) % 3 and whether bit 9 is set, in no order.
ClassFunction residue_function() {
  ClassFunction function;
  function.key.masks = {0x200};
  function.key.terms = {{7, 0, 3}, {10, 0x200, 5}};
  function.classes = {3, 10, 500, 77777};
  for (std::int32_t at = 0; at < 30; ++at) function.table.push_back(at * 7 % 4);
  function.known_bits = 0xFFFFFF;
  return function;
}

TEST(ClassFunction, ValueIsTheTablesEntryOfParitiesAndResidues) {
  const auto function = residue_function();
  Random random(1);
  for (int i = 0; i < 1000; ++i) {
    const auto a = random.below(0x1000000);
    const auto key = ((a / 128 % 3) * 5 + (a + 512) / 1024 % 5) * 2 + a / 512 % 2;
    EXPECT_EQ(function(a), (std::vector<std::uint32_t>{3, 10, 500, 77777}[key * 7 % 4]));
  }
}

TEST(ClassFunction, NothingIsSaidOfBitsThatNeverVariedAndKeysNeverSeen) {
  auto function = linear_function();
  EXPECT_EQ(function(0x80), 5U ^ 1U);
  EXPECT_EQ(function(0x10080), std::nullopt);
  function.other_bits = 0x10000;
  EXPECT_EQ(function(0x80), std::nullopt);
  EXPECT_EQ(function(0x10080), 5U ^ 1U);
  EXPECT_TRUE(function.is_linear());
  function.table[1] = ClassFunction::k_never_seen;
  EXPECT_EQ(function(0x10080), std::nullopt);
  EXPECT_EQ(function(0x10000), 5U);
  EXPECT_FALSE(function.is_linear());
  EXPECT_EQ(function.keys_never_seen(), 1U);
}

TEST(ClassFunction, LinearMeansOneKeyAClassAndNoResidue) {
  EXPECT_TRUE(linear_function().is_linear());
  EXPECT_FALSE(residue_function().is_linear());
  auto two_keys_a_class = linear_function();
  two_keys_a_class.classes = {0, 1, 2, 3};
  for (auto& entry : two_keys_a_class.table) entry &= 3;
  EXPECT_FALSE(two_keys_a_class.is_linear());
}

TEST(ClassFunction, TextIsAProgramWithTheSameValue) {
  auto not_affine = linear_function();
  std::swap(not_affine.table[0], not_affine.table[1]);
  ClassFunction constant;
  constant.classes = {42};
  constant.table = {0};
  constant.known_bits = 0xFFFFFF;
  auto residue_alone = residue_function();
  residue_alone.key.masks.clear();
  residue_alone.key.terms.pop_back();
  residue_alone.table = {2, 0, 1};
  for (const auto& function : {linear_function(), not_affine, residue_function(), constant, residue_alone}) {
    const auto text = program(function.text());
    for (std::uint64_t a = 0; a < 0x10000; a += 64) ASSERT_EQ(text(a), function(a)) << function.text();
  }
  EXPECT_EQ(linear_function().text(),
            "p0 = parity(a & 0x80)\np1 = parity(a & 0x300)\np2 = parity(a & 0x5000)\n"
            "return 5 ^ p0 * 1 ^ p1 * 2 ^ p2 * 4\n");
}

TEST(ClassFunction, TextOwnsUpToWhatWasNeverSeen) {
  auto function = residue_function();
  function.table[7] = ClassFunction::k_never_seen;
  function.other_bits = 0x7000000;
  const auto text = function.text();
  EXPECT_NE(text.find("# 1 of 30 keys were never seen; they are given 3\n"), std::string::npos);
  EXPECT_NE(text.find("is 0x7000000\n"), std::string::npos);
  const auto parsed = program(text);
  for (std::uint64_t a = 0x7000000; a < 0x7010000; a += 64) ASSERT_EQ(parsed(a), function(a).value_or(3));
}

TEST(ClassFunction, AnOffsetWithTheConstantsOfItsPageIsTheAddress) {
  const auto function = residue_function();
  Random random(2);
  for (int i = 0; i < 100; ++i) {
    const auto page = random.below(16) << 20;
    const std::vector<std::uint32_t> residues{static_cast<std::uint32_t>(page / 128 % 3),
                                              static_cast<std::uint32_t>(page / 1024 % 5)};
    const auto offset = random.below(1 << 20);
    EXPECT_EQ(function.in_page(offset, function.key.parities(page), residues), function(page | offset));
  }
}

}  // namespace
}  // namespace gpusonde
