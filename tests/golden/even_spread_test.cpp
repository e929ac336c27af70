// Stretches of memory as large as a cache fill it exactly: every set of every slice gets as many lines as it
// has ways. The published RTX 4090 functions have this property; the assumed ones were chosen for it.
#include <gtest/gtest.h>

#include <algorithm>

#include "core/units.hpp"
#include "model/device_model.hpp"

namespace gpusonde {
namespace {

/// Lines in every set of every slice for the cache's capacity of memory from `first` on.
std::vector<std::uint32_t> lines_by_set(const CacheModel& cache, std::uint64_t first) {
  std::vector<std::uint32_t> lines(std::size_t{cache.slices} * cache.sets, 0);
  for (std::uint64_t at = first; at < first + cache.capacity_bytes(); at += cache.line_bytes)
    ++lines[std::size_t{cache.slice_function(at)} * cache.sets + cache.set_function(at)];
  return lines;
}

void expect_even(const std::string& name, std::size_t level, std::uint64_t first) {
  const auto model = find_model(name);
  ASSERT_TRUE(model) << model.error().message;
  const auto& cache = model->caches[level];
  const auto lines = lines_by_set(cache, first);
  const auto [least, most] = std::minmax_element(lines.begin(), lines.end());
  EXPECT_EQ(*least, cache.ways) << name << " " << cache.name << " from " << first;
  EXPECT_EQ(*most, cache.ways) << name << " " << cache.name << " from " << first;
}

TEST(EvenSpread, Of72MibOverTheL2OfTheRtx4090) {
  const auto model = find_model("rtx4090");
  ASSERT_TRUE(model) << model.error().message;
  const auto& l2 = model->caches[1];
  std::vector<std::uint32_t> by_slice(l2.slices, 0);
  for (std::uint64_t at = 0; at < 72 * k_mib; at += 128) ++by_slice[l2.slice_function(at)];
  EXPECT_EQ(by_slice, std::vector<std::uint32_t>(36, 16384));
  expect_even("rtx4090", 1, 0);
}

TEST(EvenSpread, OfOtherCapacities) {
  expect_even("rtx4090", 1, 72 * k_mib);
  expect_even("rtx4090", 1, 200 * 72 * k_mib);
  expect_even("l40s", 1, 0);
  expect_even("l40s", 1, 400 * 96 * k_mib);
  expect_even("rtx5080", 1, 0);
  expect_even("rtx5080", 1, 200 * 64 * k_mib);
  for (const auto* name : {"rtx4090", "l40s", "rtx5080"}) {
    expect_even(name, 0, 0);
    expect_even(name, 0, 12345 * 128 * k_kib);
  }
}

TEST(EvenSpread, OfDramRows) {
  for (const auto* name : {"rtx4090", "l40s", "rtx5080"}) {
    const auto model = find_model(name);
    ASSERT_TRUE(model) << model.error().message;
    const auto& dram = model->dram;
    const std::uint32_t channels = dram.controllers * dram.channels_per_controller;
    const std::uint64_t stretch_bytes = std::uint64_t{channels} * dram.banks * dram.row_bytes;
    for (const std::uint64_t stretch : {0, 1, 77, 30001}) {
      std::vector<std::uint32_t> lines(std::size_t{channels} * dram.banks, 0);
      for (std::uint64_t at = stretch * stretch_bytes; at < (stretch + 1) * stretch_bytes; at += 128) {
        ASSERT_EQ(dram.row_function(at), stretch);
        ++lines[std::size_t{dram.channel_function(at)} * dram.banks + dram.bank_function(at)];
      }
      EXPECT_EQ(lines, std::vector<std::uint32_t>(lines.size(), dram.row_bytes / 128)) << name << " row " << stretch;
    }
  }
}

}  // namespace
}  // namespace gpusonde
