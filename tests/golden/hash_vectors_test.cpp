// The models' hash functions against 2,000 addresses whose slices and sets were worked out from the published
// functions by another program.
#include <gtest/gtest.h>

#include <fstream>
#include <string>

#include "model/device_model.hpp"

namespace gpusonde {
namespace {

struct HashVector {
  std::uint64_t address;
  std::uint32_t l2_slice_36;
  std::uint32_t l2_slice_48;
  std::uint32_t l2_set;
  std::uint32_t l1_set;
};

std::vector<HashVector> hash_vectors() {
  std::ifstream file(GPUSONDE_SOURCE_DIR "/tests/golden/hash-vectors.csv");
  std::string line;
  std::getline(file, line);
  EXPECT_EQ(line, "address_hex,l2_slice_36,l2_slice_48,l2_set,l1_set");
  std::vector<HashVector> vectors;
  while (std::getline(file, line)) {
    HashVector each{};
    std::size_t at = 0;
    const auto field = [&](int base) {
      std::size_t size = 0;
      const auto value = std::stoull(line.substr(at), &size, base);
      at += size + 1;
      return value;
    };
    each.address = field(16);
    each.l2_slice_36 = static_cast<std::uint32_t>(field(10));
    each.l2_slice_48 = static_cast<std::uint32_t>(field(10));
    each.l2_set = static_cast<std::uint32_t>(field(10));
    each.l1_set = static_cast<std::uint32_t>(std::stoul(line.substr(at)));
    vectors.push_back(each);
  }
  return vectors;
}

TEST(HashVectors, HoldOnTheRtx4090) {
  const auto model = find_model("rtx4090");
  ASSERT_TRUE(model) << model.error().message;
  const auto vectors = hash_vectors();
  ASSERT_EQ(vectors.size(), 2000U);
  for (const auto& each : vectors) {
    EXPECT_EQ(model->caches[0].set_function(each.address), each.l1_set) << std::hex << each.address;
    EXPECT_EQ(model->caches[1].set_function(each.address), each.l2_set) << std::hex << each.address;
    EXPECT_EQ(model->caches[1].slice_function(each.address), each.l2_slice_36) << std::hex << each.address;
    // Three slices to a controller, two channels to a controller.
    EXPECT_EQ(model->dram.channel_function(each.address) / 2, each.l2_slice_36 / 3) << std::hex << each.address;
  }
}

TEST(HashVectors, HoldOnTheL40s) {
  const auto model = find_model("l40s");
  ASSERT_TRUE(model) << model.error().message;
  for (const auto& each : hash_vectors()) {
    EXPECT_EQ(model->caches[1].slice_function(each.address), each.l2_slice_48) << std::hex << each.address;
    EXPECT_EQ(model->dram.channel_function(each.address) / 2, each.l2_slice_48 / 4) << std::hex << each.address;
  }
}

}  // namespace
}  // namespace gpusonde
