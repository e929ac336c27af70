// Set functions recovered from groups of lines: published ones, random ones, with false members, and those that cannot
// be told.
#include "inference/set_function.hpp"

#include <gtest/gtest.h>

#include <bit>
#include <fstream>
#include <set>
#include <string>

#include "model/address_function.hpp"
#include "model/device_model.hpp"
#include "set_groups.hpp"

namespace gpusonde {
namespace {

SetFeatures bits(unsigned low, unsigned high) {
  SetFeatures features;
  features.address_bits = ((std::uint64_t{2} << high) - 1) & ~((std::uint64_t{1} << low) - 1);
  return features;
}

bool odd(std::uint64_t word) { return std::popcount(word) % 2 == 1; }

std::uint64_t parities(const std::vector<std::uint64_t>& masks, std::uint64_t line) {
  std::uint64_t value = 0;
  for (std::size_t i = 0; i < masks.size(); ++i) value |= std::uint64_t{odd(line & masks[i])} << i;
  return value;
}

/// All sums of masks, written out.
std::set<std::uint64_t> span_of(const std::vector<std::uint64_t>& masks) {
  std::set<std::uint64_t> span{0};
  for (const auto mask : masks) {
    auto more = span;
    for (const auto sum : span) more.insert(sum ^ mask);
    span = more;
  }
  return span;
}

std::vector<std::uint64_t> address_masks(const SetFunctionFit& fit) {
  std::vector<std::uint64_t> masks;
  for (const auto& mask : fit.function.masks) masks.push_back(mask.address);
  return masks;
}

/// Masks none of which is a sum of others.
std::vector<std::uint64_t> random_masks(unsigned rank, const SetFeatures& features, Random& random) {
  std::vector<std::uint64_t> masks;
  while (masks.size() < rank) {
    const auto mask = random.next() & features.address_bits;
    if (!span_of(masks).contains(mask)) masks.push_back(mask);
  }
  return masks;
}

AddressFunction parsed(const SetFunctionFit& fit) {
  const auto function = AddressFunction::parse(fit.function.text(), {});
  EXPECT_TRUE(function) << function.error().message << "\n" << fit.function.text();
  return function.value_or(AddressFunction());
}

std::vector<std::uint64_t> random_lines(std::size_t count, std::uint64_t bytes, Random& random) {
  std::vector<std::uint64_t> lines(count);
  for (auto& line : lines) line = lines_below(bytes)(random);
  return lines;
}

// As printed; a line's address has no bits below 7.
constexpr std::uint64_t k_l1_masks[] = {0xc3901e00, 0x119a80a0,  0x167041b0, 0xdbc21d80,
                                        0x47810400, 0x1b4e09180, 0xb6405400, 0xdc202c80};

TEST(SetFunction, FindsTheRtx4090L1Masks) {
  const auto model = find_model("rtx4090");
  ASSERT_TRUE(model);
  const auto set_of = [&](std::uint64_t line) { return model->caches[0].set_function(line); };
  const auto draw = lines_below(32 * k_gib);
  Random random(4090);
  const auto groups = groups_of(40, 5, draw, set_of, random);
  const auto fit = fit_set_function(groups, non_conflicts_of(200, draw, set_of, random), bits(7, 40), {});
  ASSERT_TRUE(fit.ok()) << fit.reason;
  std::vector<std::uint64_t> printed;
  for (const auto mask : k_l1_masks) printed.push_back(mask & ~std::uint64_t{127});
  EXPECT_EQ(span_of(address_masks(fit)), span_of(printed));
  EXPECT_EQ(fit.rank, 8U);
  EXPECT_EQ(fit.function.set_count(), 256U);
  EXPECT_EQ(fit.explained_groups, 40U);
  EXPECT_TRUE(fit.contradictions.empty());
  EXPECT_EQ(fit.differences, 160U);
  // 28 bits vary, 7 to 34, and 8 masks hold.
  EXPECT_EQ(fit.differences_rank, 20U);
  EXPECT_FALSE(fit.complete);  // 200 pairs would not show a ninth mask

  SetFitOptions options;
  options.sets_hint = {250, 262};
  EXPECT_TRUE(fit_set_function(groups, {}, bits(7, 40), options).complete);
}

TEST(SetFunction, AgreesWithThePublishedVectors) {
  const auto model = find_model("rtx4090");
  ASSERT_TRUE(model);
  std::ifstream file(GPUSONDE_SOURCE_DIR "/tests/golden/hash-vectors.csv");
  std::map<std::uint64_t, std::uint64_t> l1_set;
  std::string line;
  std::getline(file, line);
  while (std::getline(file, line))
    l1_set[std::stoull(line, nullptr, 16)] = std::stoull(line.substr(line.rfind(',') + 1));
  ASSERT_GT(l1_set.size(), 1900U);
  // The vectors themselves, grouped by the set they state: 2,000 over 256 sets.
  std::map<std::uint64_t, LineGroup> by_set;
  for (const auto& [address, set] : l1_set) by_set[set].push_back(address);
  std::vector<LineGroup> groups;
  for (const auto& [set, lines] : by_set) groups.push_back(lines);
  SetFitOptions options;
  options.sets_hint = {256, 256};
  const auto fit = fit_set_function(groups, {}, bits(7, 40), options);
  ASSERT_TRUE(fit.ok()) << fit.reason;
  std::vector<std::uint64_t> lines;
  for (const auto& [address, set] : l1_set) lines.push_back(address);
  EXPECT_TRUE(same_partition(
      lines, [&](std::uint64_t each) { return fit.function.value(each); },
      [&](std::uint64_t each) { return l1_set.at(each); }));
}

TEST(SetFunction, FindsRandomMasksOfEveryRank) {
  const auto features = bits(7, 36);
  const auto draw = lines_below(std::uint64_t{1} << 37);
  for (unsigned rank = 1; rank <= 11; ++rank) {
    Random random(rank);
    const auto masks = random_masks(rank, features, random);
    const auto set_of = [&](std::uint64_t line) { return parities(masks, line); };
    const auto groups = groups_of(40, 5, draw, set_of, random);
    const auto fit = fit_set_function(groups, non_conflicts_of(300, draw, set_of, random), features, {});
    ASSERT_TRUE(fit.ok()) << rank << ": " << fit.reason;
    EXPECT_EQ(span_of(address_masks(fit)), span_of(masks)) << rank;
    EXPECT_EQ(fit.rank, rank);
    EXPECT_EQ(fit.differences_rank, 30 - rank);
    EXPECT_EQ(fit.held_out_groups, 13U);
    EXPECT_EQ(fit.held_out_explained, 13U);
    EXPECT_EQ(fit.non_conflicts_alike, 0U);
    EXPECT_EQ(fit.complete, rank <= 4) << rank;  // 300 / (2^(rank + 1) - 1) >= 8
  }
}

TEST(SetFunction, FindsOneSetOnlyWhenThatIsCounted) {
  Random random(1);
  const auto draw = lines_below(std::uint64_t{1} << 37);
  const auto one = [](std::uint64_t) { return 0; };
  const auto groups = groups_of(40, 5, draw, one, random);
  SetFitOptions options;
  options.sets_hint = {1, 1};
  const auto fit = fit_set_function(groups, {}, bits(7, 36), options);
  ASSERT_TRUE(fit.ok()) << fit.reason;
  EXPECT_EQ(fit.rank, 0U);
  EXPECT_EQ(fit.function.set_count(), 1U);
  EXPECT_EQ(parsed(fit)(0x12380), 0U);
  EXPECT_FALSE(fit_set_function(groups, {}, bits(7, 36), {}).ok());
}

TEST(SetFunction, NamesFalseMembersAndFindsTheMasksAllTheSame) {
  const auto features = bits(7, 36);
  const auto draw = lines_below(std::uint64_t{1} << 37);
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    Random random(seed);
    const auto rank = static_cast<unsigned>(random.between(3, 11));
    const auto masks = random_masks(rank, features, random);
    const auto set_of = [&](std::uint64_t line) { return parities(masks, line); };
    auto groups = groups_of(60, 5, draw, set_of, random);
    const auto spoiled = spoil(groups, 6, draw, set_of, random);
    const auto fit = fit_set_function(groups, non_conflicts_of(300, draw, set_of, random), features, {});
    ASSERT_TRUE(fit.ok()) << seed << ": " << fit.reason;
    EXPECT_EQ(span_of(address_masks(fit)), span_of(masks)) << seed;
    EXPECT_EQ(fit.explained_groups, 54U);
    ASSERT_EQ(fit.contradictions.size(), 6U);
    for (const auto& contradiction : fit.contradictions) {
      ASSERT_TRUE(spoiled.contains(contradiction.group));
      EXPECT_EQ(contradiction.lines, LineGroup{spoiled.at(contradiction.group)});
    }
  }
}

TEST(SetFunction, FindsMasksFromPairsWithFalseOnes) {
  const auto features = bits(7, 36);
  const auto draw = lines_below(std::uint64_t{1} << 37);
  int found = 0;
  for (std::uint64_t seed = 1; seed <= 10; ++seed) {
    Random random(seed);
    const auto masks = random_masks(7, features, random);
    const auto set_of = [&](std::uint64_t line) { return parities(masks, line); };
    auto groups = groups_of(200, 2, draw, set_of, random);
    spoil(groups, 20, draw, set_of, random);
    const auto fit = fit_set_function(groups, non_conflicts_of(300, draw, set_of, random), features, {});
    if (!fit.ok()) continue;
    ++found;
    EXPECT_EQ(span_of(address_masks(fit)), span_of(masks)) << seed;
  }
  EXPECT_GE(found, 9);
}

// Bit 36 is set in 2 % of the lines: most groups agree on it, and it is no part of the function.
TEST(SetFunction, IsNotFooledByABitThatIsNearlyConstant) {
  const auto features = bits(7, 36);
  const auto draw = [](Random& random) {
    const auto top = std::uint64_t{random.uniform() < 0.02} << 36;
    return lines_below(std::uint64_t{1} << 36)(random) | top;
  };
  int found = 0;
  for (std::uint64_t seed = 1; seed <= 40; ++seed) {
    Random random(seed);
    const auto masks = random_masks(8, bits(7, 35), random);
    const auto set_of = [&](std::uint64_t line) { return parities(masks, line); };
    const auto groups = groups_of(10 + 10 * (seed % 8), 5, draw, set_of, random);
    const auto fit = fit_set_function(groups, non_conflicts_of(300, draw, set_of, random), features, {});
    if (!fit.ok()) continue;
    ++found;
    auto got = address_masks(fit);
    EXPECT_EQ(span_of(got), span_of(masks)) << seed << " with " << groups.size() << " groups";
  }
  EXPECT_GT(found, 5);
}

TEST(SetFunction, TextGivesTheSameNumbers) {
  Random random(7);
  const auto features = bits(7, 36);
  const auto draw = lines_below(std::uint64_t{1} << 37);
  const auto masks = random_masks(6, features, random);
  const auto set_of = [&](std::uint64_t line) { return parities(masks, line); };
  const auto fit = fit_set_function(groups_of(40, 5, draw, set_of, random), non_conflicts_of(300, draw, set_of, random),
                                    features, {});
  ASSERT_TRUE(fit.ok()) << fit.reason;
  const auto program = parsed(fit);
  for (const auto line : random_lines(10000, std::uint64_t{1} << 37, random)) {
    EXPECT_EQ(program(line), fit.function.value(line));
    EXPECT_LT(fit.function.value(line), fit.function.set_count());
  }
}

TEST(SetFunction, FindsRemainders) {
  const auto draw = lines_below(8 * k_gib);
  for (const std::uint64_t sets : {3, 60, 482, 498, 1000}) {
    Random random(sets);
    const auto set_of = [&](std::uint64_t line) { return line / k_line_bytes % sets; };
    auto groups = groups_of(40, 5, draw, set_of, random);
    spoil(groups, 4, draw, set_of, random);
    const auto fit = fit_set_function(groups, non_conflicts_of(300, draw, set_of, random), bits(7, 34), {});
    ASSERT_TRUE(fit.ok()) << sets << ": " << fit.reason;
    ASSERT_TRUE(fit.function.modulo);
    EXPECT_EQ(*fit.function.modulo, (ModuloSets{k_line_bytes, sets}));
    EXPECT_TRUE(fit.function.masks.empty());
    EXPECT_EQ(fit.explained_groups, 36U);
    const auto program = parsed(fit);
    for (const auto line : random_lines(1000, 8 * k_gib, random)) {
      EXPECT_EQ(fit.function.value(line), set_of(line));
      EXPECT_EQ(program(line), set_of(line));
    }
  }
}

TEST(SetFunction, FindsMasksTogetherWithARemainder) {
  Random random(11);
  const auto draw = lines_below(8 * k_gib);
  const std::vector<std::uint64_t> masks{0x12345680, 0x0f0f0f00, 0x33300000};
  const auto set_of = [&](std::uint64_t line) { return 3 * parities(masks, line) + line / k_line_bytes % 3; };
  const auto fit = fit_set_function(groups_of(40, 5, draw, set_of, random),
                                    non_conflicts_of(1000, draw, set_of, random), bits(7, 32), {});
  ASSERT_TRUE(fit.ok()) << fit.reason;
  EXPECT_EQ(fit.function.set_count(), 24U);
  EXPECT_TRUE(fit.complete);
  const auto lines = random_lines(10000, 8 * k_gib, random);
  const auto value = [&](std::uint64_t line) { return fit.function.value(line); };
  EXPECT_TRUE(same_partition(lines, value, set_of));
  EXPECT_TRUE(same_partition(lines, value, parsed(fit)));
}

TEST(SetFunction, RefusesAFunctionThatIsNeither) {
  const auto draw = lines_below(std::uint64_t{1} << 37);
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    Random random(seed);
    const auto set_of = [&](std::uint64_t line) { return mix64(line ^ seed) % 64; };
    const auto groups = groups_of(10 + seed * 3, 5, draw, set_of, random);
    const auto fit = fit_set_function(groups, non_conflicts_of(300, draw, set_of, random), bits(7, 36), {});
    EXPECT_FALSE(fit.ok()) << fit.function.text();
    EXPECT_FALSE(fit.reason.empty());
    if (groups.size() > 30) {
      EXPECT_NE(fit.reason.find("one stride explains 0"), std::string::npos) << fit.reason;
    }
  }
}

