#include "probe/size_presets.hpp"

#include <gtest/gtest.h>

#include "core/units.hpp"

namespace gpusonde {
namespace {

TEST(SizePresets, dense_has_the_206_sizes_of_the_document) {
  const auto sizes = dense_sizes();
  EXPECT_EQ(sizes.size(), 206U);
  EXPECT_EQ(sizes.front(), 4 * k_kib);
  EXPECT_EQ(sizes[63], 256 * k_kib);
  EXPECT_EQ(sizes[64], 320 * k_kib);
  EXPECT_EQ(sizes[123], 4 * k_mib);
  EXPECT_EQ(sizes[124], 5 * k_mib);
  EXPECT_EQ(sizes[151], 32 * k_mib);
  EXPECT_EQ(sizes[152], 36 * k_mib);
  EXPECT_EQ(sizes[175], 128 * k_mib);
  EXPECT_EQ(sizes[176], 160 * k_mib);
  EXPECT_EQ(sizes.back(), 2016 * k_mib);
}

TEST(SizePresets, log_sizes_are_whole_lines_an_octave_apart) {
  EXPECT_EQ(log_sizes(4096, 16384, 1), (std::vector<std::uint64_t>{4096, 8192, 16384}));
  const auto sizes = log_sizes(4 * k_kib, k_mib, 16);
  EXPECT_EQ(sizes.size(), 8 * 16 + 1U);
  for (const auto bytes : sizes) EXPECT_EQ(bytes % 128, 0U);
}

std::string refusal(std::uint64_t min_bytes, std::uint64_t max_bytes, std::uint32_t points_per_octave = 16) {
  LatencyOptions options;
  options.min_bytes = min_bytes;
  options.max_bytes = max_bytes;
  options.points_per_octave = points_per_octave;
  const auto sizes = sweep_sizes(options, k_gib, 64 * k_mib);
  return sizes ? "" : sizes.error().message;
}

TEST(SizePresets, impossible_sizes_are_refused_with_the_remedy) {
  EXPECT_EQ(refusal(4100, 0), "--min 4100 is not a multiple of 8; a node is a 64-bit pointer");
  EXPECT_EQ(refusal(64, 0), "--min 64 is under one line; give at least 128");
  EXPECT_EQ(refusal(0, 2 * k_gib), "--max 2 GiB is beyond the 1 GiB this device can give; choose a smaller one");
  EXPECT_EQ(refusal(8192, 4096), "--min 8 KiB is above --max 4 KiB; swap them");
  EXPECT_EQ(refusal(0, 0, 0), "--points-per-octave 0: give 1 to 4096");
}

TEST(SizePresets, the_default_goes_well_beyond_the_l2_within_the_device) {
  const auto sizes = sweep_sizes({}, 24 * k_gib, 72 * k_mib);
  ASSERT_TRUE(sizes);
  EXPECT_EQ(sizes->front(), 4 * k_kib);
  EXPECT_EQ(sizes->back(), 2 * k_gib);
  const auto small = sweep_sizes({}, 512 * k_mib, 72 * k_mib);
  ASSERT_TRUE(small);
  EXPECT_EQ(small->back(), 512 * k_mib);
}

}  // namespace
}  // namespace gpusonde
