// Classes of lines, from maps whose slices are known: made with the simulated GPU's distances or at random.
#include "inference/line_clusters.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <numeric>
#include <set>
#include <utility>

#include "line_maps.hpp"

namespace gpusonde {
namespace {

using test::made_map;
using test::MadeMap;
using test::MapShape;
using test::random_centres;
using test::random_slices;
using test::simulated_centres;

// Lines of one slice have one label and no other slice's lines have it. Returns the lines without a label.
std::size_t expect_same_partition(const std::vector<std::int32_t>& labels, const std::vector<std::size_t>& slices) {
  std::map<std::int32_t, std::size_t> slice_of;
  std::map<std::size_t, std::int32_t> label_of;
  std::size_t loose = 0;
  std::size_t wrong = 0;
  for (std::size_t i = 0; i < labels.size(); ++i) {
    if (labels[i] == k_unlabelled) {
      ++loose;
      continue;
    }
    if (slice_of.emplace(labels[i], slices[i]).first->second != slices[i]) ++wrong;
    if (label_of.emplace(slices[i], labels[i]).first->second != labels[i]) ++wrong;
  }
  EXPECT_EQ(wrong, 0U);
  return loose;
}

TEST(ClusterLines, FindsSlicesThroughManySms) {
  for (const std::size_t slices : {2, 7, 36})
    for (const auto& [sms, noise] :
         {std::pair<std::size_t, double>{132, 0}, {132, 0.3}, {132, 6}, {24, 0.3}, {24, 1}}) {
      Random random(slices);
      const MapShape shape{slices, sms, std::max<std::size_t>(1024, 80 * slices), 300, 60, noise, 0};
      const MadeMap made = made_map(shape, random_centres(shape, random), random_slices(shape, random), random);
      const LineClusters found = cluster_lines(made.map, {true});
      // Through 132 SMs at distances of their own, even 2 % of noise leaves slices far apart; a few classes are then
      // not proven to be single slices.
      if (noise < 6 || slices > 7) {
        EXPECT_TRUE(found.ok()) << slices << " " << noise << ": " << found.reason;
      }
      EXPECT_EQ(found.count, slices) << noise;
      EXPECT_EQ(expect_same_partition(found.label, made.slice), 0U);
      if (noise > 0) {
        EXPECT_NEAR(found.noise_cycles, noise, 0.03 * noise);
      }
      EXPECT_GT(found.smallest_between_cycles, 10);
      EXPECT_EQ(std::accumulate(found.sizes.begin(), found.sizes.end(), std::size_t{0}), shape.lines);
    }
}

TEST(ClusterLines, OneSliceIsOneClass) {
  for (const double noise : {0.0, 0.2, 1.0, 6.0}) {
    Random random(3);
    const MapShape shape{1, 132, 2000, 300, 0, noise, 0};
    const LineClusters found =
        cluster_lines(made_map(shape, simulated_centres(shape, 1), random_slices(shape, random), random).map);
    ASSERT_TRUE(found.ok()) << found.reason;
    EXPECT_EQ(found.count, 1U);
    EXPECT_EQ(found.smallest_between_cycles, 0);
  }
}

// Two slices that the noise hides from a single SM are one class to see, and that is not said.
TEST(ClusterLines, OneClassIsNotClaimedWhereTwoWouldPassForOne) {
  Random random(4);
  MapShape shape{2, 1, 2000, 300, 6, 5, 0};
  const LineClusters found =
      cluster_lines(made_map(shape, simulated_centres(shape, 1), random_slices(shape, random), random).map);
  EXPECT_FALSE(found.ok());
  EXPECT_FALSE(found.reason.empty());
}

// Over the simulated GPU's distances, where slices may be as near as one likes, and distances of their own; 1 to 132
// SMs, up to 2 % of noise, some late readings.
TEST(ClusterLines, CountIsRightOrInconclusive) {
  constexpr std::size_t k_slices[] = {1, 2, 3, 4, 5, 7, 12, 20, 36, 48, 64, 96};
  constexpr std::size_t k_sms[] = {1, 2, 3, 4, 8, 16, 32, 64, 132};
  std::size_t known = 0;
  for (std::uint64_t seed = 0; seed < 25; ++seed) {
    Random random(mix64(seed));
    MapShape shape;
    shape.slices = k_slices[random.below(std::size(k_slices))];
    shape.sms = k_sms[random.below(std::size(k_sms))];
    shape.lines = std::max<std::size_t>(1024, (64 + random.below(64)) * shape.slices);
    shape.spread_cycles = 10 + 80 * random.uniform();
    const double noise = random.uniform();
    shape.noise_cycles = random.below(4) == 0 ? 0 : 6 * noise * noise * noise;
    shape.late_share = random.below(3) > 0 ? 0 : 0.01 * random.uniform();
    const auto centres = random.below(2) > 0 ? simulated_centres(shape, random.next()) : random_centres(shape, random);
    const MadeMap made = made_map(shape, centres, random_slices(shape, random), random);
    const LineClusters found = cluster_lines(made.map, {true});
    EXPECT_EQ(found.reason.empty(), found.ok());
    if (!found.ok()) continue;
    ++known;
    EXPECT_EQ(found.count, shape.slices) << "seed " << seed << ", " << shape.sms << " SMs";
    EXPECT_LT(expect_same_partition(found.label, made.slice), shape.lines / 10);
  }
  EXPECT_GE(known, 10U);  // an algorithm that never decides is none
}

TEST(ClusterLines, SlicesThatAllSmsSeeAlikeAreNoticedBySize) {
  Random random(5);
  const MapShape shape{48, 132, 6000, 300, 60, 0.3, 0};
  auto centres = random_centres(shape, random);
  centres[7] = centres[31];
  const MadeMap made = made_map(shape, centres, random_slices(shape, random), random);
  const LineClusters even = cluster_lines(made.map, {true});
  EXPECT_FALSE(even.ok());
  EXPECT_EQ(even.count_range.low, 47);
  EXPECT_EQ(even.count_range.high, 48);
  // Without knowing how lines were chosen, 47 classes is what the SMs tell apart.
  const LineClusters any = cluster_lines(made.map);
  EXPECT_TRUE(any.ok()) << any.reason;
  EXPECT_EQ(any.count, 47U);
}

TEST(ClusterLines, SlicesCloserThanTheNoiseAreInconclusive) {
  Random random(6);
  const MapShape shape{12, 32, 3000, 300, 60, 2, 0};
  for (const double apart : {0.5, 1.0, 2.0}) {
    auto centres = random_centres(shape, random);
    for (std::size_t sm = 0; sm < shape.sms; ++sm) centres[4][sm] = centres[5][sm] + (sm % 2 == 0 ? apart : -apart);
    const LineClusters found =
        cluster_lines(made_map(shape, centres, random_slices(shape, random), random).map, {true});
    EXPECT_FALSE(found.ok()) << apart;
  }
}

TEST(ClusterLines, ContinuousStructureIsInconclusive) {
  for (const std::size_t sms : {1, 4, 16, 132}) {
    Random random(sms);
    LineMap map{sms, 3000, {}};
    std::vector<double> place(map.lines);
    for (double& x : place) x = random.uniform();
    for (std::size_t sm = 0; sm < sms; ++sm) {
      const double own = random.uniform();
      for (const double x : place)
        map.cycles.push_back(static_cast<float>(300 + 60 * std::abs(own - x) + 0.5 * random.normal()));
    }
    const LineClusters found = cluster_lines(map);
    EXPECT_FALSE(found.ok()) << sms << " SMs gave " << found.count;
    EXPECT_FALSE(found.reason.empty());
  }
}

TEST(ClusterLines, OrderOfLinesDoesNotMatter) {
  Random random(8);
  const MapShape shape{36, 64, 4000, 300, 60, 1, 0.002};
  const auto centres = random_centres(shape, random);
  auto slices = random_slices(shape, random);
  std::sort(slices.begin(), slices.end());
  const MadeMap sorted = made_map(shape, centres, slices, random);
  MadeMap mixed = sorted;
  std::vector<std::size_t> order(shape.lines);
  std::iota(order.begin(), order.end(), std::size_t{0});
  for (std::size_t i = order.size(); i > 1; --i) std::swap(order[i - 1], order[random.below(i)]);
  for (std::size_t i = 0; i < shape.lines; ++i) {
    mixed.slice[i] = sorted.slice[order[i]];
    for (std::size_t sm = 0; sm < shape.sms; ++sm) mixed.map.cycles[sm * shape.lines + i] = sorted.map.at(sm, order[i]);
  }
  const LineClusters a = cluster_lines(sorted.map);
  const LineClusters b = cluster_lines(mixed.map);
  ASSERT_TRUE(a.ok()) << a.reason;
  ASSERT_TRUE(b.ok()) << b.reason;
  EXPECT_EQ(a.count, b.count);
  for (std::size_t i = 0; i < shape.lines; ++i)
    EXPECT_EQ(b.label[i] == k_unlabelled, a.label[order[i]] == k_unlabelled);
  expect_same_partition(b.label, mixed.slice);
}

// Lines slow from half of the SMs were evicted meanwhile: they have no label and change no count.
TEST(ClusterLines, EvictedLinesFitNowhere) {
  Random random(9);
  const MapShape shape{20, 64, 3000, 300, 60, 0.5, 0.001};
  MadeMap made = made_map(shape, random_centres(shape, random), random_slices(shape, random), random);
  std::set<std::size_t> evicted;
  while (evicted.size() < 60) evicted.insert(random.below(shape.lines));
  for (const std::size_t line : evicted)
    for (std::size_t sm = 0; sm < shape.sms; ++sm)
      if (random.below(2) == 0)
        made.map.cycles[sm * shape.lines + line] += static_cast<float>(100 + 500 * random.uniform());
  const LineClusters found = cluster_lines(made.map);
  ASSERT_TRUE(found.ok()) << found.reason;
  EXPECT_EQ(found.count, 20U);
  for (std::size_t line = 0; line < shape.lines; ++line)
    if (found.label[line] == k_unlabelled) {
      EXPECT_TRUE(evicted.contains(line)) << line;
    }
  EXPECT_EQ(expect_same_partition(found.label, made.slice),
            static_cast<std::size_t>(std::count(found.label.begin(), found.label.end(), k_unlabelled)));
}

TEST(ClusterLines, SmallAndNoisyClassesAreFound) {
  Random random(10);
  const MapShape shape{8, 48, 20000, 300, 60, 0.5, 0};
  std::vector<std::size_t> slices(shape.lines, 0);
  // 12 lines of slice 7 and 100 of slice 6, both rarely in a sample of 2048; 400 of each other one.
  for (std::size_t i = 0; i < 12; ++i) slices[1000 + 100 * i] = 7;
  for (std::size_t i = 0; i < 100; ++i) slices[5001 + 13 * i] = 6;
  for (std::size_t i = 0; i < 2000; ++i) slices[10000 + i] = 1 + i % 5;
  MadeMap made = made_map(shape, random_centres(shape, random), slices, random);
  for (std::size_t i = 0; i < shape.lines; ++i)
    if (made.slice[i] == 3)
      for (std::size_t sm = 0; sm < shape.sms; ++sm)
        made.map.cycles[sm * shape.lines + i] += static_cast<float>(1.5 * random.normal());
  const LineClusters found = cluster_lines(made.map);
  ASSERT_TRUE(found.ok()) << found.reason;
  EXPECT_EQ(found.count, 8U);
  EXPECT_LE(expect_same_partition(found.label, made.slice), 4U);
}

TEST(ClusterLines, RejectsWhatIsNoMap) {
  EXPECT_FALSE(cluster_lines({}).ok());
  EXPECT_FALSE(cluster_lines({1, 100, std::vector<float>(99, 300)}).ok());
  const LineClusters few = cluster_lines({1, 10, std::vector<float>(10, 300)});
  EXPECT_FALSE(few.ok());
  EXPECT_NE(few.reason.find("10 lines are too few"), std::string::npos);
}

TEST(AssignLines, NewLinesJoinTheirClasses) {
  Random random(11);
  const MapShape shape{36, 64, 4000, 300, 60, 1, 0};
  const auto centres = random_centres(shape, random);
  const MadeMap first = made_map(shape, centres, random_slices(shape, random), random);
  MadeMap more = made_map(shape, centres, random_slices(shape, random), random);
  for (std::size_t sm = 0; sm < shape.sms; ++sm) more.map.cycles[sm * shape.lines] = 900;  // evicted
  const LineClusters found = cluster_lines(first.map);
  ASSERT_TRUE(found.ok()) << found.reason;
  std::vector<std::int32_t> both = found.label;
  const auto labels = assign(found, more.map);
  both.insert(both.end(), labels.begin(), labels.end());
  std::vector<std::size_t> slices = first.slice;
  slices.insert(slices.end(), more.slice.begin(), more.slice.end());
  EXPECT_EQ(labels.front(), k_unlabelled);
  EXPECT_EQ(expect_same_partition(both, slices), 1U);
  const auto other_sms = assign(found, {1, 3, {300, 300, 300}});
  EXPECT_EQ(other_sms, std::vector<std::int32_t>(3, k_unlabelled));
}

}  // namespace
}  // namespace gpusonde
