// Lists of places: each node has memory of its own, its page of addresses is the one asked for, and the control differs
// in nothing else.
#include "probe/alias_places.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <ostream>
#include <set>

#include "core/units.hpp"
#include "target/target.hpp"

namespace gpusonde {
namespace {

using Places = std::vector<std::uint64_t>;

constexpr std::uint64_t k_page = 2 * k_mib;

Places slots_of(const Places& places, std::uint64_t page_bytes) {
  Places slots;
  for (const auto place : places) slots.push_back(place % page_bytes);
  std::sort(slots.begin(), slots.end());
  return slots;
}

bool all_differ(Places values) {
  std::sort(values.begin(), values.end());
  return std::adjacent_find(values.begin(), values.end()) == values.end();
}

/// Parts of a page that the stride reaches, the whole page if it is as long.
std::uint64_t cell_of(std::uint64_t stride, std::uint64_t page_bytes) { return std::min(stride, page_bytes); }

struct Case {
  std::uint64_t page_bytes, stride_bytes, nodes;
};

std::ostream& operator<<(std::ostream& out, const Case& a_case) {
  return out << a_case.nodes << " nodes " << a_case.stride_bytes << " apart, pages of " << a_case.page_bytes;
}

class AliasLists : public testing::TestWithParam<Case> {
 protected:
  [[nodiscard]] gpusonde::AliasLists lists(std::uint64_t seed = 1) const {
    return alias_lists(GetParam().stride_bytes, GetParam().nodes, GetParam().page_bytes, seed);
  }
};

TEST_P(AliasLists, NoTwoPlacesShareEightBytesOfThePage) {
  const auto [page, stride, nodes] = GetParam();
  const auto aliased = lists().aliased;
  ASSERT_EQ(aliased.size(), nodes);
  EXPECT_TRUE(all_differ(slots_of(aliased, page)));
  for (const auto place : aliased) EXPECT_EQ(place % 8, 0U);
}

TEST_P(AliasLists, EachNodeLiesInASpanOfItsOwn) {
  const auto [page, stride, nodes] = GetParam();
  std::set<std::uint64_t> numbers;
  for (const auto place : lists().aliased) {
    numbers.insert(place / stride);
    EXPECT_LT(place % stride, cell_of(stride, page));
  }
  EXPECT_EQ(numbers.size(), nodes);
  EXPECT_EQ(*numbers.begin(), 0U);
  EXPECT_EQ(*numbers.rbegin(), nodes - 1);
}

TEST_P(AliasLists, TheControlHasTheSameSlotsOnOnePage) {
  const auto [page, stride, nodes] = GetParam();
  const auto both = lists();
  for (const auto place : both.control) EXPECT_LT(place, page);
  auto control = both.control;
  std::sort(control.begin(), control.end());
  EXPECT_EQ(control, slots_of(both.aliased, page));
}

TEST_P(AliasLists, TheControlKeepsTheOrderOfEachPart) {
  const auto [page, stride, nodes] = GetParam();
  const auto both = lists();
  const auto cell = cell_of(stride, page);
  Places by_part;
  for (std::uint64_t part = 0; part < page / cell; ++part)
    for (const auto place : both.aliased)
      if (place % page / cell == part) by_part.push_back(place % page);
  EXPECT_EQ(both.control, by_part);
}

TEST_P(AliasLists, TheOrderIsRandomAndTheSeedsOwn) {
  const auto places = lists(1).aliased;
  EXPECT_EQ(places, lists(1).aliased);
  if (GetParam().nodes < 16) return;
  EXPECT_NE(places, lists(2).aliased);
  std::uint64_t rising = 0;
  for (std::size_t i = 1; i < places.size(); ++i) rising += places[i] > places[i - 1] ? 1 : 0;
  const double share = static_cast<double>(rising) / static_cast<double>(places.size() - 1);
  EXPECT_GT(share, 0.2);
  EXPECT_LT(share, 0.8);
}

INSTANTIATE_TEST_SUITE_P(Shapes, AliasLists,
                         testing::Values(Case{k_page, k_page, 2}, Case{k_page, k_page, 17}, Case{k_page, k_page, 8192},
                                         Case{k_page, k_gib, 4096}, Case{k_page, 32 * k_mib, 2049},
                                         Case{k_page, k_mib, 33}, Case{k_page, 64 * k_kib, 5000},
                                         Case{k_page, 16 * k_kib, 8192}, Case{64 * k_kib, 64 * k_kib, 8192},
                                         Case{64 * k_kib, 16 * k_kib, 1000}, Case{64 * k_kib, 512 * k_mib, 4871}));

struct LimitCase {
  std::uint64_t page_bytes, stride_bytes, limit;
};

// By hand: 16 words of each line that is used, at most 2048 lines of a page, so many of each of its parts.
TEST(AliasPlaces, MostNodesIsTheLimit) {
  for (const auto& [page, stride, limit] :
       {LimitCase{k_page, k_page, 2048 * 16}, LimitCase{k_page, k_gib, 2048 * 16},
        LimitCase{k_page, k_mib, 2 * 1024 * 16}, LimitCase{k_page, 16 * k_kib, 128 * 16 * 16},
        LimitCase{64 * k_kib, 64 * k_kib, 512 * 16}, LimitCase{64 * k_kib, 2 * k_mib, 512 * 16},
        LimitCase{4 * k_kib, 128, 32 * 16}}) {
    SCOPED_TRACE(testing::Message() << stride << " of " << page);
    EXPECT_EQ(most_alias_nodes(stride, page), limit);
    EXPECT_TRUE(all_differ(slots_of(alias_lists(stride, limit, page, 1).aliased, page)));
    EXPECT_FALSE(all_differ(slots_of(alias_lists(stride, limit + 1, page, 1).aliased, page)));
  }
}

TEST(AliasPlaces, AnAllocatorSaysWhenItIsOverfull) {
  SlotAllocator slots(4 * k_kib, 4 * k_kib);  // 32 lines of 16 words
  EXPECT_EQ(slots.capacity(), 512U);
  std::set<std::uint64_t> seen;
  for (std::uint64_t i = 0; i < 512; ++i) {
    const auto place = slots.place(i * 4 * k_kib);  // one place of the page, whatever its address
    EXPECT_EQ(place / (4 * k_kib), i);
    seen.insert(place % (4 * k_kib));
    EXPECT_EQ(seen.size(), i + 1);
    EXPECT_EQ(place % 128, i / 32 * 8);  // all lines before the next word
    EXPECT_FALSE(slots.overfull());
  }
  (void)slots.place(0);
  EXPECT_TRUE(slots.overfull());
}

TEST(AliasPlaces, HotPagesComeAgainAfterEachColdOne) {
  const auto lists = hot_and_cold_lists(4, k_page, k_page);
  Places pages;
  for (const auto place : lists.aliased) pages.push_back(place / k_page);
  EXPECT_EQ(pages, (Places{0, 2, 1, 3, 0, 4, 1, 5, 0, 6, 1, 7, 0, 8, 1, 9}));
  EXPECT_TRUE(all_differ(slots_of(lists.aliased, k_page)));
  Places control;
  for (const auto place : lists.aliased) control.push_back(place % k_page);
  EXPECT_EQ(lists.control, control);
}

TEST(AliasPlaces, ColdPagesAreFourTimesTheHotOnes) {
  for (const std::uint32_t entries : {1U, 2U, 3U, 16U, 255U, 2048U}) {
    for (const std::uint64_t span : {64 * k_kib, 2 * k_mib, 32 * k_mib}) {
      SCOPED_TRACE(testing::Message() << entries << " entries of " << span);
      const std::uint64_t hot = std::max(1U, entries / 2);
      const auto lists = hot_and_cold_lists(entries, span, k_page);
      ASSERT_EQ(lists.aliased.size(), 8 * hot);
      std::map<std::uint64_t, std::uint64_t> visits;
      for (const auto place : lists.aliased) ++visits[place / span];
      EXPECT_EQ(visits.size(), 5 * hot);
      for (const auto& [page, count] : visits) EXPECT_EQ(count, page < hot ? 4U : 1U);
      EXPECT_TRUE(all_differ(slots_of(lists.aliased, k_page)));
      auto control = lists.control;
      std::sort(control.begin(), control.end());
      EXPECT_EQ(control, slots_of(lists.aliased, k_page));
    }
  }
}

TEST(AliasPlaces, HotAndColdNeedsRoomOnThePage) {
  // A page of 4 KiB takes 512 visits, and half of the entries is visited 8 times.
  EXPECT_EQ(hot_and_cold_lists(128, k_page, 4 * k_kib).aliased.size(), 512U);
  const auto more = hot_and_cold_lists(130, k_page, 4 * k_kib);
  EXPECT_TRUE(more.aliased.empty());
  EXPECT_TRUE(more.control.empty());
}

TEST(AliasPlaces, TimingIsInEights) {
  for (const std::uint64_t nodes : {2ULL, 3ULL, 17ULL, 1023ULL, 4871ULL, 8192ULL}) {
    for (const std::uint32_t repetitions : {1U, 3U, 32U, 256U}) {
      SCOPED_TRACE(testing::Message() << nodes << " nodes, " << repetitions << " repetitions");
      const auto timing = alias_timing(nodes, repetitions);
      EXPECT_EQ(timing.repetitions, repetitions);
      EXPECT_EQ(timing.warmup_hops % 8, 0U);
      EXPECT_EQ(timing.hops % 8, 0U);
      EXPECT_GE(timing.warmup_hops, 2 * nodes);
      EXPECT_LT(timing.warmup_hops, 2 * nodes + 8);
      EXPECT_GE(timing.hops, 16U);
      EXPECT_GE(timing.hops * repetitions, nodes < 2048 ? std::max<std::uint64_t>(2 * nodes, 2048) : nodes);
    }
  }
  // By hand: 4871 loads in 32 parts of 152.2; 2 * 1500 in parts of 93.75.
  EXPECT_EQ(alias_timing(4871, 32).hops, 160U);
  EXPECT_EQ(alias_timing(1500, 32).hops, 96U);
  EXPECT_EQ(alias_timing(2, 256).hops, 16U);
}

TEST(AliasPlaces, ATargetTakesTheChaseUpToTheLimit) {
  Capabilities capabilities;
  capabilities.paths = {LoadPath::global_cg};
  const AliasSpace space{64 * k_kib, 1ULL << 44, 1ULL << 20, {}, false};
  const auto chase = [&](std::uint64_t nodes) {
    return alias_chase(alias_lists(2 * k_mib, nodes, space.page_bytes, 3).aliased, alias_timing(nodes, 32));
  };
  const auto most = most_alias_nodes(2 * k_mib, space.page_bytes);
  EXPECT_EQ(chase(most).region, Region::aliases);
  EXPECT_EQ(chase(most).path, LoadPath::global_cg);
  const auto fits = check(chase(most), capabilities, space);
  EXPECT_TRUE(fits) << fits.error().message;
  const auto over = check(chase(most + 1), capabilities, space);
  ASSERT_FALSE(over);
  EXPECT_EQ(over.error().kind, ErrorKind::usage);
}

}  // namespace
}  // namespace gpusonde
