// What must hold in a model made in code.
#include <gtest/gtest.h>

#include <functional>

#include "model/device_model.hpp"
#include "model/random_model.hpp"

namespace gpusonde {
namespace {

/// The message for a valid model with two cache levels and a TLB after a change.
std::string error_after(const std::function<void(DeviceModel&)>& change) {
  auto model = random_model(3, {2, 2, 0, false});
  model.tlbs.resize(1);
  EXPECT_TRUE(validate(model));
  change(model);
  const auto valid = validate(model);
  if (valid) return "no error";
  EXPECT_EQ(valid.error().kind, ErrorKind::bad_input);
  return valid.error().message;
}

TEST(Validation, NamesTheFieldAndTheRemedy) {
  EXPECT_EQ(error_after([](auto& m) { m.caches.clear(); }),
            "random-3: cache is missing; describe at least one cache level as [[cache]]");
  EXPECT_EQ(error_after([](auto& m) { m.sm_count = 0; }), "random-3: sm_count is 0; give at least 1");
  EXPECT_EQ(error_after([](auto& m) { m.caches[1].tag = AddressSpace::virtual_address; }),
            "random-3: l2.tag is virtual where the index is physical; make the index virtual too");
  EXPECT_EQ(error_after([](auto& m) {
              m.caches[0].replacement = Replacement::tree_plru;
              m.caches[0].ways = 6;
            }),
            "random-3: l1.ways is 6; tree-plru needs a power of two");
  EXPECT_EQ(error_after([](auto& m) { m.caches[0].sector_bytes = 256; }),
            "random-3: l1.sector_bytes is 256; a line of 128 holds 1 to 32 sectors");
  EXPECT_EQ(error_after([](auto& m) { m.tlbs[0].ways = 3; }),
            "random-3: tlb 1.ways is 3; give a divisor of the 16 entries, or 0 for fully associative");
  EXPECT_EQ(error_after([](auto& m) { m.tlbs[0].entries = 0; }), "random-3: tlb 1.entries is 0; give at least 1");
  EXPECT_EQ(error_after([](auto& m) { m.tlbs[0].span_bytes = 3000; }),
            "random-3: tlb 1.span_bytes is 2.93 KiB; give a power of two from 4 KiB to 64 GiB");
  EXPECT_EQ(error_after([](auto& m) { m.paging.frame_bytes = 0; }),
            "random-3: paging.frame_bytes is 0 B; give a power of two from 4 KiB to 1 GiB");
  EXPECT_EQ(error_after([](auto& m) { m.dram.refresh_fraction = 0.7; }),
            "random-3: dram.refresh_fraction is 0.7; give 0 to 0.5");
  EXPECT_EQ(error_after([](auto& m) { m.noise.run_fraction = -1; }),
            "random-3: noise.run_fraction is -1; give 0 to 0.5");
  EXPECT_EQ(error_after([](auto& m) { m.dram.banks = 0; }), "random-3: dram.banks is 0; give at least 1");
}

TEST(Validation, ChecksOperationsConstantsAndClusters) {
  const auto with = [](const std::string& operation, double latency, double interval) {
    return error_after([&](auto& m) { m.instructions = {{"lop3", 4, 2}, {operation, latency, interval}}; });
  };
  EXPECT_EQ(with("ffma", 4, 4), "no error");
  EXPECT_EQ(
      with("fma", 4, 1),
      "random-3: instruction 2.operation is 'fma'; give ffma, imad, imad_wide, iadd3, lop3, mufu_ex2, dadd, dfma, "
      "hfma2");
  EXPECT_EQ(with("lop3", 4, 1), "random-3: instruction 2.operation is lop3 again; give each one once");
  EXPECT_EQ(with("ffma", 1, 2), "random-3: instruction 2.latency_cycles is 1; give 2 to 1000");
  EXPECT_EQ(with("ffma", 1, 0), "random-3: instruction 2.interval_cycles is 0; give more than 0, at most 1000");
  const auto levels = [](std::uint64_t bytes, std::uint32_t line, double cycles) {
    return error_after([&](auto& m) { m.constants = {{2048, 64, 27}, {bytes, line, cycles}}; });
  };
  EXPECT_EQ(levels(32768, 256, 90), "no error");
  EXPECT_EQ(levels(2048, 64, 90), "random-3: constant 2.bytes is 2048; give more than the 2048 of the level before");
  EXPECT_EQ(levels(32768, 64, 27), "random-3: constant 2.hit_cycles is 27; give more than the 27 of the level before");
  EXPECT_EQ(levels(32768, 16, 90), "random-3: constant 2.line_bytes is 16 B; give a power of two from 32 B to 512 B");
  EXPECT_EQ(levels(32800, 64, 90), "random-3: constant 2.bytes is 32800; give whole lines of 64 bytes");
  EXPECT_EQ(error_after([](auto& m) { m.cluster.max_blocks = 17; }),
            "random-3: cluster.max_blocks is 17; give 2 to 16, or 0 for none");
  EXPECT_EQ(error_after([](auto& m) {
              m.cluster = {8, 0, 195, 20};
            }),
            "random-3: cluster.self_cycles is 0; give more than 0, at most 10000");
  EXPECT_EQ(error_after([](auto& m) {
              m.cluster = {8, 33, 195, 200};
            }),
            "random-3: cluster.remote_spread_cycles is 200; give 0 to 195");
}

TEST(Validation, ChecksUnifiedStorage) {
  const auto with = [](std::vector<std::uint64_t> choices) {
    return error_after([&](auto& m) { m.unified = UnifiedStorageModel{65536, choices, 1024, 32, 2048}; });
  };
  EXPECT_EQ(with({}), "random-3: unified.shared_choices_bytes is empty; give the sizes the shared part can take");
  EXPECT_EQ(with({8192, 8192}),
            "random-3: unified.shared_choices_bytes does not rise; give the sizes in ascending order");
  EXPECT_EQ(with({0, 65536}), "random-3: unified.shared_choices_bytes goes to 64 KiB; leave some of the 64 KiB to L1");
  EXPECT_EQ(with({0, 8192}), "no error");
}

}  // namespace
}  // namespace gpusonde