TEST(SetFunction, RefusesMasksThatDoNotMakeAllSets) {
  const auto draw = lines_below(std::uint64_t{1} << 37);
  Random random(3);
  const std::vector<std::uint64_t> masks{0x12345680, 0x0f0f0f00};
  // Four sets by parity, each divided by what no parity is.
  const auto set_of = [&](std::uint64_t line) { return 8 * parities(masks, line) + mix64(line) % 8; };
  const auto groups = groups_of(40, 5, draw, set_of, random);
  const auto fit = fit_set_function(groups, non_conflicts_of(300, draw, set_of, random), bits(7, 36), {});
  EXPECT_FALSE(fit.ok());
  EXPECT_NE(fit.reason.find("share one of the 4 sets found"), std::string::npos) << fit.reason;
  SetFitOptions options;
  options.sets_hint = {28, 36};
  const auto hinted = fit_set_function(groups, {}, bits(7, 36), options);
  EXPECT_FALSE(hinted.ok());
  EXPECT_EQ(hinted.reason, "the function found has 4 sets, but 28 to 36 were counted");
}

TEST(SetFunction, RefusesTooFewGroups) {
  const auto features = bits(7, 36);
  const auto draw = lines_below(std::uint64_t{1} << 37);
  int refused = 0;
  int said_too_few = 0;
  for (std::uint64_t seed = 1; seed <= 60; ++seed) {
    Random random(seed);
    const auto masks = random_masks(8, features, random);
    const auto set_of = [&](std::uint64_t line) { return parities(masks, line); };
    const auto groups = groups_of(1 + seed % 15, 5, draw, set_of, random);
    const auto fit = fit_set_function(groups, non_conflicts_of(300, draw, set_of, random), features, {});
    if (fit.ok()) {
      EXPECT_EQ(span_of(address_masks(fit)), span_of(masks)) << groups.size();
      continue;
    }
    ++refused;
    said_too_few += fit.reason.starts_with("too few conflicts") ? 1 : 0;
  }
  EXPECT_EQ(refused, said_too_few);
  EXPECT_GE(refused, 40);
}

