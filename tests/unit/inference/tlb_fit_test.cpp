// Curves made by the plain simulator, with noise: the tables they came from are found, and what leaves room is said to.
#include "inference/tlb_fit.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <set>
#include <utility>

#include "core/random.hpp"
#include "core/units.hpp"
#include "naive_tlb.hpp"

namespace gpusonde {
namespace {

constexpr double k_sigma_cycles = 0.25;

/// Nodes in a random order, each so far from the next.
std::vector<std::uint64_t> walk_of(std::uint64_t nodes, std::uint64_t stride) {
  std::vector<std::uint64_t> addresses(nodes);
  for (std::uint64_t i = 0; i < nodes; ++i) addresses[i] = i * stride;
  Random random(nodes ^ stride);
  for (std::size_t i = nodes; i > 1; --i) std::swap(addresses[i - 1], addresses[random.below(i)]);
  return addresses;
}

/// Four to the octave, as the alias probe begins.
std::vector<std::uint64_t> coarse_nodes(std::uint64_t most) {
  std::vector<std::uint64_t> nodes;
  for (int quarter = 4; quarter <= 80; ++quarter) {
    const auto count = static_cast<std::uint64_t>(std::llround(std::exp2(quarter / 4.0)));
    if (count > most) break;
    if (nodes.empty() || nodes.back() != count) nodes.push_back(count);
  }
  return nodes;
}

/// Coarse nodes and some more.
std::vector<std::uint64_t> nodes_with(std::uint64_t most, std::initializer_list<std::uint64_t> more) {
  auto nodes = coarse_nodes(most);
  for (const auto count : more)
    if (std::find(nodes.begin(), nodes.end(), count) == nodes.end()) nodes.push_back(count);
  std::sort(nodes.begin(), nodes.end());
  return nodes;
}

using Penalty = std::function<double(std::uint64_t stride, std::uint64_t nodes)>;

class Curves {
 public:
  explicit Curves(std::uint64_t seed) : m_noise(seed) {}

  void add(std::uint64_t stride, const std::vector<std::uint64_t>& nodes, const Penalty& penalty) {
    for (const auto count : nodes) {
      TlbPoint point;
      point.stride_bytes = stride;
      point.nodes = count;
      point.penalty_cycles = penalty(stride, count) + k_sigma_cycles * m_noise.normal();
      point.sigma_cycles = k_sigma_cycles;
      point.trace = std::make_shared<TlbTrace>(walk_of(count, stride), 2 * count, std::max<std::uint64_t>(count, 2048));
      m_points.push_back(std::move(point));
    }
  }
  [[nodiscard]] const std::vector<TlbPoint>& points() const noexcept { return m_points; }

