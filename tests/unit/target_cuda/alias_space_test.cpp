// One page under many addresses on a fake driver: what is reserved and mapped, and that all of it goes back.
#include "target/cuda/alias_space.hpp"

#include <gtest/gtest.h>

#include "core/units.hpp"
#include "fake_driver.hpp"

namespace gpusonde::cuda {
namespace {

using test::FakeDriver;

constexpr std::uint64_t k_tib = 1024 * k_gib;

void expect_nothing_is_left(const FakeDriver& fake) {
  EXPECT_TRUE(fake.virtual_memory.mappings.empty());
  EXPECT_TRUE(fake.virtual_memory.reservations.empty());
  EXPECT_TRUE(fake.virtual_memory.handles.empty());
  EXPECT_EQ(fake.virtual_memory.misuses, 0);
}

// The reason why there is no space; that must leave nothing behind even while its owner lives.
std::string reason(FakeDriver& fake) {
  AliasMemory aliases(fake.table, 0);
  const auto space = aliases.space();
  EXPECT_EQ(space.page_bytes, 0U);
  EXPECT_EQ(space.span_bytes, 0U);
  EXPECT_EQ(space.max_pages, 0U);
  expect_nothing_is_left(fake);
  return space.why_not;
}

std::uint64_t* word_at(FakeDriver& fake, DevicePointer address) {
  return static_cast<std::uint64_t*>(fake.virtual_memory.host(address));
}

TEST(AliasMemory, NothingIsReservedUnasked) {
  FakeDriver fake;
  const AliasMemory aliases(fake.table, 0);
  expect_nothing_is_left(fake);
}

TEST(AliasMemory, ReservesSixteenTebibytesOnAGibibyteBoundary) {
  FakeDriver fake;
  {
    AliasMemory aliases(fake.table, 0);
    EXPECT_EQ(aliases.space().page_bytes, 2 * k_mib);
    EXPECT_EQ(aliases.space().span_bytes, 16 * k_tib);
    EXPECT_EQ(aliases.space().max_pages, 131072U);
    EXPECT_EQ(aliases.space().why_not, "");
    EXPECT_EQ(aliases.base() % k_gib, 0U);
    EXPECT_EQ(fake.virtual_memory.handles.size(), 1U);
    EXPECT_EQ(fake.virtual_memory.reservations.size(), 2U);  // the page's home and the space
    EXPECT_EQ(fake.virtual_memory.mappings.size(), 1U);
  }
  expect_nothing_is_left(fake);
}

TEST(AliasMemory, HalvesWhatIsRefused) {
  FakeDriver fake;
  fake.virtual_memory.largest_reservation = 3 * k_tib;
  AliasMemory aliases(fake.table, 0);
  EXPECT_EQ(aliases.space().span_bytes, 2 * k_tib);
}

TEST(AliasMemory, AlignsItselfWhereTheDriverDoesNot) {
  FakeDriver fake;
  fake.virtual_memory.largest_alignment = 2 * k_mib;
  {
    AliasMemory aliases(fake.table, 0);
    const auto span = aliases.space().span_bytes;
    EXPECT_EQ(span, 16 * k_tib);
    EXPECT_EQ(aliases.base() % k_gib, 0U);
    EXPECT_FALSE(fake.virtual_memory.reservations.contains(aliases.base()));  // it had to be moved
    ASSERT_TRUE(aliases.map({0, span - 8}).has_value());                      // and ends inside all the same
    EXPECT_EQ(fake.virtual_memory.misuses, 0);
  }
  expect_nothing_is_left(fake);
}

TEST(AliasMemory, SaysThatTheAddressesAreRefused) {
  FakeDriver fake;
  fake.virtual_memory.largest_reservation = 8 * k_gib;
  EXPECT_EQ(reason(fake),
            "cannot reserve 16 GiB of virtual addresses: CUDA_ERROR_FAKE (2): a fake failure; raise the limit on "
            "virtual memory (ulimit -v)");
}

TEST(AliasMemory, SaysThatTheDriverHasNone) {
  FakeDriver fake;
  fake.table.mem_map = nullptr;
  EXPECT_EQ(reason(fake),
            "the NVIDIA driver has no virtual memory management; install one of CUDA 10.2 or later (driver 440 or "
            "later)");
}

TEST(AliasMemory, SaysThatTheGpuOrItsModeHasNone) {
  FakeDriver fake;
  fake.virtual_memory.supported = false;
  EXPECT_EQ(reason(fake), "this GPU or driver mode has no virtual memory management");
}

TEST(AliasMemory, SaysThatThePageIsRefused) {
  FakeDriver fake;
  fake.virtual_memory.create_result = k_out_of_memory;
  EXPECT_EQ(reason(fake), "cannot allocate a page of 2 MiB: CUDA_ERROR_FAKE (2): a fake failure");
}

TEST(AliasMemory, SaysThatTheHomeIsRefused) {
  FakeDriver fake;
  fake.virtual_memory.refused_mapping = 1;
  EXPECT_EQ(reason(fake), "cannot map a page of 2 MiB: CUDA_ERROR_FAKE (2): a fake failure");
}

TEST(AliasMemory, EveryPageIsTheSameMemory) {
  for (const auto page_bytes : {2 * k_mib, 64 * k_kib}) {
    FakeDriver fake;
    fake.virtual_memory.granularity = page_bytes;
    AliasMemory aliases(fake.table, 0);
    ASSERT_EQ(aliases.space().page_bytes, page_bytes);
    ASSERT_TRUE(aliases.map({0, 7 * page_bytes, k_tib}).has_value());
    *word_at(fake, aliases.home() + 64) = 0x1234;
    for (const auto page : {std::uint64_t{0}, 7 * page_bytes, k_tib})
      EXPECT_EQ(*word_at(fake, aliases.base() + page + 64), 0x1234U);
    EXPECT_EQ(word_at(fake, aliases.base() + page_bytes), nullptr);
  }
}

TEST(AliasMemory, MapsWhatIsNotMappedYet) {
  FakeDriver fake;
  AliasMemory aliases(fake.table, 0);
  ASSERT_EQ(aliases.space().why_not, "");
  ASSERT_TRUE(aliases.map({10 * k_mib, 8, 10 * k_mib + 8, 16}).has_value());
  EXPECT_EQ(fake.virtual_memory.mapped_ever, 1 + 2U);
  ASSERT_TRUE(aliases.map({6 * k_mib, 0, 10 * k_mib, 100 * k_mib}).has_value());
  EXPECT_EQ(fake.virtual_memory.mapped_ever, 1 + 4U);
  ASSERT_TRUE(aliases.map({6 * k_mib, 100 * k_mib}).has_value());
  EXPECT_EQ(fake.virtual_memory.mapped_ever, 1 + 4U);
  aliases.unmap_all();
  EXPECT_EQ(fake.virtual_memory.mappings.size(), 1U);  // the home
  ASSERT_TRUE(aliases.map({0}).has_value());
  EXPECT_EQ(fake.virtual_memory.mappings.size(), 2U);
}

TEST(AliasMemory, ARefusalHalfWayUndoesEverything) {
  for (const bool refuse_access : {false, true}) {
    FakeDriver fake;
    {
      AliasMemory aliases(fake.table, 0);
      ASSERT_EQ(aliases.space().why_not, "");
      ASSERT_TRUE(aliases.map({0, 2 * k_mib}).has_value());
      fake.virtual_memory.refuse_access = refuse_access;
      fake.virtual_memory.refused_mapping = 4;
      std::vector<std::uint64_t> places(8);
      for (std::size_t i = 0; i < places.size(); ++i) places[i] = i * 64 * k_mib;
      const auto mapped = aliases.map(places);
      ASSERT_FALSE(mapped.has_value());
      EXPECT_EQ(mapped.error().kind, ErrorKind::measurement);
      EXPECT_EQ(mapped.error().message,
                "cannot map a page after 5 were mapped: CUDA_ERROR_FAKE (2): a fake failure; free memory that other "
                "programs hold, or ask for fewer pages or a smaller stride");
      EXPECT_EQ(fake.virtual_memory.mappings.size(), 1U);
      fake.virtual_memory.refused_mapping = 0;
      ASSERT_TRUE(aliases.map(places).has_value());
      EXPECT_EQ(fake.virtual_memory.mappings.size(), 1 + 8U);
    }
    expect_nothing_is_left(fake);
  }
}

TEST(AliasMemory, MapsOnlyWhatIsNeededWhereTheOldWouldBeTooMany) {
  FakeDriver fake;
  AliasMemory aliases(fake.table, 0);
  const auto most = aliases.space().max_pages;
  std::vector<std::uint64_t> places(most);
  for (std::uint64_t i = 0; i < most; ++i) places[i] = i * aliases.space().page_bytes;
  ASSERT_TRUE(aliases.map(places).has_value());
  EXPECT_EQ(fake.virtual_memory.mappings.size(), 1 + most);
  ASSERT_TRUE(aliases.map({0, places.back()}).has_value());
  EXPECT_EQ(fake.virtual_memory.mappings.size(), 1 + most);
  ASSERT_TRUE(aliases.map({0, places.back() + aliases.space().page_bytes}).has_value());
  EXPECT_EQ(fake.virtual_memory.mappings.size(), 1 + 2U);
}

}  // namespace
}  // namespace gpusonde::cuda