// Bit 36 takes part in one group alone, so only that group says that it is no set bit, and it may be false.
TEST(SetFunction, RefusesWhenOneGroupAloneDecides) {
  Random random(8);
  const auto masks = random_masks(6, bits(7, 35), random);
  const auto set_of = [&](std::uint64_t line) { return parities(masks, line); };
  const auto draw = lines_below(std::uint64_t{1} << 36);
  auto groups = groups_of(80, 9, draw, set_of, random);
  const auto non_conflicts = non_conflicts_of(60, draw, set_of, random);
  ASSERT_TRUE(fit_set_function(groups, non_conflicts, bits(7, 36), {}).ok());
  groups[7][3] |= std::uint64_t{1} << 36;
  const auto fit = fit_set_function(groups, non_conflicts, bits(7, 36), {});
  EXPECT_FALSE(fit.ok()) << fit.function.text();
  EXPECT_TRUE(fit.reason.starts_with("too few conflicts")) << fit.reason;
}

// Any number and size of groups, up to a quarter of them spoiled: what is said is right.
TEST(SetFunction, IsNeverWrongOnRandomCases) {
  int found = 0;
  for (std::uint64_t seed = 1; seed <= 40; ++seed) {
    Random random(seed);
    const auto top = static_cast<unsigned>(random.between(25, 37));
    const auto masks = random_masks(static_cast<unsigned>(random.between(1, 11)), bits(7, top), random);
    const auto set_of = [&](std::uint64_t line) { return parities(masks, line); };
    const auto draw = lines_below(std::uint64_t{2} << top);
    auto groups = groups_of(random.between(6, 100), random.between(2, 17), draw, set_of, random);
    spoil(groups, groups.size() * random.below(26) / 100, draw, set_of, random);
    const auto non_conflicts = non_conflicts_of(random.between(8, 600), draw, set_of, random);
    const auto fit = fit_set_function(groups, non_conflicts, bits(7, 40), {});
    if (!fit.ok()) continue;
    ++found;
    EXPECT_EQ(span_of(address_masks(fit)), span_of(masks)) << seed;
  }
  EXPECT_GE(found, 25);
}