 private:
  Random m_noise;
  std::vector<TlbPoint> m_points;
};

/// What a chain of tables adds to a load, by the plain simulator. `costs[i]`: of a load whose deepest miss is level i.
Penalty penalty_of(std::vector<TlbShape> levels, std::function<double(std::size_t level, std::uint64_t stride)> cost) {
  return [levels = std::move(levels), cost = std::move(cost)](std::uint64_t stride, std::uint64_t nodes) {
    const auto misses = naive_deepest_misses(levels, {walk_of(nodes, stride), 2 * nodes, nodes, 0, 0});
    double cycles = 0;
    for (std::size_t i = 0; i < misses.size(); ++i) cycles += static_cast<double>(misses[i]) * cost(i, stride);
    return cycles / static_cast<double>(nodes);
  };
}

const TlbShape k_first{16, 0, 2 * k_mib, TlbPolicy::lru, false};
const TlbShape k_second{2048, 8, 32 * k_mib, TlbPolicy::lru, true};
constexpr double k_first_cycles = 11.5;
constexpr double k_second_cycles = 95;

Curves one_level_curves(std::uint64_t seed) {
  Curves curves(seed);
  const auto penalty = penalty_of({k_first}, [](std::size_t, std::uint64_t) { return k_first_cycles; });
  for (std::uint64_t stride = k_mib / 2; stride <= 64 * k_mib; stride *= 2)
    curves.add(stride, nodes_with(512, {14, 15, 17, 18, 20, 30, 31, 33, 34, 36, 40}), penalty);
  return curves;
}

Curves two_level_curves(std::uint64_t seed, std::function<double(std::size_t, std::uint64_t)> cost) {
  Curves curves(seed);
  const auto penalty = penalty_of({k_first, k_second}, std::move(cost));
  for (std::uint64_t stride = k_mib; stride <= k_gib; stride *= 2)
    curves.add(stride, nodes_with(8192, {14,   15,   17,   18,   20,   31,   33,   34,   36,   40,
                                         1984, 2016, 2040, 2049, 2056, 2080, 2112, 2176, 2240, 2304}),
               penalty);
  return curves;
}

double flat_cost(std::size_t level, std::uint64_t /*stride*/) { return level == 0 ? k_first_cycles : k_second_cycles; }

/// A walk that takes longer the farther its pages lie apart.
double rising_cost(std::size_t level, std::uint64_t stride) {
  if (level == 0) return k_first_cycles;
  return k_second_cycles + 15 * std::log2(static_cast<double>(stride) / static_cast<double>(16 * k_mib));
}

std::set<TlbPolicy> policies(const TlbLevelFit& fit) {
  std::set<TlbPolicy> found;
  for (const auto& candidate : fit.candidates) found.insert(candidate.shape.policy);
  return found;
}

bool stands(const TlbLevelFit& fit, const TlbShape& shape) {
  return std::any_of(fit.candidates.begin(), fit.candidates.end(),
                     [&](const TlbCandidate& candidate) { return candidate.shape == shape; });
}

void expect_first_level(const TlbLevelFit& fit) {
  ASSERT_FALSE(fit.candidates.empty()) << fit.trouble;
  EXPECT_TRUE(fit.trouble.empty());
  EXPECT_TRUE(stands(fit, k_first));
  for (const auto& candidate : fit.candidates) {
    EXPECT_EQ(candidate.shape.entries, 16U);
    EXPECT_EQ(candidate.shape.ways, 0U);
    EXPECT_EQ(candidate.shape.span_bytes, 2 * k_mib);
    EXPECT_LE(candidate.misfit, 1.6);
  }
  // Two nodes a span in a random order tell lru from fifo; a tree filled where it points differs by less.
  EXPECT_TRUE(policies(fit).contains(TlbPolicy::lru));
  EXPECT_FALSE(policies(fit).contains(TlbPolicy::fifo));
  EXPECT_FALSE(policies(fit).contains(TlbPolicy::random));
  EXPECT_NEAR(fit.candidates.front().penalty_cycles, k_first_cycles, 0.3);
  EXPECT_LE(fit.penalty_cycles.low, k_first_cycles);
  EXPECT_GE(fit.penalty_cycles.high, k_first_cycles);
  EXPECT_LT(fit.penalty_cycles.high - fit.penalty_cycles.low, 1);
}

void expect_second_size(const TlbLevelFit& fit) {
  ASSERT_FALSE(fit.candidates.empty()) << fit.trouble;
  EXPECT_EQ(fit.candidates.front().shape.entries, 2048U);
  EXPECT_TRUE(fit.candidates.front().shape.folded);
  for (const auto& candidate : fit.candidates) {
    EXPECT_NEAR(candidate.shape.entries, 2048, 0.01 * 2048);
    EXPECT_EQ(candidate.shape.span_bytes, 32 * k_mib);
    EXPECT_EQ(candidate.shape.ways, 8U);
  }
}

TEST(TlbFit, FindsATableOfSixteenEntries) {
  for (const std::uint64_t seed : {1U, 2U, 3U}) {
    SCOPED_TRACE(seed);
    const auto curves = one_level_curves(seed);
    const auto fits = fit_tlb(curves.points());
    ASSERT_EQ(fits.size(), 1U);
    expect_first_level(fits[0]);
    EXPECT_NEAR(fits[0].plateau_cycles, k_first_cycles, 0.2);
    EXPECT_NEAR(fits[0].knee_nodes, 16.5, 0.1);
    EXPECT_EQ(fits[0].knee_stride_bytes, 64 * k_mib);
  }
}

// Where each node has a span of its own, a walk round and round takes lru and fifo the same way, and pages 2 MiB apart
// do not say whether an entry maps less.
TEST(TlbFit, LeavesStandingWhatFarPagesCannotTellApart) {
  Curves curves(4);
  const auto penalty = penalty_of({k_first}, [](std::size_t, std::uint64_t) { return k_first_cycles; });
  for (std::uint64_t stride = 2 * k_mib; stride <= 64 * k_mib; stride *= 2)
    curves.add(stride, nodes_with(512, {14, 15, 17, 18, 20}), penalty);
  const auto fits = fit_tlb(curves.points());
  ASSERT_EQ(fits.size(), 1U);
  for (const auto policy : {TlbPolicy::lru, TlbPolicy::fifo})
    for (const auto span : {k_mib, 2 * k_mib})
      EXPECT_TRUE(stands(fits[0], {16, 0, span, policy, false})) << to_string(policy) << " " << span;
  // Two sets of sixteen that map 1 MiB an entry look the same too: such pages meet in one of them.
  for (const auto& candidate : fits[0].candidates)
    EXPECT_EQ(candidate.shape.ways == 0 ? candidate.shape.entries : candidate.shape.ways, 16U);
}

TEST(TlbFit, FindsAFoldedTableBehindIt) {
  const auto curves = two_level_curves(5, flat_cost);
  const auto fits = fit_tlb(curves.points());
  ASSERT_EQ(fits.size(), 2U);
  expect_first_level(fits[0]);
  expect_second_size(fits[1]);
  ASSERT_EQ(fits[1].candidates.size(), 1U);
  EXPECT_EQ(fits[1].candidates.front().shape, k_second);
  EXPECT_NEAR(fits[1].candidates.front().penalty_cycles, k_second_cycles, 0.01 * k_second_cycles);
  EXPECT_LE(fits[1].penalty_cycles.low, k_second_cycles);
  EXPECT_GE(fits[1].penalty_cycles.high, k_second_cycles);
}

TEST(TlbFit, FindsItWhereTheWalkVariesToo) {
  const auto curves = two_level_curves(6, rising_cost);
  const auto fits = fit_tlb(curves.points());
  ASSERT_EQ(fits.size(), 2U);
  expect_first_level(fits[0]);
  expect_second_size(fits[1]);
  // The strides that overflow it, 32 MiB to 1 GiB, cost 110 to 185 cycles.
  EXPECT_LE(fits[1].penalty_cycles.low, 110);
  EXPECT_GE(fits[1].penalty_cycles.high, 185);
}

TEST(TlbPlateaus, AreTheCostsOfTheLevels) {
  const auto one = penalty_plateaus(one_level_curves(1).points());
  ASSERT_EQ(one.size(), 1U);
  EXPECT_NEAR(one[0].cycles, k_first_cycles, 0.2);
  EXPECT_TRUE(one[0].by_stride.empty());
  const auto two = penalty_plateaus(two_level_curves(5, flat_cost).points());
  ASSERT_EQ(two.size(), 2U);
  EXPECT_NEAR(two[0].cycles, k_first_cycles, 0.2);
  EXPECT_NEAR(two[1].cycles, k_second_cycles, 0.5);
  EXPECT_TRUE(two[1].by_stride.empty());
}

TEST(TlbPlateaus, AreByStrideForAWalkThatVaries) {
  const auto plateaus = penalty_plateaus(two_level_curves(6, rising_cost).points());
  ASSERT_EQ(plateaus.size(), 2U);
  EXPECT_NEAR(plateaus[0].cycles, k_first_cycles, 0.2);
  EXPECT_TRUE(plateaus[0].by_stride.empty());
  for (std::uint64_t stride = 32 * k_mib; stride <= k_gib; stride *= 2) {
    ASSERT_TRUE(plateaus[1].by_stride.contains(stride)) << stride;
    EXPECT_NEAR(plateaus[1].at(stride), rising_cost(1, stride), 5 * k_sigma_cycles) << stride;
  }
  // 8192 nodes a mebibyte apart lie on 256 spans, far below what the table holds.
  for (std::uint64_t stride = k_mib; stride <= 4 * k_mib; stride *= 2)
    EXPECT_FALSE(plateaus[1].by_stride.contains(stride)) << stride;
}

TEST(TlbPlateaus, NoneComesOfNoise) {
  for (std::uint64_t seed = 0; seed < 50; ++seed) {
    Curves curves(seed);
    for (std::uint64_t stride = 2 * k_mib; stride <= 256 * k_mib; stride *= 2)
      curves.add(stride, coarse_nodes(2048), [](std::uint64_t, std::uint64_t) { return 0.0; });
    EXPECT_TRUE(penalty_plateaus(curves.points()).empty()) << "seed " << seed;
    EXPECT_TRUE(fit_tlb(curves.points()).empty()) << "seed " << seed;
  }
}

TEST(TlbPlateaus, OneStrideAloneHasNone) {
  Curves curves(1);
  const auto step = [](std::uint64_t, std::uint64_t nodes) { return nodes <= 16 ? 0.0 : 20.0; };
  curves.add(2 * k_mib, coarse_nodes(512), step);
  EXPECT_TRUE(penalty_plateaus(curves.points()).empty());
  curves.add(4 * k_mib, coarse_nodes(512), step);
  const auto plateaus = penalty_plateaus(curves.points());
  ASSERT_EQ(plateaus.size(), 1U);
  EXPECT_NEAR(plateaus[0].cycles, 20, 0.2);
}

TEST(TlbSteps, SayWhereEachCurveSteps) {
  const auto curves = one_level_curves(2);
  const auto steps = tlb_steps(curves.points(), 0, TlbPlateau{k_first_cycles, {}});
  for (std::uint64_t stride = 2 * k_mib; stride <= 64 * k_mib; stride *= 2) {
    ASSERT_TRUE(steps.contains(stride)) << stride;
    const auto& step = steps.at(stride);
    EXPECT_EQ(step.clean_nodes, 16U) << stride;
    EXPECT_EQ(step.first_nodes, 17U) << stride;
    EXPECT_EQ(step.full_nodes, 17U) << stride;
    EXPECT_NEAR(step.half_nodes, 16.5, 0.1) << stride;
    EXPECT_TRUE(step.sharp()) << stride;
  }
  // Two nodes a span: 16 spans hold 32 nodes, and it takes far more until hardly two in a row share one.
  ASSERT_TRUE(steps.contains(k_mib));
  EXPECT_EQ(steps.at(k_mib).clean_nodes, 32U);
  EXPECT_EQ(steps.at(k_mib).first_nodes, 33U);
  EXPECT_GT(steps.at(k_mib).full_nodes, 64U);
}

TEST(TlbSteps, AreThoseOfTheDeeperPlateau) {
  const auto curves = two_level_curves(5, flat_cost);
  const auto steps = tlb_steps(curves.points(), k_first_cycles, TlbPlateau{k_second_cycles, {}});
  for (std::uint64_t stride = 32 * k_mib; stride <= k_gib; stride *= 2) {
    ASSERT_TRUE(steps.contains(stride)) << stride;
    // Eight nodes too many add 72 / 2056 of the 83.5 cycles, less than a twentieth; 32 add four times as much.
    EXPECT_EQ(steps.at(stride).clean_nodes, 2056U) << stride;
    EXPECT_EQ(steps.at(stride).first_nodes, 2080U) << stride;
    EXPECT_TRUE(steps.at(stride).sharp()) << stride;
  }
  EXPECT_FALSE(steps.contains(2 * k_mib));
}

// A table of 4500 entries, of which coarse points say only that it is full somewhere between 4096 and 4871 nodes.
TEST(TlbFit, LeavesSeveralSizesStandingWhereNoPointTellsThemApart) {
  Curves curves(8);
  const auto cost = [](std::size_t, std::uint64_t) { return 40.0; };
  const TlbShape table{4500, 0, 2 * k_mib, TlbPolicy::lru, false};
  const auto simulated = penalty_of({table}, cost);
  const auto two_a_span = [&](std::uint64_t stride, std::uint64_t nodes) {
    return nodes <= 2 * 4500 ? 0.0 : simulated(stride, nodes);
  };
  // Farther apart than the span the walk goes through as many entries as it has nodes, all or none of which miss.
  const auto by_count = [](std::uint64_t, std::uint64_t nodes) { return nodes > 4500 ? 40.0 : 0.0; };
  curves.add(k_mib, coarse_nodes(11585), two_a_span);
  for (std::uint64_t stride = 2 * k_mib; stride <= 16 * k_mib; stride *= 2)
    curves.add(stride, coarse_nodes(11585), by_count);
  const auto fits = fit_tlb(curves.points());
  ASSERT_EQ(fits.size(), 1U);
  ASSERT_FALSE(fits[0].candidates.empty()) << fits[0].trouble;
  std::set<std::uint32_t> entries;
  for (const auto& candidate : fits[0].candidates) entries.insert(candidate.shape.entries);
  EXPECT_GT(*entries.rbegin() - *entries.begin(), 0.02 * 4500) << "all agree on " << *entries.begin();
  for (const auto count : entries) {
    EXPECT_GE(count, 4096U * 0.95);
    EXPECT_LT(count, 4871U);
  }
}

// Up, down and up again: no table forgets fewer pages the more there are.
TEST(TlbFit, SaysSoWhenNoTableFits) {
  Curves curves(9);
  const auto staircase = [](std::uint64_t, std::uint64_t nodes) {
    if (nodes <= 16) return 0.0;
    if (nodes <= 19) return 90.0;
    if (nodes <= 24) return 20.0;
    if (nodes <= 27) return 70.0;
    return 100.0;
  };
  for (std::uint64_t stride = 2 * k_mib; stride <= 64 * k_mib; stride *= 2)
    curves.add(stride, nodes_with(1024, {17, 18, 20, 21, 22, 25, 26, 30}), staircase);
  const auto fits = fit_tlb(curves.points());
  ASSERT_EQ(fits.size(), 1U);
  EXPECT_TRUE(fits[0].candidates.empty());
  EXPECT_NE(fits[0].trouble.find("no table of one replacement policy fits the curves"), std::string::npos)
      << fits[0].trouble;
  EXPECT_NEAR(fits[0].plateau_cycles, 100, 0.5);
  EXPECT_EQ(fits[0].knee_stride_bytes, 64 * k_mib);
}

TEST(TlbFit, GivesUpBehindALevelThatCouldNotBeTold) {
  Curves curves(10);
  const auto two_steps = [](std::uint64_t, std::uint64_t nodes) {
    if (nodes > 300) return 200.0;
    if (nodes <= 16 || (nodes > 19 && nodes <= 24)) return 0.0;
    return 50.0;
  };
  for (std::uint64_t stride = 2 * k_mib; stride <= 64 * k_mib; stride *= 2)
    curves.add(stride, nodes_with(2048, {17, 18, 20, 21, 22, 25, 26, 30}), two_steps);
  const auto fits = fit_tlb(curves.points());
  ASSERT_EQ(fits.size(), 2U);
  EXPECT_FALSE(fits[0].trouble.empty());
  EXPECT_TRUE(fits[1].candidates.empty());
  EXPECT_NEAR(fits[1].plateau_cycles, 200, 0.5);
  EXPECT_EQ(fits[1].trouble, "the level before it could not be told, and every load passes that one first");
}

TEST(TlbFit, PredictsWhatALevelAdds) {
  TlbPoint point;
  point.stride_bytes = 2 * k_mib;
  const std::vector<TlbShape> levels{k_first, {32, 4, 2 * k_mib, TlbPolicy::lru, false}};
  const std::vector<double> penalties{10, 100};
  const auto with = [&](std::uint64_t nodes) {
    point.nodes = nodes;
    point.trace = std::make_shared<TlbTrace>(walk_of(nodes, point.stride_bytes), 2 * nodes, nodes);
    return predicted_penalty(point, levels, penalties);
  };
  EXPECT_DOUBLE_EQ(with(16), 0);
  EXPECT_DOUBLE_EQ(with(17), 10);
  EXPECT_DOUBLE_EQ(with(32), 10);
  EXPECT_DOUBLE_EQ(with(35), (15 * 100.0 + 20 * 10.0) / 35);  // three of eight sets overflow
  // What the control translates is not in the penalty.
  point.control = std::make_shared<TlbTrace>(walk_of(17, point.stride_bytes), 34, 17);
  EXPECT_DOUBLE_EQ(with(35), (15 * 100.0 + 20 * 10.0) / 35 - 10);
}

}  // namespace
}  // namespace gpusonde