TEST(SetFunction, NamesTheRankWhenMasksStillFallAway) {
  Random random(5);
  const auto draw = lines_below(std::uint64_t{1} << 37);
  const auto masks = random_masks(8, bits(7, 36), random);
  const auto set_of = [&](std::uint64_t line) { return parities(masks, line); };
  // 6 groups give 12 independent differences of 22.
  const auto fit = fit_set_function(groups_of(6, 3, draw, set_of, random), non_conflicts_of(300, draw, set_of, random),
                                    bits(7, 36), {});
  EXPECT_EQ(fit.outcome, Outcome::inconclusive);
  EXPECT_EQ(fit.reason, "too few conflicts: 12 differences of rank 12, the last group still removed a mask");
}

// Ten groups have lines of ten sets, on which three of twelve masks at least are constant.
TEST(SetFunction, RefusesWhenTooFewSetsWereSeen) {
  Random random(12);
  const auto draw = lines_below(std::uint64_t{1} << 37);
  const auto masks = random_masks(12, bits(7, 36), random);
  const auto set_of = [&](std::uint64_t line) { return parities(masks, line); };
  SetFitOptions options;
  options.sets_hint = {2, 10000};
  const auto fit = fit_set_function(groups_of(10, 17, draw, set_of, random), {}, bits(7, 36), options);
  EXPECT_FALSE(fit.ok()) << fit.function.text();
  EXPECT_EQ(fit.reason, "too few conflicts: 9 masks vary over 10 unrelated lines, and more may over at least 22");
}

TEST(SetFunction, RefusesWithoutAnythingToTestTheNumberOfSets) {
  Random random(6);
  const auto draw = lines_below(std::uint64_t{1} << 37);
  const auto masks = random_masks(8, bits(7, 36), random);
  const auto set_of = [&](std::uint64_t line) { return parities(masks, line); };
  const auto fit = fit_set_function(groups_of(40, 5, draw, set_of, random), {}, bits(7, 36), {});
  EXPECT_FALSE(fit.ok());
  EXPECT_NE(fit.reason.find("give at least 8"), std::string::npos) << fit.reason;
}

TEST(SetFunction, RefusesMalformedInput) {
  EXPECT_FALSE(fit_set_function({}, {}, bits(7, 36), {}).ok());
  EXPECT_FALSE(fit_set_function({{}, {128}, {128, 128}}, {}, bits(7, 36), {}).ok());
  EXPECT_FALSE(fit_set_function({{0, 128}}, {}, {}, {}).ok());
  SetFeatures wide = bits(7, 36);
  wide.residues.assign(5, {7, 0, 64});
  EXPECT_EQ(fit_set_function({}, {}, wide, {}).reason, "the features have 350 columns; at most 256 fit");
  wide.residues = {{7, 0, 1}};
  EXPECT_FALSE(fit_set_function({}, {}, wide, {}).ok());
  SetFitOptions options;
  options.group_pools = {0, 1};
  EXPECT_EQ(fit_set_function({{0, 128}}, {}, bits(7, 36), options).reason, "1 groups have 2 pools");
}

}  // namespace
}  // namespace gpusonde
